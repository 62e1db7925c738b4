#include "services/roles/dispatcher/overrides/patched_text.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/json_patch.h"
#include "events/base/utf8.h"
#include "events/base/yaml.h"

namespace shiplog::dispatcher {
namespace {

/// Integers of up to 18 digits fit 64 bits, and any decimal number of up to 15 digits is the shortest text of its
/// double.
constexpr std::ptrdiff_t kExactDigits = 15;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool keeps_its_value(std::string_view number) {
  if (std::ranges::count_if(number, is_digit) <= kExactDigits) return true;
  const auto read = parse_json(number);
  return read && to_json(read.value()) == number;
}

/// The numbers of valid JSON that would be rounded, in their order.
std::vector<std::string_view> rounded_numbers(std::string_view json) {
  std::vector<std::string_view> found;
  for (size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      for (++at; json[at] != '"'; ++at) at += json[at] == '\\' ? 1 : 0;
      ++at;
    } else if (json[at] == '-' || is_digit(json[at])) {
      const size_t end = std::min(json.find_first_not_of("+-.0123456789eE", at), json.size());
      if (const auto number = json.substr(at, end - at); !keeps_its_value(number)) found.push_back(number);
      at = end;
    } else {
      ++at;
    }
  }
  return found;
}

/// A text that occurs nowhere in these documents, which are canonical JSON. It begins with their hash, which a user
/// cannot put into them; a fixed text could be, and then each dash behind it would take another search.
std::string unused_mark(const std::string& documents) {
  std::string mark = "number " + to_string(siphash128(documents)) + " ";
  while (documents.find(mark) != std::string::npos) mark += '-';
  return mark;
}

std::string with_marks(std::string_view json, const std::vector<std::string_view>& numbers, const std::string& mark) {
  std::string marked;
  const char* done = json.data();
  for (size_t i = 0; i < numbers.size(); ++i) {
    marked.append(done, numbers[i].data());
    marked += '"' + mark + std::to_string(i) + '"';
    done = numbers[i].data() + numbers[i].size();
  }
  return marked.append(done, json.data() + json.size());
}

std::string with_numbers(const std::string& marked, const std::vector<std::string_view>& numbers,
                         const std::string& mark) {
  const std::string opening = '"' + mark;
  std::string json;
  size_t done = 0;
  for (size_t at = marked.find(opening); at != std::string::npos; at = marked.find(opening, done)) {
    json.append(marked, done, at - done);
    size_t index = 0;
    const char* const digits = marked.data() + at + opening.size();
    const auto read = std::from_chars(digits, marked.data() + marked.size(), index);
    json += numbers.at(index);
    done = static_cast<size_t>(read.ptr - marked.data()) + 1;  // after the closing quote
  }
  return json.append(marked, done);
}

/// Where a document has a number from 2^63 to 2^64, as a path; empty: nowhere. Upstream keeps integers of that range.
std::string place_of_rounded(const Value& document) {
  constexpr double kAboveIntegers = 9223372036854775808.0;
  if (document.is_object()) {
    for (const auto& member : document.members()) {
      if (const std::string below = place_of_rounded(member.value); !below.empty()) {
        return "/" + std::string{member.key()} + (below == "/" ? "" : below);
      }
    }
  } else if (document.is_array()) {
    size_t index = 0;
    for (const Value& item : document.items()) {
      if (const std::string below = place_of_rounded(item); !below.empty()) {
        return "/" + std::to_string(index) + (below == "/" ? "" : below);
      }
      ++index;
    }
  } else if (document.kind() == Value::Kind::kDouble) {
    const double number = document.as_double();
    if (number >= kAboveIntegers && number <= 2 * kAboveIntegers) return "/";
  }
  return {};
}

}  // namespace

Result<std::string> patched_json(const std::string& text, const Value& patch) {
  SHIPLOG_TRY(Value document, parse_json(text));
  const auto numbers = rounded_numbers(text);
  // While it is patched, a string stands for each of them.
  const std::string mark = numbers.empty() ? "" : unused_mark(to_json(document) + to_json(patch));
  if (!numbers.empty()) {
    SHIPLOG_TRY(document, parse_json(with_marks(text, numbers, mark)));
  }
  SHIPLOG_TRY(const Value patched, apply_json_patch(document, patch));
  return numbers.empty() ? to_json(patched) : with_numbers(to_json(patched), numbers, mark);
}

Result<std::string> patched_yaml(const std::string& text, const Value& patch) {
  SHIPLOG_TRY(const Value document, parse_yaml(text));
  SHIPLOG_TRY(const Value patched, apply_json_patch(document, patch));
  // What the patch replaces or removes does not matter.
  if (const std::string place = place_of_rounded(patched); !place.empty()) {
    return Error{ErrorCode::kInvalid, "the number at " + printable(place, 253) +
                                          " is larger than 9223372036854775807 and would be rounded: write it in "
                                          "quotes, or override the whole text with plaintext"};
  }
  return to_yaml(patched);
}

}  // namespace shiplog::dispatcher
