#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

/// Objects and arrays nested deeper than this are refused: a bound on recursion everywhere.
inline constexpr int kMaxJsonDepth = 256;
/// What is stored may be a little deeper: decisions wrap objects (a Work carries its manifest). What was accepted must
/// stay readable.
inline constexpr int kMaxStoredJsonDepth = 320;

/// Reads one JSON document. Keys that stand twice in one object: the last wins, and its path is added to
/// `duplicates` when that is given. Error: kBadRequest with line, column and what was expected.
Result<Value> parse_json(std::string_view text, std::vector<std::string>* duplicates = nullptr);
/// The same for what this program wrote itself.
Result<Value> parse_stored_json(std::string_view text);

/// Canonical JSON: members sorted by key, no white space, shortest numbers. Equal values give equal bytes.
std::string to_json(const Value& value);
/// The same, appended to `out`.
void append_json(const Value& value, std::string& out);
/// Indented by two spaces, for people.
std::string to_pretty_json(const Value& value);

/// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string_view text, std::string& out);

}  // namespace shiplog
