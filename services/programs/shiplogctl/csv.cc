#include "services/programs/shiplogctl/csv.h"

#include <algorithm>

namespace shiplog::ctl {
namespace {

CompleteRecords complete(std::istream& file, bool quotes) {
  CompleteRecords found;
  std::string record;
  uint64_t bytes = 0;
  bool inside = false;
  for (int next = file.get(); next != std::istream::traits_type::eof(); next = file.get()) {
    const char c = static_cast<char>(next);
    ++bytes;
    if (quotes && c == '"') inside = !inside;
    if (c != '\n' || inside) {
      record += c;
      continue;
    }
    if (record.ends_with('\r')) record.pop_back();
    found.bytes = bytes;
    ++found.records;
    found.last = std::move(record);
    record.clear();
  }
  found.rest = std::move(record);
  return found;
}

}  // namespace

std::string csv_text(std::string_view text) {
  std::string field;
  if (!text.empty() && std::string_view{"=+-@\t\r"}.find(text.front()) != std::string_view::npos) field += '\'';
  field += text;
  if (field.find_first_of("\",\r\n") == std::string::npos) return field;
  std::string quoted{"\""};
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_record(const std::vector<std::string>& fields) {
  std::string record;
  for (size_t index = 0; index < fields.size(); ++index) record += (index == 0 ? "" : ",") + fields[index];
  return record + "\r\n";
}

CompleteRecords complete_csv(std::istream& file) { return complete(file, true); }
CompleteRecords complete_lines(std::istream& file) { return complete(file, false); }

}  // namespace shiplog::ctl
