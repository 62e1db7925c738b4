#include "services/api/admission/cron_schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "events/base/time.h"

namespace shiplog::api {
namespace {

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

/// "*", "5", "1-5", each with "/2" or without.
Problem range_problem(std::string_view text, const CronField& field) {
  const std::string shown{text};
  const auto range_and_step = split(text, '/');
  const auto bounds = split(range_and_step[0], '-');
  int64_t begin = field.least;
  int64_t end = field.most;
  int64_t step = 1;
  if (bounds[0] != "*" && bounds[0] != "?") {
    if (auto problem = read_bound(bounds[0], field, begin)) return problem;
    end = begin;
    if (bounds.size() > 2) return "too many hyphens: " + shown;
    if (bounds.size() == 2) {
      if (auto problem = read_bound(bounds[1], field, end)) return problem;
    }
  }
  if (range_and_step.size() > 2) return "too many slashes: " + shown;
  if (range_and_step.size() == 2) {
    if (auto problem = read_number(range_and_step[1], step)) return problem;
    if (bounds.size() == 1) end = field.most;
  }
  const auto in_brackets = [](int64_t number) { return " (" + std::to_string(number) + ")"; };
  if (begin < field.least) {
    return "beginning of range" + in_brackets(begin) + " below minimum" + in_brackets(field.least) + ": " + shown;
  }
  if (end > field.most) {
    return "end of range" + in_brackets(end) + " above maximum" + in_brackets(field.most) + ": " + shown;
  }
  if (begin > end) {
    return "beginning of range" + in_brackets(begin) + " beyond end of range" + in_brackets(end) + ": " + shown;
  }
  if (step == 0) return "step of range should be a positive number: " + shown;
  return std::nullopt;
}

Problem descriptor_problem(std::string_view text) {
  constexpr std::string_view kEvery = "@every ";
  if (text.starts_with(kEvery)) {
    const std::string_view duration = text.substr(kEvery.size());
    if (parse_duration(duration)) return std::nullopt;
    return "failed to parse duration " + std::string{text} + ": time: invalid duration \"" + std::string{duration} +
           "\"";
  }
  for (const char* word : {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}) {
    if (text == word) return std::nullopt;
  }
  return "unrecognized descriptor: " + std::string{text};
}

}  // namespace

Problem cron_schedule_problem(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    const size_t space = text.find(' ');
    if (space == std::string_view::npos) return "invalid schedule format: a time zone must be followed by a space";
    text.remove_prefix(std::min(text.find_first_not_of(kSpace, space), text.size()));
  }
  if (text.starts_with('@')) return descriptor_problem(text);
  std::vector<std::string_view> fields;
  std::string shown;
  for (size_t begin = text.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    shown.append(shown.empty() ? "" : " ").append(fields.back());
    begin = text.find_first_not_of(kSpace, end);
  }
  if (fields.size() != kFields.size()) {
    return "expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [" + shown + "]";
  }
  for (size_t i = 0; i < kFields.size(); ++i) {
    for (const std::string_view range : split(fields[i], ',')) {
      if (range.empty()) continue;  // as in "1,,2"
      if (auto problem = range_problem(range, kFields[i])) return problem;
    }
  }
  return std::nullopt;
}

Problem time_zone_problem(std::string_view text) {
  if (text.empty()) return "timeZone must be nil or non-empty string";
  const std::string unknown = "unknown time zone " + std::string{text};
  const auto parts = split(text, '/');
  for (const std::string_view part : parts) {
    const bool fits = std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
             c == '_' || c == '+';
    });
    if (part.empty() || part.size() > 14 || part == "." || part == ".." || part.starts_with('-') || !fits) {
      return unknown;
    }
  }
  if (lower(text) == "local") {
    return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
  }
  // The regions of the database, and its two copies in the file system. Zones come and go in them.
  constexpr std::array<std::string_view, 18> kRegions = {
      "Africa", "America", "Antarctica", "Arctic", "Asia",   "Atlantic", "Australia", "Brazil", "Canada",
      "Chile",  "Etc",     "Europe",     "Indian", "Mexico", "Pacific",  "US",        "posix",  "right"};
  if (parts.size() > 1 && std::find(kRegions.begin(), kRegions.end(), parts[0]) == kRegions.end()) return unknown;
  return std::nullopt;
}

}  // namespace shiplog::api
