#include "services/programs/parquet/writer.h"

#include <algorithm>
#include <cstring>

#include "services/http/gzip.h"
#include "services/programs/parquet/compact.h"

namespace shiplog::parquet {
namespace {

// Numbers of parquet.thrift.
constexpr int32_t kTypeInt64 = 2, kTypeDouble = 5, kTypeByteArray = 6;
constexpr int32_t kOptional = 1;
constexpr int32_t kUtf8 = 0, kTimestampMillis = 9;
constexpr int kLogicalString = 1, kLogicalTimestamp = 8;
constexpr int32_t kEncodingPlain = 0, kEncodingRle = 3;
constexpr int32_t kCodecGzip = 2;
constexpr int32_t kDataPage = 0;
constexpr std::string_view kMagic = "PAR1";
constexpr size_t kMostCellBytes = size_t{1} << 30U;

int32_t physical(Type type) {
  switch (type) {
    case Type::kInt64:
    case Type::kTime:
      return kTypeInt64;
    case Type::kDouble:
      return kTypeDouble;
    case Type::kText:
      break;
  }
  return kTypeByteArray;
}

/// Little-endian, as all numbers of the format.
template <class T>
void append(T number, std::string& out) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}
std::string bytes_of(int64_t number) {
  std::string out;
  append(number, out);
  return out;
}

void append_varint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

/// Which values there are, as runs of the same definition level, behind their length.
std::string definition_levels(const std::vector<bool>& present) {
  std::string runs;
  for (size_t begin = 0; begin < present.size();) {
    size_t end = begin;
    while (end < present.size() && present[end] == present[begin]) ++end;
    append_varint((end - begin) << 1U, runs);
    runs += present[begin] ? '\1' : '\0';
    begin = end;
  }
  std::string out;
  append(static_cast<uint32_t>(runs.size()), out);
  return out + runs;
}

std::string page_header(size_t uncompressed, size_t compressed, size_t values) {
  CompactWriter out;
  out.i32(1, kDataPage);
  out.i32(2, static_cast<int32_t>(uncompressed));
  out.i32(3, static_cast<int32_t>(compressed));
  out.begin_struct(5);
  out.i32(1, static_cast<int32_t>(values));
  out.i32(2, kEncodingPlain);
  out.i32(3, kEncodingRle);
  out.i32(4, kEncodingRle);
  out.end_struct();
  return out.finish();
}

void write_schema(const ParquetColumn& column, CompactWriter& out) {
  out.begin_item();
  out.i32(1, physical(column.type));
  out.i32(3, kOptional);
  out.binary(4, column.name);
  if (column.type == Type::kText) {
    out.i32(6, kUtf8);
    out.begin_struct(10);
    out.begin_struct(kLogicalString);
    out.end_struct();
    out.end_struct();
  } else if (column.type == Type::kTime) {
    out.i32(6, kTimestampMillis);
    out.begin_struct(10);
    out.begin_struct(kLogicalTimestamp);
    out.boolean(1, true);  // UTC
    out.begin_struct(2);
    out.begin_struct(1);  // milliseconds
    out.end_struct();
    out.end_struct();
    out.end_struct();
    out.end_struct();
  }
  out.end_item();
}

bool has_order(Type type) { return type == Type::kInt64 || type == Type::kTime; }

}  // namespace

ParquetWriter::ParquetWriter(std::vector<ParquetColumn> columns, Sink sink, Limits limits)
    : columns_{std::move(columns)}, sink_{std::move(sink)}, limits_{limits}, chunks_(columns_.size()) {}

Result<void> ParquetWriter::put(std::string_view bytes) {
  SHIPLOG_TRY(sink_(bytes));
  offset_ += static_cast<int64_t>(bytes.size());
  return ok();
}

Result<void> ParquetWriter::add(const std::vector<Cell>& row) {
  for (size_t index = 0; index < columns_.size(); ++index) {
    const Type type = columns_[index].type;
    Chunk& chunk = chunks_[index];
    const Cell null;
    const Cell& cell = index < row.size() ? row[index] : null;
    const size_t before = chunk.values.size();
    const bool present = !std::holds_alternative<std::monostate>(cell);
    if (const auto* number = std::get_if<int64_t>(&cell); number != nullptr && has_order(type)) {
      append(*number, chunk.values);
      chunk.least = std::min(chunk.least, *number);
      chunk.most = std::max(chunk.most, *number);
    } else if (const auto* real = std::get_if<double>(&cell); real != nullptr && type == Type::kDouble) {
      append(*real, chunk.values);
    } else if (const auto* text = std::get_if<std::string>(&cell);
               text != nullptr && type == Type::kText && text->size() <= kMostCellBytes) {
      append(static_cast<uint32_t>(text->size()), chunk.values);
      chunk.values += *text;
    } else if (present) {
      return Error{ErrorCode::kBadRequest,
                   "column " + columns_[index].name + ": a value is of another type, or larger than 1 GiB"};
    }
    chunk.present.push_back(present);
    if (!present) ++chunk.nulls;
    bytes_ += chunk.values.size() - before + 1;
  }
  ++rows_;
  if (rows_ >= limits_.rows || bytes_ >= limits_.bytes) return flush();
  return ok();
}

Result<ParquetWriter::WrittenChunk> ParquetWriter::write(const Chunk& chunk) {
  const std::string page = definition_levels(chunk.present) + chunk.values;
  const std::string compressed = gzip(page);
  const std::string header = page_header(page.size(), compressed.size(), chunk.present.size());
  WrittenChunk written;
  written.offset = offset_;
  written.uncompressed = static_cast<int64_t>(header.size() + page.size());
  written.compressed = static_cast<int64_t>(header.size() + compressed.size());
  written.values = static_cast<int64_t>(chunk.present.size());
  written.nulls = chunk.nulls;
  written.least = chunk.least;
  written.most = chunk.most;
  SHIPLOG_TRY(put(header));
  SHIPLOG_TRY(put(compressed));
  return written;
}

Result<void> ParquetWriter::flush() {
  if (offset_ == 0) {
    SHIPLOG_TRY(put(kMagic));
  }
  if (rows_ == 0) return ok();
  RowGroup group;
  group.rows = static_cast<int64_t>(rows_);
  for (const Chunk& chunk : chunks_) {
    SHIPLOG_TRY(auto written, write(chunk));
    group.chunks.push_back(written);
  }
  groups_.push_back(std::move(group));
  chunks_.assign(columns_.size(), Chunk{});
  rows_ = bytes_ = 0;
  return ok();
}

std::string ParquetWriter::footer() const {
  CompactWriter out;
  int64_t rows = 0;
  for (const RowGroup& group : groups_) rows += group.rows;
  out.i32(1, 2);
  out.begin_list(2, CompactWriter::Items::kStruct, columns_.size() + 1);
  out.begin_item();
  out.binary(4, "schema");
  out.i32(5, static_cast<int32_t>(columns_.size()));
  out.end_item();
  for (const ParquetColumn& column : columns_) write_schema(column, out);
  out.i64(3, rows);
  out.begin_list(4, CompactWriter::Items::kStruct, groups_.size());
  for (const RowGroup& group : groups_) {
    int64_t bytes = 0;
    for (const WrittenChunk& chunk : group.chunks) bytes += chunk.uncompressed;
    out.begin_item();
    out.begin_list(1, CompactWriter::Items::kStruct, group.chunks.size());
    for (size_t index = 0; index < group.chunks.size(); ++index) {
      const WrittenChunk& chunk = group.chunks[index];
      out.begin_item();
      out.i64(2, chunk.offset);
      out.begin_struct(3);
      out.i32(1, physical(columns_[index].type));
      out.begin_list(2, CompactWriter::Items::kI32, 2);
      out.item(kEncodingPlain);
      out.item(kEncodingRle);
      out.begin_list(3, CompactWriter::Items::kBinary, 1);
      out.item(std::string_view{columns_[index].name});
      out.i32(4, kCodecGzip);
      out.i64(5, chunk.values);
      out.i64(6, chunk.uncompressed);
      out.i64(7, chunk.compressed);
      out.i64(9, chunk.offset);
      out.begin_struct(12);
      out.i64(3, chunk.nulls);
      if (has_order(columns_[index].type) && chunk.nulls < chunk.values) {
        out.binary(5, bytes_of(chunk.most));
        out.binary(6, bytes_of(chunk.least));
      }
      out.end_struct();
      out.end_struct();
      out.end_item();
    }
    out.i64(2, bytes);
    out.i64(3, group.rows);
    out.end_item();
  }
  out.binary(6, "shiplog version 0.1.0 (build 1)");
  return out.finish();
}

Result<void> ParquetWriter::finish() {
  SHIPLOG_TRY(flush());
  std::string end = footer();
  const auto size = static_cast<uint32_t>(end.size());
  append(size, end);
  end += kMagic;
  return put(end);
}

}  // namespace shiplog::parquet
