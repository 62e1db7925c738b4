#include "services/programs/shiplogctl/sql_output.h"

#include <ostream>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "services/programs/parquet/writer.h"
#include "services/programs/shiplogctl/csv.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

std::string text_of(const Value& cell) {
  if (cell.is_null()) return "";
  return cell.is_string() ? cell.str() : to_json(cell);
}

void print_table(const Value& answer, const Terminal& terminal, std::ostream& out) {
  std::vector<std::string> header;
  for (const Value& column : answer["columns"].items()) {
    std::string name = column.str();
    for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    header.push_back(std::move(name));
  }
  Table table{header};
  for (const Value& row : answer["rows"].items()) {
    std::vector<std::string> cells;
    for (const Value& cell : row.items()) cells.push_back(text_of(cell));
    table.add(std::move(cells));
  }
  out << table.text(true, terminal);
}

void print_csv(const Value& answer, std::ostream& out) {
  std::vector<std::string> fields;
  for (const Value& column : answer["columns"].items()) fields.push_back(csv_text(column.as_string()));
  out << csv_record(fields);
  for (const Value& row : answer["rows"].items()) {
    fields.clear();
    for (const Value& cell : row.items())
      fields.push_back(cell.is_string() ? csv_text(cell.as_string()) : text_of(cell));
    out << csv_record(fields);
  }
}

void print_lines(const Value& answer, std::ostream& out) {
  for (const Value& row : answer["rows"].items()) {
    std::string line{"{"};
    for (size_t index = 0; index < row.size(); ++index) {
      if (index > 0) line += ',';
      append_json_string(answer["columns"][index].as_string(), line);
      line += ':';
      append_json(row[index], line);
    }
    out << line << "}\n";
  }
}

/// A column of SQL has no type of its own: whole numbers, numbers, or else texts.
parquet::Type type_of(const Value& rows, size_t column) {
  bool whole = true;
  bool numbers = true;
  bool any = false;
  for (const Value& row : rows.items()) {
    const Value& cell = row[column];
    if (cell.is_null()) continue;
    any = true;
    whole &= cell.is_int();
    numbers &= cell.is_number();
  }
  if (!any || !numbers) return parquet::Type::kText;
  return whole ? parquet::Type::kInt64 : parquet::Type::kDouble;
}

parquet::Cell cell_of(const Value& cell, parquet::Type type) {
  if (cell.is_null()) return {};
  if (type == parquet::Type::kInt64) return cell.as_int();
  if (type == parquet::Type::kDouble) return cell.is_int() ? static_cast<double>(cell.as_int()) : cell.as_double();
  return text_of(cell);
}

Result<void> print_parquet(const Value& answer, std::ostream& out) {
  std::vector<parquet::ParquetColumn> columns;
  for (size_t index = 0; index < answer["columns"].size(); ++index) {
    columns.push_back({answer["columns"][index].str(), type_of(answer["rows"], index)});
  }
  parquet::ParquetWriter writer{columns, [&out](std::string_view bytes) -> Result<void> {
                                  out << bytes;
                                  if (!out) return Error{ErrorCode::kIo, "the output cannot be written"};
                                  return ok();
                                }};
  for (const Value& row : answer["rows"].items()) {
    std::vector<parquet::Cell> cells;
    for (size_t index = 0; index < columns.size(); ++index) cells.push_back(cell_of(row[index], columns[index].type));
    SHIPLOG_TRY(writer.add(cells));
  }
  return writer.finish();
}

}  // namespace

Result<void> print_sql(const Value& answer, const std::string& output, const Terminal& terminal, std::ostream& out) {
  if (output == "parquet") {
    SHIPLOG_TRY(print_parquet(answer, out));
  } else if (output == "csv") {
    print_csv(answer, out);
  } else if (output == "jsonl") {
    print_lines(answer, out);
  } else if (!print_document(answer, output, out)) {
    print_table(answer, terminal, out);
  }
  out << std::flush;
  if (!out) return Error{ErrorCode::kIo, "the output cannot be written"};
  return ok();
}

}  // namespace shiplog::ctl
