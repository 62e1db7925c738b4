// What is written is read by pyarrow, Apache's own reader, which tests/parquet/install.sh installs: value by value.
#include "services/programs/parquet/writer.h"

#include <cmath>
#include <cstdio>
#include <sstream>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "tests/support/must.h"
#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::parquet {
namespace {

const std::string kTools = SHIPLOG_SOURCE_DIR "/tests/parquet";

std::string python() {
  static const std::string path = [] {
    const e2e::Ran ran = e2e::run({kTools + "/install.sh"}, {}, "", std::chrono::minutes{4});
    EXPECT_TRUE(ran.ok()) << "pyarrow cannot be installed, and nothing else reads the files: " << ran;
    return std::string{SHIPLOG_SOURCE_DIR "/.cache/pyarrow/bin/python3"};
  }();
  return path;
}

using Rows = std::vector<std::vector<Cell>>;

std::string written(const std::vector<ParquetColumn>& columns, const Rows& rows, ParquetWriter::Limits limits = {}) {
  std::string file;
  ParquetWriter writer{columns,
                       [&file](std::string_view bytes) -> Result<void> {
                         file += bytes;
                         return ok();
                       },
                       limits};
  for (const auto& row : rows) must(writer.add(row));
  must(writer.finish());
  return file;
}

/// The form in which tests/parquet/read.py prints a cell.
Value expected(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return Value{*number};
  if (const auto* text = std::get_if<std::string>(&cell)) return Value{*text};
  return Value{};
}

/// Reads the file with pyarrow and compares all of it. Returns what it prints of the schema.
Value read_back(const std::vector<ParquetColumn>& columns, const Rows& rows, ParquetWriter::Limits limits = {}) {
  const TestDirectory folder{"parquet"};
  const std::string path = folder.file("file.parquet");
  e2e::write_file(path, written(columns, rows, limits));
  const e2e::Ran ran = e2e::run({python(), kTools + "/read.py", path}, {}, "", e2e::kPatience);
  EXPECT_TRUE(ran.ok()) << ran.err;
  std::istringstream lines{ran.out};
  std::string line;
  std::getline(lines, line);
  const Value head = must(parse_json(line));
  EXPECT_EQ(head["rows"].as_int(), static_cast<int64_t>(rows.size()));
  for (size_t row = 0; row < rows.size() && std::getline(lines, line); ++row) {
    const Value got = must(parse_json(line));
    for (size_t column = 0; column < columns.size(); ++column) {
      const Cell& cell = rows[row][column];
      if (const auto* real = std::get_if<double>(&cell)) {
        const double read = got[column].as_string() == "nan"   ? NAN
                            : got[column].as_string() == "inf" ? INFINITY
                                                               : std::strtod(got[column].str().c_str(), nullptr);
        EXPECT_TRUE(read == *real || (std::isnan(read) && std::isnan(*real))) << row << "," << column;
      } else {
        EXPECT_EQ(got[column], expected(cell)) << row << "," << columns[column].name;
      }
    }
  }
  return head;
}

const std::vector<ParquetColumn> kColumns = {
    {"number", Type::kInt64}, {"time", Type::kTime}, {"real", Type::kDouble}, {"text", Type::kText}};

TEST(ParquetWriter, EveryTypeIsReadByApacheArrow) {
  const Rows rows = {{int64_t{1}, int64_t{1'763'608'320'123}, 1.5, std::string{"plain"}},
                     {int64_t{INT64_MAX}, int64_t{0}, -0.0, std::string{""}},
                     {int64_t{INT64_MIN}, int64_t{-1}, 1e308, std::string{"a\0b \xC3\xBC \xF0\x9F\x98\x80 \"'\n", 16}},
                     {{}, {}, {}, {}}};
  const Value head = read_back(kColumns, rows);
  EXPECT_EQ(to_json(head["columns"]),
            R"([["number","int64"],["time","timestamp[ms, tz=UTC]"],["real","double"],["text","string"]])");
}

TEST(ParquetWriter, AFileWithoutRowsAndOneOfNulls) {
  EXPECT_EQ(read_back(kColumns, {})["groups"].as_int(), 0);
  Rows nulls(1000, std::vector<Cell>(4));
  EXPECT_EQ(read_back(kColumns, nulls)["groups"].as_int(), 1);
}

TEST(ParquetWriter, HugeTextsAndManyRowGroups) {
  Rows rows;
  for (int index = 0; index < 20; ++index) {
    rows.push_back(
        {int64_t{index}, {}, {}, std::string(static_cast<size_t>(index) * 200'000, static_cast<char>('a' + index))});
  }
  EXPECT_GT(read_back(kColumns, rows, {.rows = 7, .bytes = size_t{8} << 20U})["groups"].as_int(), 3);
}

TEST(ParquetWriter, ManyColumnsHaveTheirNames) {
  std::vector<ParquetColumn> columns;
  std::vector<Cell> row;
  for (int index = 0; index < 40; ++index) {
    columns.push_back({"column " + std::to_string(index) + " \xC3\xBC", Type::kInt64});
    row.emplace_back(int64_t{index});
  }
  read_back(columns, {row, row});
}

TEST(ParquetWriter, AnyRowsAreReadAsTheyWereWritten) {
  SeededRandom random{2026};
  for (int round = 0; round < 12; ++round) {
    const auto below = [&](uint64_t most) { return random.next() % most; };
    std::vector<ParquetColumn> columns;
    for (uint64_t count = 1 + below(5); count > 0; --count) {
      columns.push_back({"c" + std::to_string(count), static_cast<Type>(below(4))});
    }
    Rows rows;
    const uint64_t nulls = below(4);  // never, or in up to three of four cells
    for (uint64_t count = below(300); count > 0; --count) {
      auto& row = rows.emplace_back();
      for (const ParquetColumn& column : columns) {
        if (below(4) < nulls) {
          row.emplace_back();
        } else if (column.type == Type::kInt64) {
          row.emplace_back(static_cast<int64_t>(random.next()));
        } else if (column.type == Type::kTime) {
          row.emplace_back(static_cast<int64_t>(below(4'000'000'000'000)));
        } else if (column.type == Type::kDouble) {
          row.emplace_back(static_cast<double>(static_cast<int64_t>(random.next())) / 7);
        } else {
          std::string text;
          for (uint64_t length = below(8) == 0 ? below(5000) : below(12); length > 0; --length) {
            text += below(5) == 0 ? "\xC3\xBC" : std::string(1, static_cast<char>(below(127)));
          }
          row.emplace_back(std::move(text));
        }
      }
    }
    SCOPED_TRACE(round);
    read_back(columns, rows, {.rows = 1 + below(100), .bytes = 100'000});
  }
}

TEST(ParquetWriter, ACellOfAnotherTypeIsAnError) {
  ParquetWriter writer{kColumns, [](std::string_view) -> Result<void> { return ok(); }};
  const auto added = writer.add({std::string{"text"}, {}, {}, {}});
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("column number"), std::string::npos) << added.error().message;
}

TEST(ParquetWriter, AnErrorOfTheFileIsPassedOn) {
  ParquetWriter writer{kColumns, [](std::string_view) -> Result<void> {
                         return Error{ErrorCode::kIo, "the disk is full"};
                       }};
  must(writer.add(std::vector<Cell>(4)));
  EXPECT_FALSE(writer.finish());
}

}  // namespace
}  // namespace shiplog::parquet
