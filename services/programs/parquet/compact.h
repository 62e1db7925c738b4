#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shiplog::parquet {

/// Writes structs in Thrift's compact protocol, in which Parquet has its headers and its footer. Fields are written in
/// the order of their numbers.
class CompactWriter {
 public:
  void boolean(int field, bool value);
  void i32(int field, int32_t value);
  void i64(int field, int64_t value);
  void binary(int field, std::string_view bytes);
  void begin_struct(int field);
  void end_struct();

  enum class Items : uint8_t { kI32 = 5, kBinary = 8, kStruct = 12 };
  void begin_list(int field, Items items, size_t count);
  // The items of a list, which have no numbers.
  void item(int32_t value);
  void item(std::string_view bytes);
  void begin_item();
  void end_item() { end_struct(); }

  /// The outermost struct, ended.
  std::string finish();

 private:
  void header(int field, uint8_t type);
  void varint(uint64_t value);
  void zigzag(int64_t value);

  std::string out_;
  std::vector<int> last_{0};  // field number, of each struct that is open
};

}  // namespace shiplog::parquet
