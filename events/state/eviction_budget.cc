#include "events/state/eviction_budget.h"

#include <algorithm>
#include <charconv>

#include "events/state/fleet_options.h"

namespace shiplog {
namespace {

constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kDefaultRate = kMillion / 2;
/// Rate 0, as upstream reads it.
constexpr int64_t kSlowestSeconds = 1800;
/// Beyond this nothing is paced; products with times still fit.
constexpr int64_t kFastestPerSecond = 1'000'000;

Error wrong(std::string_view word, const std::string& expected) {
  return {ErrorCode::kInvalid, "\"" + std::string{word} + "\": " + expected};
}

std::optional<int64_t> whole(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "0.25" is 250000. Digits beyond the sixth decimal do not count.
std::optional<int64_t> millionths(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view before = text.substr(0, point);
  const std::string_view after = point < text.size() ? text.substr(point + 1) : std::string_view{};
  const auto digits = [](std::string_view part) {
    return std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!digits(before) || !digits(after) || before.size() + after.size() == 0 || before.size() > 9) return std::nullopt;
  std::string decimals{after.substr(0, 6)};
  decimals.resize(6, '0');
  return whole(before.empty() ? "0" : before).value_or(0) * kMillion + whole(decimals).value_or(0);
}

std::optional<int64_t> evictions_in(std::string_view word) {
  constexpr std::string_view kName = "evictions=";
  if (!word.starts_with(kName)) return std::nullopt;
  const auto number = whole(word.substr(kName.size()));
  return number && *number >= 0 ? number : std::nullopt;
}

Result<void> add_word(EvictionBudget& budget, std::string_view word) {
  constexpr std::string_view kPriority = "priority>=";
  if (word.starts_with("evictions=")) {
    budget.evictions = evictions_in(word);
    if (!budget.evictions) return wrong(word, "a number of evictions is expected, such as evictions=100");
  } else if (word.starts_with("window=")) {
    const auto parsed = parse_duration(word.substr(7));
    if (!parsed || parsed.value() < Millis{1000}) {
      return wrong(word, "a duration of at least one second is expected, such as window=10m");
    }
    budget.window = parsed.value();
  } else if (word.starts_with("fraction=")) {
    budget.fraction_millionths = millionths(word.substr(9));
    if (!budget.fraction_millionths || *budget.fraction_millionths == 0 || *budget.fraction_millionths > kMillion) {
      return wrong(word, "a part of the clusters above 0 and up to 1 is expected, such as fraction=0.2");
    }
  } else if (word.starts_with(kPriority)) {
    const size_t colon = word.find(':');
    const auto priority = whole(word.substr(kPriority.size(), colon - kPriority.size()));
    const auto number = colon == std::string_view::npos ? std::nullopt : evictions_in(word.substr(colon + 1));
    if (!priority || !number) {
      return wrong(word, "a priority and a number are expected, such as priority>=1000:evictions=500");
    }
    budget.by_priority.push_back({*priority, *number});
  } else {
    return wrong(word, "evictions=N, window=DURATION, fraction=F and priority>=P:evictions=N are known");
  }
  return ok();
}

}  // namespace

Result<int64_t> parse_eviction_rate(std::string_view text) {
  const auto rate = millionths(text);
  if (!rate) return wrong(text, "a number of evictions a second is expected, 0 or more, such as 0.5");
  if (*rate == 0) return kMillion / kSlowestSeconds;
  return std::min(*rate, kFastestPerSecond * kMillion);
}

std::optional<int64_t> EvictionBudget::evictions_for(int64_t priority) const {
  for (const OfPriority& limit : by_priority) {
    if (priority >= limit.priority) return limit.evictions;
  }
  return evictions;
}

std::optional<size_t> EvictionBudget::most_clusters(size_t clusters) const {
  if (!fraction_millionths) return std::nullopt;
  const auto part = static_cast<int64_t>(clusters) * *fraction_millionths / kMillion;
  return static_cast<size_t>(std::max<int64_t>(1, part));
}

Result<EvictionBudget> parse_eviction_budget(const std::vector<std::string>& words) {
  EvictionBudget budget;
  for (const std::string& word : words) {
    SHIPLOG_TRY(add_word(budget, word));
  }
  std::ranges::sort(budget.by_priority, std::greater{}, &EvictionBudget::OfPriority::priority);
  for (size_t i = 1; i < budget.by_priority.size(); ++i) {
    if (budget.by_priority[i].priority != budget.by_priority[i - 1].priority) continue;
    return wrong("priority>=" + std::to_string(budget.by_priority[i].priority), "it is given twice");
  }
  return budget;
}

int64_t eviction_rate_of(const FleetOptions& options) {
  const auto rate = parse_eviction_rate(options.eviction_rate.empty() ? "" : options.eviction_rate.front());
  return rate ? rate.value() : kDefaultRate;
}

EvictionBudget eviction_budget_of(const FleetOptions& options) {
  const auto budget = parse_eviction_budget(options.eviction_budget);
  return budget ? budget.value() : EvictionBudget{};
}

}  // namespace shiplog
