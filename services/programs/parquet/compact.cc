#include "services/programs/parquet/compact.h"

namespace shiplog::parquet {
namespace {

constexpr uint8_t kTrue = 1, kFalse = 2, kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12;

}  // namespace

void CompactWriter::header(int field, uint8_t type) {
  const int delta = field - last_.back();
  if (delta > 0 && delta <= 15) {
    out_ += static_cast<char>(static_cast<unsigned>(delta) << 4U | type);
  } else {
    out_ += static_cast<char>(type);
    zigzag(field);
  }
  last_.back() = field;
}

void CompactWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out_ += static_cast<char>((value & 0x7FU) | 0x80U);
  out_ += static_cast<char>(value);
}

void CompactWriter::zigzag(int64_t value) {
  varint((static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63));
}

void CompactWriter::boolean(int field, bool value) { header(field, value ? kTrue : kFalse); }
void CompactWriter::i32(int field, int32_t value) {
  header(field, kI32);
  zigzag(value);
}
void CompactWriter::i64(int field, int64_t value) {
  header(field, kI64);
  zigzag(value);
}
void CompactWriter::binary(int field, std::string_view bytes) {
  header(field, kBinary);
  item(bytes);
}
void CompactWriter::begin_struct(int field) {
  header(field, kStruct);
  last_.push_back(0);
}
void CompactWriter::end_struct() {
  out_ += '\0';
  last_.pop_back();
}
void CompactWriter::begin_list(int field, Items items, size_t count) {
  header(field, kList);
  const auto type = static_cast<unsigned>(items);
  if (count < 15) {
    out_ += static_cast<char>(count << 4U | type);
  } else {
    out_ += static_cast<char>(0xF0U | type);
    varint(count);
  }
}
void CompactWriter::item(int32_t value) { zigzag(value); }
void CompactWriter::item(std::string_view bytes) {
  varint(bytes.size());
  out_ += bytes;
}
void CompactWriter::begin_item() { last_.push_back(0); }

std::string CompactWriter::finish() {
  out_ += '\0';
  return std::move(out_);
}

}  // namespace shiplog::parquet
