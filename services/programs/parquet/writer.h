#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "events/base/result.h"

namespace shiplog::parquet {

/// kTime: milliseconds since 1970, UTC. kText: UTF-8.
enum class Type { kInt64, kDouble, kTime, kText };
struct ParquetColumn {
  std::string name;
  Type type = Type::kText;
};
/// NULL, or a value of the column's type: int64_t of kInt64 and kTime.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

/// Writes an Apache Parquet file (format version 2.6) as its rows arrive: optional columns, pages of the first version
/// with plain values, gzip. Holds the rows of one row group in memory. Threads: one.
class ParquetWriter {
 public:
  struct Limits {
    size_t rows = 100'000;             ///< of a row group
    size_t bytes = size_t{32} << 20U;  ///< of its values
  };
  using Sink = std::function<Result<void>(std::string_view bytes)>;

  ParquetWriter(std::vector<ParquetColumn> columns, Sink sink, Limits limits);
  ParquetWriter(std::vector<ParquetColumn> columns, Sink sink)
      : ParquetWriter{std::move(columns), std::move(sink), Limits{}} {}

  /// One cell for each column. Errors: kBadRequest, a cell of another type, or more than 1 GiB; the sink's.
  Result<void> add(const std::vector<Cell>& row);
  /// The rest, and the footer, without which there is no file.
  Result<void> finish();

 private:
  struct Chunk {
    std::vector<bool> present;
    std::string values;
    int64_t nulls = 0, least = INT64_MAX, most = INT64_MIN;
  };
  struct WrittenChunk {
    int64_t offset = 0, uncompressed = 0, compressed = 0, values = 0;
    int64_t nulls = 0, least = 0, most = 0;
  };
  struct RowGroup {
    int64_t rows = 0;
    std::vector<WrittenChunk> chunks;
  };
  Result<void> put(std::string_view bytes);
  Result<void> flush();
  Result<WrittenChunk> write(const Chunk& chunk);
  std::string footer() const;

  std::vector<ParquetColumn> columns_;
  Sink sink_;
  Limits limits_;
  std::vector<Chunk> chunks_;
  size_t rows_ = 0, bytes_ = 0;
  int64_t offset_ = 0;
  std::vector<RowGroup> groups_;
};

}  // namespace shiplog::parquet
