#include "services/cron/cron_schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "events/base/names.h"

namespace shiplog::cron {
namespace {

constexpr int64_t kMinute = 60;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kSearched = 5 * 366 * kDay;

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kDays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/// One of the five fields: its numbers, and words for the first ones of them.
struct CronField {
  int64_t least;
  int64_t most;
  std::span<const std::string_view> words = {};
};

constexpr std::array<CronField, 5> kFields = {{{0, 59, {}}, {0, 23, {}}, {1, 31, {}}, {1, 12, kMonths}, {0, 6, kDays}}};

std::string lower(std::string_view text) {
  std::string made{text};
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

Problem read_number(std::string_view text, int64_t& number) {
  const std::string whole{text};
  const std::string_view digits = text.substr(text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc{} && end == digits.data() + digits.size()) {
    if (number >= 0) return std::nullopt;
    return "negative number (" + std::to_string(number) + ") not allowed: " + whole;
  }
  const bool too_large = error == std::errc::result_out_of_range && end == digits.data() + digits.size();
  return "failed to parse int from " + whole + ": strconv.Atoi: parsing \"" + whole +
         "\": " + (too_large ? "value out of range" : "invalid syntax");
}

Problem read_bound(std::string_view text, const CronField& field, int64_t& number) {
  const auto word = std::find(field.words.begin(), field.words.end(), lower(text));
  if (word == field.words.end()) return read_number(text, number);
  number = field.least + (word - field.words.begin());
  return std::nullopt;
}

/// What "*", "5" or "1-5" stands for, each with "/2" or without.
struct CronRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t step = 1;
  bool any = false;
};

Problem read_range(std::string_view text, const CronField& field, CronRange& range) {
  const std::string shown{text};
  const auto range_and_step = split(text, '/');
  const auto bounds = split(range_and_step[0], '-');
  range = {field.least, field.most};
  range.any = bounds[0] == "*" || bounds[0] == "?";
  if (!range.any) {
    if (auto problem = read_bound(bounds[0], field, range.begin)) return problem;
    range.end = range.begin;
    if (bounds.size() > 2) return "too many hyphens: " + shown;
    if (bounds.size() == 2) {
      if (auto problem = read_bound(bounds[1], field, range.end)) return problem;
    }
  }
  if (range_and_step.size() > 2) return "too many slashes: " + shown;
  if (range_and_step.size() == 2) {
    if (auto problem = read_number(range_and_step[1], range.step)) return problem;
    if (bounds.size() == 1) range.end = field.most;
    if (range.step > 1) range.any = false;
  }
  const auto in_brackets = [](int64_t number) { return " (" + std::to_string(number) + ")"; };
  if (range.begin < field.least) {
    return "beginning of range" + in_brackets(range.begin) + " below minimum" + in_brackets(field.least) + ": " + shown;
  }
  if (range.end > field.most) {
    return "end of range" + in_brackets(range.end) + " above maximum" + in_brackets(field.most) + ": " + shown;
  }
  if (range.begin > range.end) {
    return "beginning of range" + in_brackets(range.begin) + " beyond end of range" + in_brackets(range.end) + ": " +
           shown;
  }
  if (range.step == 0) return "step of range should be a positive number: " + shown;
  return std::nullopt;
}

/// The fields that a word stands for; empty: it is none of them.
std::string_view fields_of_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {{{"@yearly", "0 0 1 1 *"},
                                                                                    {"@annually", "0 0 1 1 *"},
                                                                                    {"@monthly", "0 0 1 * *"},
                                                                                    {"@weekly", "0 0 * * 0"},
                                                                                    {"@daily", "0 0 * * *"},
                                                                                    {"@midnight", "0 0 * * *"},
                                                                                    {"@hourly", "0 * * * *"}}};
  for (const auto& [known, fields] : kWords) {
    if (known == word) return fields;
  }
  return "";
}

int64_t floor_mod(int64_t value, int64_t by) { return ((value % by) + by) % by; }

bool has(uint64_t bits, int64_t number) { return (bits >> number & 1U) != 0; }

}  // namespace

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  const auto invalid = [](std::string why) { return Error{ErrorCode::kInvalid, std::move(why)}; };
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    const size_t space = text.find(' ');
    if (space == std::string_view::npos) {
      return invalid("invalid schedule format: a time zone must be followed by a space");
    }
    text.remove_prefix(std::min(text.find_first_not_of(kSpace, space), text.size()));
  }
  CronSchedule schedule;
  constexpr std::string_view kEvery = "@every ";
  if (text.starts_with(kEvery)) {
    const std::string_view duration = text.substr(kEvery.size());
    const auto parsed = parse_duration(duration);
    if (!parsed) {
      return invalid("failed to parse duration " + std::string{text} + ": time: invalid duration \"" +
                     std::string{duration} + "\"");
    }
    schedule.every_ = Millis{std::max<int64_t>(parsed.value().value / 1000 * 1000, 1000)};
    return schedule;
  }
  if (text.starts_with('@')) {
    const std::string_view fields = fields_of_word(text);
    if (fields.empty()) return invalid("unrecognized descriptor: " + std::string{text});
    text = fields;
  }
  std::vector<std::string_view> words;
  std::string shown;
  for (size_t begin = text.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    shown.append(shown.empty() ? "" : " ").append(words.back());
    begin = text.find_first_not_of(kSpace, end);
  }
  if (words.size() != kFields.size()) {
    return invalid("expected exactly 5 fields, found " + std::to_string(words.size()) + ": [" + shown + "]");
  }
  const std::array<Field*, 5> fields = {&schedule.minutes_, &schedule.hours_, &schedule.days_, &schedule.months_,
                                        &schedule.weekdays_};
  for (size_t i = 0; i < kFields.size(); ++i) {
    for (const std::string_view part : split(words[i], ',')) {
      if (part.empty()) continue;  // as in "1,,2"
      CronRange range;
      if (auto problem = read_range(part, kFields[i], range)) return invalid(std::move(*problem));
      const int64_t step = std::min(range.step, kFields[i].most + 1);
      for (int64_t number = range.begin; number <= range.end; number += step) fields[i]->bits |= uint64_t{1} << number;
      fields[i]->any = fields[i]->any || range.any;
    }
  }
  return schedule;
}

int64_t CronSchedule::wait_from(int64_t local) const {
  using namespace std::chrono;
  const sys_days day = floor<days>(sys_seconds{seconds{local}});
  const year_month_day date{day};
  const int64_t of_day = floor_mod(local, kDay);
  if (!has(months_.bits, unsigned{date.month()})) {
    const year_month next_month = year_month{date.year(), date.month()} + months{1};
    return (sys_days{next_month / 1} - day).count() * kDay - of_day;
  }
  const bool day_of_month = has(days_.bits, unsigned{date.day()});
  const bool day_of_week = has(weekdays_.bits, weekday{day}.c_encoding());
  // With both fields restricted, one is enough.
  const bool matches = days_.any || weekdays_.any ? day_of_month && day_of_week : day_of_month || day_of_week;
  if (!matches) return kDay - of_day;
  if (!has(hours_.bits, of_day / kHour)) return kHour - of_day % kHour;
  const int64_t of_minute = of_day % kMinute;
  return of_minute != 0 || !has(minutes_.bits, of_day % kHour / kMinute) ? kMinute - of_minute : 0;
}

std::optional<UtcMillis> CronSchedule::next(const TimeZone& zone, UtcMillis after) const {
  const int64_t second = after.value / 1000;
  if (every_.value > 0) return UtcMillis{second * 1000 + every_.value};
  int64_t at = second + 1;
  for (const int64_t end = at + kSearched; at < end;) {
    const UtcOffset offset = zone.offset_at(at);
    const int64_t wait = wait_from(at + offset.seconds);
    if (wait == 0) return UtcMillis{at * 1000};
    at = std::min(at + wait, offset.until);  // from there on the clocks show another time
  }
  return std::nullopt;
}

}  // namespace shiplog::cron
