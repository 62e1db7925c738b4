#include "services/roles/recorder/correlation.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace shiplog::recorder {
namespace {

constexpr std::string_view kCombined = "(combined from similar events): ";

void add(std::string& key, std::string_view part) { key.append(part).push_back('\n'); }

/// Component and object.
std::string source_key(const EventDraft& draft) {
  const Value& meta = draft.object["metadata"];
  std::string key;
  for (const std::string_view part :
       {meta["uid"].as_string(), draft.object["kind"].as_string(), draft.object["apiVersion"].as_string(),
        meta["namespace"].as_string(), meta["name"].as_string(), std::string_view{draft.component}}) {
    add(key, part);
  }
  return key;
}

}  // namespace

bool EventCorrelation::combines(const Hash128& group, const EventDraft& draft, UtcMillis now) {
  Similar& similar = similar_.use(group, {});
  if (now - similar.last > limits_.similar_within) similar.messages.clear();
  const Hash128 message = siphash128(draft.message);
  const auto place = std::ranges::lower_bound(similar.messages, message);
  if (place == similar.messages.end() || *place != message) similar.messages.insert(place, message);
  similar.last = now;
  if (similar.messages.size() < limits_.similar) return false;
  similar.messages.erase(similar.messages.begin());  // any: with the next message there are as many again
  return true;
}

std::optional<Correlated> EventCorrelation::correlate(EventDraft& draft, UtcMillis at, UtcMillis now) {
  std::string key = source_key(draft);
  const Hash128 source = siphash128(key);
  add(key, draft.reason);
  add(key, draft.warning ? "Warning" : "Normal");
  Hash128 identity = siphash128(key);
  if (combines(identity, draft, now)) {
    draft.message.insert(0, kCombined);
  } else {
    add(key, draft.message);
    identity = siphash128(key);
  }
  // Counted before it is filtered, so that the count is true when one is written again.
  Filtered& filtered = filtered_.use(identity, {});
  if (filtered.count++ == 0) filtered.first = at;
  if (!budgets_.use(source, TokenBucket{limits_.burst, limits_.per_second}).take(1, now)) return std::nullopt;
  const Correlated correlated{identity, filtered.count, filtered.first};
  filtered = {};
  return correlated;
}

}  // namespace shiplog::recorder
