#include "services/programs/member/schedule.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include "events/base/ascii.h"

namespace shiplog::member {
namespace {

constexpr int64_t kMinute = 60'000;

struct Range {
  const char* name;
  int first, last;
  std::string_view names;  // three letters each, from `first` on
};
constexpr std::array<Range, 5> kRanges = {{{"minute", 0, 59, ""},
                                           {"hour", 0, 23, ""},
                                           {"day of month", 1, 31, ""},
                                           {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
                                           {"day of week", 0, 7, "sunmontuewedthufrisat"}}};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += lower_case(c);
    }
  }
  return parts;
}

std::optional<int> number(const std::string& text, const Range& range) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) {
    return value >= range.first && value <= range.last ? std::optional{value} : std::nullopt;
  }
  if (text.size() != 3) return std::nullopt;
  for (size_t index = 0; index < range.names.size(); index += 3) {
    if (range.names.substr(index, 3) == text) return range.first + static_cast<int>(index / 3);
  }
  return std::nullopt;
}

/// One of the comma-separated parts: "*", "*/5", "3", "1-5", "1-30/2", "7/10".
template <class Field>
bool read_part(const std::string& part, const Range& range, Field& field) {
  const auto stepped = split(part, '/');
  if (stepped.size() > 2) return false;
  int step = 1;
  if (stepped.size() == 2) {
    const auto read = std::from_chars(stepped[1].data(), stepped[1].data() + stepped[1].size(), step);
    if (read.ec != std::errc{} || read.ptr != stepped[1].data() + stepped[1].size() || step < 1) return false;
  }
  int first = range.first;
  int last = range.last;
  if (stepped[0] != "*" && stepped[0] != "?") {
    const auto ends = split(stepped[0], '-');
    const auto from = number(ends[0], range);
    const auto to = ends.size() == 2 ? number(ends[1], range) : from;
    if (ends.size() > 2 || !from || !to || *to < *from) return false;
    first = *from;
    last = ends.size() == 1 && stepped.size() == 2 ? range.last : *to;
  }
  for (int value = first; value <= last; value += step) field.set(static_cast<size_t>(value));
  return true;
}

std::string_view expand(std::string_view text) {
  if (text == "@hourly") return "0 * * * *";
  if (text == "@daily" || text == "@midnight") return "0 0 * * *";
  if (text == "@weekly") return "0 0 * * 0";
  if (text == "@monthly") return "0 0 1 * *";
  if (text == "@yearly" || text == "@annually") return "0 0 1 1 *";
  return text;
}

}  // namespace

Result<Schedule> Schedule::parse(std::string_view text) {
  std::vector<std::string> fields;
  for (std::string& field : split(expand(text), ' ')) {
    if (!field.empty()) fields.push_back(std::move(field));
  }
  if (fields.size() != 5) {
    return Error{ErrorCode::kInvalid, "the schedule \"" + std::string{text} + "\" does not have five fields"};
  }
  Schedule schedule;
  for (size_t i = 0; i < 5; ++i) {
    for (const std::string& part : split(fields[i], ',')) {
      if (read_part(part, kRanges[i], schedule.fields_[i])) continue;
      return Error{ErrorCode::kInvalid, "the schedule \"" + std::string{text} + "\" has a " + kRanges[i].name +
                                            " that cannot be read: \"" + part + "\""};
    }
  }
  if (schedule.fields_[4].test(7)) schedule.fields_[4].set(0);  // Sunday, too
  schedule.any_day_ = fields[2].starts_with('*');
  schedule.any_weekday_ = fields[4].starts_with('*');
  return schedule;
}

bool Schedule::fires_at(UtcMillis minute) const {
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds{minute.value}};
  const auto day = floor<days>(at);
  const int64_t in_day = (at - day).count() / kMinute;
  const year_month_day date{day};
  const bool on_day = fields_[2].test(unsigned{date.day()});
  const bool on_weekday = fields_[4].test(weekday{day}.c_encoding());
  // As in cron: if both day fields are restricted, either one suffices.
  const bool day_fits = any_day_ || any_weekday_ ? on_day && on_weekday : on_day || on_weekday;
  return fields_[0].test(static_cast<size_t>(in_day % 60)) && fields_[1].test(static_cast<size_t>(in_day / 60)) &&
         fields_[3].test(unsigned{date.month()}) && day_fits;
}

std::optional<UtcMillis> Schedule::latest(UtcMillis after, UtcMillis until) const {
  const int64_t earliest = std::max(after.value, until.value - 8 * 24 * 60 * kMinute);
  for (int64_t minute = until.value / kMinute * kMinute; minute > earliest; minute -= kMinute) {
    if (fires_at({minute})) return UtcMillis{minute};
  }
  return std::nullopt;
}

UtcMillis Schedule::next_check(UtcMillis after) const {
  int64_t minute = after.value / kMinute * kMinute;
  for (int i = 0; i < 24 * 60; ++i) {
    minute += kMinute;
    if (fires_at({minute})) break;
  }
  return {minute};
}

}  // namespace shiplog::member
