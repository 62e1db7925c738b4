#include "projections/sql/run_sql.h"

#include <cmath>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/sqlite/untrusted_reader.h"
#include "projections/sql/expansion.h"
#include "projections/sql/views.h"
#include "projections/store/schemas.h"

namespace shiplog {
namespace {

using sqlite::Bytes;
using sqlite::Cell;
using sqlite::OwnedCell;
using sqlite::UntrustedReader;

std::string_view text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string_view>(&cell);
  return text == nullptr ? std::string_view{} : *text;
}

Result<OwnedCell> utc(std::span<const Cell> arguments) {
  const auto* at = std::get_if<int64_t>(&arguments[0]);
  return at == nullptr ? OwnedCell{} : OwnedCell{rfc3339_millis(UtcMillis{*at})};
}

Result<OwnedCell> moment(std::span<const Cell> arguments, UtcMillis now) {
  const std::string_view text = text_of(arguments[0]);
  if (const auto ago = parse_duration(text)) return OwnedCell{now.value - ago.value().value};
  // Days are what people say of the past; Go's durations have none.
  if (text.ends_with('d')) {
    const auto hours = parse_duration(std::string{text.substr(0, text.size() - 1)} + "h");
    if (hours) return OwnedCell{now.value - 24 * hours.value().value};
  }
  if (const auto time = parse_rfc3339(text)) return OwnedCell{time.value().value};
  return Error{ErrorCode::kBadRequest, "moment: " + quoted(text) +
                                           " is neither a time like 2026-11-20T03:12:00Z nor how long ago it was, "
                                           "like 90m or 7d"};
}

/// Texts are UTF-8, unless a statement cuts them into bytes: what is not becomes U+FFFD.
void append_text(std::string_view text, std::string& out) {
  if (is_utf8(text)) return append_json_string(text, out);
  std::string valid;
  while (!text.empty()) {
    const size_t length = utf8_sequence_length(text);
    valid += length == 0 ? std::string_view{"\xEF\xBF\xBD"} : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(1, length));
  }
  append_json_string(valid, out);
}

void append_hex(std::string_view bytes, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char byte : bytes) {
    out += kDigits[static_cast<unsigned char>(byte) >> 4U];
    out += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  out += '"';
}

void append_cell(const Cell& cell, std::string& out) {
  if (const auto* number = std::get_if<int64_t>(&cell)) {
    out += std::to_string(*number);
  } else if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) {
    append_json(Value{*real}, out);
  } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
    append_text(*text, out);
  } else if (const auto* bytes = std::get_if<Bytes>(&cell)) {
    append_hex(bytes->data, out);
  } else {
    out += "null";  // JSON has no infinity
  }
}

class CollectedRows : public UntrustedReader::Rows {
 public:
  CollectedRows(const SqlRequest& request, SqlAnswer& answer) : request_{request}, answer_{answer} {}
  void columns(std::vector<std::string> names) override { answer_.columns = std::move(names); }
  bool row(std::span<const Cell> cells) override {
    if (answer_.count == request_.most_rows) {
      answer_.truncated = "rows";
      return false;
    }
    if (answer_.rows.size() >= request_.most_bytes) {
      answer_.truncated = "bytes";
      return false;
    }
    answer_.rows += answer_.count == 0 ? "[" : ",[";
    for (bool first = true; const Cell& cell : cells) {
      if (!first) answer_.rows += ',';
      first = false;
      append_cell(cell, answer_.rows);
    }
    answer_.rows += ']';
    ++answer_.count;
    return true;
  }

 private:
  const SqlRequest& request_;
  SqlAnswer& answer_;
};

UntrustedReader::Settings settings_of(const SqlRequest& request) {
  UntrustedReader::Settings settings;
  settings.secret = request.secret;
  for (const SqlView& view : sql_views()) settings.views.push_back({view.name, view.select});
  settings.functions = {
      {"utc", 1, false, utc},
      {"moment", 1, false, [now = request.now](std::span<const Cell> arguments) { return moment(arguments, now); }},
      {"without_secrets", 2, true, [&request](std::span<const Cell> arguments) -> Result<OwnedCell> {
         SHIPLOG_TRY(auto text, request.without_secrets(text_of(arguments[0]), text_of(arguments[1])));
         return OwnedCell{std::move(text)};
       }}};
  return settings;
}

}  // namespace

Result<SqlAnswer> run_sql(const std::string& path, const SqlRequest& request) {
  SHIPLOG_TRY(check_expansion(request.statement));
  SHIPLOG_TRY(const auto reader, UntrustedReader::open(path, settings_of(request)));
  SHIPLOG_TRY(const auto checkpoint, reader->trusted_row("SELECT fingerprint, revision FROM checkpoint"));
  if (checkpoint.empty() || checkpoint[0] != OwnedCell{store::fingerprint()}) {
    return Error{ErrorCode::kUnavailable, "projection " + path + " is being made anew: try again"};
  }
  SqlAnswer answer;
  answer.revision = Revision{static_cast<uint64_t>(std::get<int64_t>(checkpoint[1]))};
  CollectedRows rows{request, answer};
  SHIPLOG_TRY(reader->run(
      request.statement, request.parameters,
      {.deadline = request.deadline, .cancelled = request.cancelled, .memory_bytes = request.memory_bytes}, rows));
  return answer;
}

}  // namespace shiplog
