#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"

struct sqlite3;

namespace shiplog {
class Compressor;
}

namespace shiplog::sqlite {

/// A text as a column contains it: TEXT, as it is; or BLOB, compressed.
struct PackedText {
  std::string_view bytes;  ///< valid until the next call
  bool compressed = false;
};

/// Compressed with the newest dictionary, whose number is the first byte; or as it is, if that is shorter.
class TextPacker {
 public:
  TextPacker();
  TextPacker(TextPacker&&) noexcept;
  TextPacker& operator=(TextPacker&&) noexcept;
  ~TextPacker();

  PackedText pack(std::string_view text);
  /// As the difference to `base`; empty: it is the same.
  PackedText pack_against(std::string_view text, std::string_view base);

 private:
  std::unique_ptr<Compressor> compressor_;
  std::string buffer_;
};

/// Reads what TextPacker has made, outside of SQL: on a thread that does not have the connection.
class TextUnpacker {
 public:
  TextUnpacker();
  TextUnpacker(TextUnpacker&&) noexcept;
  TextUnpacker& operator=(TextUnpacker&&) noexcept;
  ~TextUnpacker();

  /// What pack_against() was given, or, without a base, pack(). The result is valid until the next call, and as long as
  /// the bytes are. Error: kCorrupt, the bytes, or those of the base, are not what was made.
  Result<std::string_view> unpack(const PackedText& text, const std::optional<PackedText>& base);

 private:
  std::unique_ptr<Compressor> compressor_, of_base_;
};

/// Adds a function to a connection that reads such columns:
///
///   unpacked(TEXT)         -- what pack() was given
///   unpacked(TEXT, BASE)   -- what pack_against() was given; BASE: the column with the base, as pack() has made it
///
/// Where the bytes, or those of the base, are not what was made, the statement fails with SQLITE_CORRUPT.
void add_unpacked(sqlite3* database);

}  // namespace shiplog::sqlite
