#include "services/runtime/trace.h"

#include <algorithm>

#include "events/base/ascii.h"
#include "events/base/ids.h"

namespace shiplog {
namespace {

// "00-<trace id>-<parent id>-<flags>"
constexpr size_t kTraceIdAt = 3;
constexpr size_t kTraceIdDigits = 32;
constexpr size_t kParentIdAt = 36;
constexpr size_t kParentIdDigits = 16;
constexpr size_t kFlagsAt = 53;
constexpr size_t kLength = 55;

constexpr std::string_view kSampled = "-01";

constexpr size_t kMostMembers = 32;
constexpr size_t kMostKey = 256;
constexpr size_t kMostTenant = 241;
constexpr size_t kMostSystem = 14;
constexpr size_t kMostValue = 256;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_lower_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool is_key_part(std::string_view text, size_t longest, bool digit_first) {
  if (text.empty() || text.size() > longest) return false;
  if (!is_lower(text.front()) && !(digit_first && is_digit(text.front()))) return false;
  return std::ranges::all_of(
      text, [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '*' || c == '/'; });
}

/// "vendor" or "tenant@vendor".
bool is_key(std::string_view text) {
  const size_t position = text.find('@');
  if (position == std::string_view::npos) return is_key_part(text, kMostKey, false);
  return is_key_part(text.substr(0, position), kMostTenant, true) &&
         is_key_part(text.substr(position + 1), kMostSystem, false);
}

bool is_value(std::string_view text) {
  if (text.empty() || text.size() > kMostValue || text.back() == ' ') return false;
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < kLength) return std::nullopt;
  const std::string_view version = text.substr(0, 2);
  const std::string_view id = text.substr(kTraceIdAt, kTraceIdDigits);
  const std::string_view flags = text.substr(kFlagsAt, 2);
  if (!is_lower_hex(version) || version == "ff") return std::nullopt;
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return std::nullopt;
  if (text[kTraceIdAt - 1] != '-' || text[kParentIdAt - 1] != '-' || text[kFlagsAt - 1] != '-') return std::nullopt;
  if (!is_id(id) || !is_id(text.substr(kParentIdAt, kParentIdDigits)) || !is_lower_hex(flags)) return std::nullopt;
  const char low = flags[1];
  const int low_bits = is_digit(low) ? low - '0' : low - 'a' + 10;
  return TraceContext{std::string{id}, (low_bits & 1) != 0};
}

bool is_tracestate(std::string_view text) {
  if (text.empty() || text.size() > kMostTraceState) return false;
  size_t members = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view member = without_blanks(text.substr(begin, end - begin));
    begin = end + 1;
    if (member.empty()) continue;
    const size_t equals = member.find('=');
    if (equals == std::string_view::npos || ++members > kMostMembers) return false;
    if (!is_key(member.substr(0, equals)) || !is_value(member.substr(equals + 1))) return false;
  }
  return members > 0;
}

std::string journaled(const TraceContext& trace) { return trace.sampled ? trace.id + std::string{kSampled} : trace.id; }

TraceContext trace_from_journal(std::string_view text) {
  const bool sampled = text.ends_with(kSampled);
  if (sampled) text.remove_suffix(kSampled.size());
  return {std::string{text}, sampled};
}

TraceContext new_trace(Random& random) { return {to_string(new_entry_id(random)), false}; }

std::string traceparent_of(const TraceContext& trace, Random& random) {
  uint64_t span = random.next();
  while (span == 0) span = random.next();
  std::string text = "00-" + trace.id + "-";
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(span >> static_cast<unsigned>(shift)) & 0xFU];
  return text + std::string{trace.sampled ? kSampled : "-00"};
}

}  // namespace shiplog
