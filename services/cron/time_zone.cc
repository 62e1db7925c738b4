#include "services/cron/time_zone.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

namespace shiplog::cron {
namespace {

/// Big-endian numbers from the left.
class BigEndianReader {
 public:
  explicit BigEndianReader(std::string_view bytes) : rest_{bytes} {}

  bool has(uint64_t count) const { return rest_.size() >= count; }
  std::string_view take(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  int64_t number(size_t width) {
    uint64_t value = 0;
    for (const char c : take(width)) value = value << 8 | static_cast<unsigned char>(c);
    if (width == 4) return static_cast<int32_t>(static_cast<uint32_t>(value));
    return static_cast<int64_t>(value);
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// Of one of the two parts of a file: the first one has times of 4 bytes, the second one of 8.
struct TzifHeader {
  char version = 0;
  uint64_t utc_marks = 0, standard_marks = 0, leap_seconds = 0, times = 0, types = 0, characters = 0;

  uint64_t bytes(uint64_t width) const {
    return times * (width + 1) + types * 6 + characters + leap_seconds * (width + 4) + standard_marks + utc_marks;
  }
};

std::optional<TzifHeader> read_header(BigEndianReader& bytes) {
  if (!bytes.has(44) || bytes.take(4) != "TZif") return std::nullopt;
  TzifHeader header;
  header.version = bytes.take(1)[0];
  bytes.take(15);
  for (uint64_t* count : {&header.utc_marks, &header.standard_marks, &header.leap_seconds, &header.times, &header.types,
                          &header.characters}) {
    *count = static_cast<uint32_t>(bytes.number(4));
  }
  return header;
}

}  // namespace

Result<TimeZone> TimeZone::from_tzif(std::string_view content) {
  const auto invalid = [](const char* why) { return Error{ErrorCode::kInvalid, why}; };
  BigEndianReader bytes{content};
  auto header = read_header(bytes);
  if (!header) return invalid("not a time zone file");
  size_t width = 4;
  if (header->version >= '2') {
    if (!bytes.has(header->bytes(4))) return invalid("the time zone file is cut off");
    bytes.take(header->bytes(4));
    header = read_header(bytes);
    if (!header) return invalid("the time zone file is cut off");
    width = 8;
  }
  if (!bytes.has(header->bytes(width))) return invalid("the time zone file is cut off");
  if (header->leap_seconds > 0) return invalid("the time zone file counts leap seconds, which clocks do not");
  if (header->types == 0) return invalid("the time zone file has no offset");

  std::vector<int64_t> times, offsets;
  for (uint64_t i = 0; i < header->times; ++i) times.push_back(bytes.number(width));
  const std::string_view types = bytes.take(header->times);
  for (uint64_t i = 0; i < header->types; ++i) {
    offsets.push_back(bytes.number(4));
    bytes.take(2);
  }
  bytes.take(header->bytes(width) - header->times * (width + 1) - header->types * 6);

  TimeZone zone;
  zone.before_ = offsets.front();
  for (uint64_t i = 0; i < header->times; ++i) {
    const auto type = static_cast<unsigned char>(types[i]);
    if (type >= offsets.size() || (i > 0 && times[i] <= times[i - 1])) return invalid("the time zone file is damaged");
    zone.transitions_.push_back({times[i], offsets[type]});
  }
  zone.after_ = PosixTimeZone{zone.transitions_.empty() ? zone.before_ : zone.transitions_.back().offset};
  std::string_view footer = bytes.rest();
  if (width == 8 && footer.size() > 2 && footer.starts_with('\n')) {
    footer = footer.substr(1, footer.find('\n', 1) - 1);
    SHIPLOG_TRY(zone.after_, PosixTimeZone::parse(footer));
  }
  return zone;
}

UtcOffset TimeZone::offset_at(int64_t at) const {
  const auto next = std::ranges::upper_bound(transitions_, at, {}, &Transition::at);
  if (next != transitions_.end()) {
    return {next == transitions_.begin() ? before_ : std::prev(next)->offset, next->at};
  }
  return after_.offset_at(at);
}

Problem time_zone_problem(std::string_view text) {
  if (text.empty()) return "timeZone must be nil or non-empty string";
  const std::string unknown = "unknown time zone " + std::string{text};
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, '/')) parts.emplace_back(part.begin(), part.end());
  for (const std::string_view part : parts) {
    const bool fits = std::ranges::all_of(part, [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
             c == '_' || c == '+';
    });
    if (part.empty() || part.size() > 14 || part == "." || part == ".." || part.starts_with('-') || !fits) {
      return unknown;
    }
  }
  constexpr std::string_view kLocal = "local";
  if (std::ranges::equal(text, kLocal, {}, [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; })) {
    return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
  }
  // The regions of the database, and its two copies in the file system. Zones come and go in them.
  constexpr std::array<std::string_view, 18> kRegions = {
      "Africa", "America", "Antarctica", "Arctic", "Asia",   "Atlantic", "Australia", "Brazil", "Canada",
      "Chile",  "Etc",     "Europe",     "Indian", "Mexico", "Pacific",  "US",        "posix",  "right"};
  if (parts.size() > 1 && std::ranges::find(kRegions, parts[0]) == kRegions.end()) return unknown;
  return std::nullopt;
}

}  // namespace shiplog::cron
