#include <algorithm>
#include <limits>
#include <string>

#include "events/base/utf8.h"
#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"

// strings of cel-go, version 2, as Kubernetes has it. Positions are those of code points. Source: cel-go,
// ext/strings.go; k8s.io/apiserver/pkg/cel/library/cost.go.

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

/// A text with the byte at which each code point begins, and its end.
class CodePoints {
 public:
  explicit CodePoints(std::string_view text) : text_{text} {
    for (size_t at = 0; at < text.size();) {
      starts_.push_back(at);
      at += std::max<size_t>(utf8_sequence_length(text.substr(at)), 1);
    }
    starts_.push_back(text.size());
  }
  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  /// `from` <= `to` <= size().
  std::string_view part(int64_t from, int64_t to) const {
    const size_t begin = starts_[static_cast<size_t>(from)];
    return text_.substr(begin, starts_[static_cast<size_t>(to)] - begin);
  }
  size_t byte_of(int64_t index) const { return starts_[static_cast<size_t>(index)]; }
  int64_t index_of(size_t byte) const { return std::ranges::lower_bound(starts_, byte) - starts_.begin(); }

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

CelValue out_of_range(int64_t index) { return CelValue::error("index out of range: " + std::to_string(index)); }

CelValue char_at(CelArguments a, CelMeter&) {
  const CodePoints text{a[0].as_string()};
  const int64_t index = a[1].as_int();
  if (index < 0 || index > text.size()) return out_of_range(index);
  return CelValue::string(index == text.size() ? std::string_view{} : text.part(index, index + 1));
}

/// A search compares at every position: charged before it is done, beyond what it costs upstream.
bool affordable_search(CelArguments a, CelMeter& meter) {
  return affordable(meter, traversal_cost(a[0].as_string().size()) * traversal_cost(a[1].as_string().size()) / 16);
}

CelValue index_of(CelArguments a, CelMeter& meter) {
  const int64_t from = a.size() > 2 ? a[2].as_int() : 0;
  if (from < 0) return out_of_range(from);
  if (!affordable_search(a, meter)) return unaffordable();
  const CodePoints text{a[0].as_string()};
  if (a[1].as_string().empty()) return CelValue::integer(std::min(from, text.size()));
  if (from >= text.size()) return CelValue::integer(-1);
  const size_t found = a[0].as_string().find(a[1].as_string(), text.byte_of(from));
  return CelValue::integer(found == std::string_view::npos ? -1 : text.index_of(found));
}

CelValue last_index_of(CelArguments a, CelMeter& meter) {
  const bool limited = a.size() > 2;
  if (limited && a[2].as_int() < 0) return out_of_range(a[2].as_int());
  if (!affordable_search(a, meter)) return unaffordable();
  const CodePoints text{a[0].as_string()};
  const int64_t from = limited ? a[2].as_int() : text.size();
  if (a[1].as_string().empty()) return CelValue::integer(std::min(from, text.size()));
  if (limited && from >= text.size()) return CelValue::integer(-1);
  const size_t found = a[0].as_string().rfind(a[1].as_string(), text.byte_of(from));
  return CelValue::integer(found == std::string_view::npos ? -1 : text.index_of(found));
}

CelValue substring(CelArguments a, CelMeter&) {
  const CodePoints text{a[0].as_string()};
  const int64_t from = a[1].as_int();
  const int64_t to = a.size() > 2 ? a[2].as_int() : text.size();
  if (a.size() > 2 && from > to) {
    return CelValue::error("invalid substring range. start: " + std::to_string(from) + ", end: " + std::to_string(to));
  }
  if (from < 0 || from > text.size()) return out_of_range(from);
  if (to < 0 || to > text.size()) return out_of_range(to);
  return CelValue::string(text.part(from, to));
}

CelValue with_case(CelArguments a, char first, char last, char offset) {
  std::string text{a[0].as_string()};
  for (char& c : text) {
    if (c >= first && c <= last) c = static_cast<char>(c + offset);
  }
  return CelValue::string(text);
}

/// Unicode's White_Space, as Go's strings.TrimSpace.
bool is_space(std::string_view character) {
  if (character.size() == 1) return character[0] == ' ' || (character[0] >= '\t' && character[0] <= '\r');
  static const std::vector<std::string> kSpaces = {
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83",
      "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A",
      "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  return std::ranges::find(kSpaces, character) != kSpaces.end();
}

CelValue trimmed(CelArguments a, CelMeter&) {
  const CodePoints text{a[0].as_string()};
  int64_t from = 0;
  int64_t to = text.size();
  while (from < to && is_space(text.part(from, from + 1))) ++from;
  while (from < to && is_space(text.part(to - 1, to))) --to;
  return CelValue::string(text.part(from, to));
}

/// Charges for `bytes` more of a result that may be much longer than the arguments.
bool affordable_bytes(CelMeter& meter, size_t bytes) { return affordable(meter, bytes / 10); }

CelValue replaced(CelArguments a, CelMeter& meter) {
  const std::string_view text = a[0].as_string();
  const std::string_view old = a[1].as_string();
  const std::string_view by = a[2].as_string();
  const int64_t most = a.size() > 3 && a[3].as_int() >= 0 ? a[3].as_int() : std::numeric_limits<int64_t>::max();
  if (!affordable_search(a, meter)) return unaffordable();
  std::string out;
  size_t at = 0;
  for (int64_t count = 0; count < most; ++count) {
    const size_t found = old.empty() ? at : text.find(old, at);
    if (found == std::string_view::npos) break;
    // Nothing is found before every code point, and at the end.
    const size_t kept =
        old.empty() && found < text.size() ? std::max<size_t>(utf8_sequence_length(text.substr(found)), 1) : 0;
    if (!affordable_bytes(meter, by.size() + 10)) return unaffordable();
    out += text.substr(at, found - at);
    out += by;
    out += text.substr(found, kept);
    const bool ended = old.empty() && found >= text.size();
    at = found + old.size() + kept;
    if (ended) break;
  }
  if (at < text.size()) out += text.substr(at);
  return CelValue::string(out);
}

CelValue split(CelArguments a, CelMeter& meter) {
  const std::string_view text = a[0].as_string();
  const std::string_view separator = a[1].as_string();
  const int64_t most = a.size() > 2 && a[2].as_int() >= 0 ? a[2].as_int() : std::numeric_limits<int64_t>::max();
  if (!affordable_search(a, meter)) return unaffordable();
  std::vector<CelValue> items;
  if (most == 0 || (separator.empty() && text.empty())) return CelValue::list(std::move(items));
  size_t at = 0;
  while (static_cast<int64_t>(items.size()) < most - 1) {
    const size_t found =
        separator.empty() ? at + std::max<size_t>(utf8_sequence_length(text.substr(at)), 1) : text.find(separator, at);
    if (found == std::string_view::npos || (separator.empty() && found >= text.size())) break;
    if (items.size() % 16 == 15 && !affordable(meter, 1)) return unaffordable();
    items.push_back(CelValue::string(text.substr(at, found - at)));
    at = found + separator.size();
  }
  items.push_back(CelValue::string(text.substr(at)));
  return CelValue::list(std::move(items));
}

CelValue joined(CelArguments a, CelMeter& meter) {
  const CelList& list = a[0].as_list();
  const std::string_view separator = a.size() > 1 ? a[1].as_string() : std::string_view{};
  std::string out;
  for (size_t i = 0; i < list.size(); ++i) {
    const CelValue item = list.at(i);
    if (!item.is(Kind::kString)) return CelValue::error("join: invalid input: " + item.type_of().text());
    if (!affordable_bytes(meter, separator.size() + item.as_string().size() + 10)) return unaffordable();
    if (i > 0) out += separator;
    out += item.as_string();
  }
  return CelValue::string(out);
}

CelValue quoted_string(CelArguments a, CelMeter&) {
  std::string out = "\"";
  for (const char c : a[0].as_string()) {
    switch (c) {
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\v':
        out += "\\v";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      default:
        out += c;
    }
  }
  return CelValue::string(out + '"');
}

}  // namespace

void add_string_functions(CelFunctions& functions) {
  const CelType string = CelKind::kString;
  const CelType number = CelKind::kInt;
  const CelType strings = CelType::list(string);
  const auto read_once = cost_of_reading(0);
  const auto read_twice = cost_of_reading(0, 2);
  add_member(functions, "charAt", {string, number}, string, char_at, read_once);
  add_member(functions, "indexOf", {string, string}, number, index_of, read_once);
  add_member(functions, "indexOf", {string, string, number}, number, index_of, read_once);
  add_member(functions, "lastIndexOf", {string, string}, number, last_index_of, read_once);
  add_member(functions, "lastIndexOf", {string, string, number}, number, last_index_of, read_once);
  add_member(
      functions, "lowerAscii", {string}, string,
      [](CelArguments a, CelMeter&) { return with_case(a, 'A', 'Z', 'a' - 'A'); }, read_once);
  add_member(
      functions, "upperAscii", {string}, string,
      [](CelArguments a, CelMeter&) { return with_case(a, 'a', 'z', 'A' - 'a'); }, read_once);
  add_member(functions, "substring", {string, number}, string, substring, read_once);
  add_member(functions, "substring", {string, number, number}, string, substring, read_once);
  add_member(functions, "trim", {string}, string, trimmed, read_once);
  add_member(functions, "replace", {string, string, string}, string, replaced, read_twice);
  add_member(functions, "replace", {string, string, string, number}, string, replaced, read_twice);
  add_member(functions, "split", {string, string}, strings, split, read_twice);
  add_member(functions, "split", {string, string, number}, strings, split, read_twice);
  const CelCost made_twice = [](CelArguments, const CelValue& result) { return traversal_cost(cost_size(result), 2); };
  add_member(functions, "join", {strings}, string, joined, made_twice);
  add_member(functions, "join", {strings, string}, string, joined, made_twice);
  add_function(functions, "strings.quote", {string}, string, quoted_string, read_once);
}

}  // namespace shiplog::cel
