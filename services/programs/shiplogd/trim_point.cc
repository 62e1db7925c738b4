#include "services/programs/shiplogd/trim_point.h"

#include <charconv>
#include <string>

#include "events/base/quantity.h"

namespace shiplog {
namespace {

constexpr std::string_view kNone = "none";
constexpr int64_t kDay = 24 * 3600 * 1000;

/// nullopt: not an age.
std::optional<Millis> age_in(std::string_view text) {
  if (text.ends_with('d')) {
    int64_t days = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size() - 1, days);
    if (failed != std::errc{} || end != text.data() + text.size() - 1 || days <= 0 || days > 100'000) return {};
    return Millis{days * kDay};
  }
  const auto parsed = parse_duration(text);
  if (!parsed || parsed.value().value <= 0) return {};
  return parsed.value();
}

}  // namespace

Result<JournalRetention> parse_journal_retention(const std::string& option, std::string_view text) {
  if (text == kNone) return JournalRetention{};
  if (const auto age = age_in(text)) return JournalRetention{.age = age};
  const auto size = parse_quantity(text);
  if (size && !size.value().negative() && !size.value().is_zero()) {
    return JournalRetention{.bytes = static_cast<uint64_t>(size.value().units())};
  }
  return Error{ErrorCode::kInvalid, "--" + option + "=" + std::string{text} +
                                        ": use an age (6h, 30d), a size (50Gi), or none, which keeps all"};
}

Result<std::optional<Millis>> parse_age(const std::string& option, std::string_view text) {
  if (text == kNone) return std::optional<Millis>{};
  if (const auto age = age_in(text)) return age;
  return Error{ErrorCode::kInvalid,
               "--" + option + "=" + std::string{text} + ": use an age (6h, 30d), or none, which keeps all"};
}

Offset TrimPoints::point(const JournalRetention& retention, UtcMillis now, std::optional<UtcMillis> keep_from) const {
  constexpr Millis kClocks{10 * 60 * 1000};
  Offset point;
  for (const Mark& mark : marks_) {
    // Clocks of processes differ: one entry with a late time keeps those after it no longer than its own.
    const bool old = retention.age && now - mark.time >= *retention.age;
    const bool beyond = retention.bytes && bytes_ - mark.bytes_before >= *retention.bytes;
    if (!old && !beyond) break;
    if (keep_from && mark.time + kClocks >= *keep_from) break;
    point = mark.offset;
  }
  return point;
}

void TrimPoints::trimmed(Offset before) {
  while (!marks_.empty() && marks_.front().offset < before) marks_.pop_front();
}

}  // namespace shiplog
