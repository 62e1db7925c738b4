#include "services/roles/collector/member_resources.h"

#include <algorithm>
#include <utility>

#include "services/roles/collector/list_again.h"

namespace shiplog::collector {
namespace {

constexpr int kPodsAtOnce = 250;
constexpr size_t kEmptyPage = 1'000;  // counts as so many objects
/// A server sends a bookmark every minute. A stream without one has died, and is begun again where it was.
constexpr Millis kSilent{300'000};
constexpr Millis kFirstPause{5'000};
/// Shorter than it takes until an exceeded limit is forgiven.
constexpr Millis kLongestPause{120'000};
/// Watches that end without an event, one after the other: perhaps this user may list, but not watch.
constexpr int kMostFailures = 3;

Millis pause_after(int failures) {
  return {std::min(kLongestPause.value, kFirstPause.value << std::clamp(failures - 1, 0, 10))};
}

}  // namespace

void PageGate::enter(std::function<void()> run) {
  if (free_ == 0) return waiting_.push_back(std::move(run));
  --free_;
  run();
}

void PageGate::leave() {
  ++free_;
  if (waiting_.empty()) return;
  const auto next = std::move(waiting_.front());
  waiting_.pop_front();
  enter(next);
}

namespace {

ObjectParts part(std::string name, std::vector<ObjectParts> parts = {}) { return {std::move(name), std::move(parts)}; }

/// What MemberTotals reads of nodes and pods, and take_event(): a small part of what they have.
const ObjectParts& parts_of_nodes() {
  static const ObjectParts parts =
      part("", {part("metadata", {part("name"), part("resourceVersion")}),
                part("status", {part("conditions", {part("type"), part("status")}), part("allocatable")})});
  return parts;
}

const ObjectParts& parts_of_pods() {
  static const ObjectParts container = part("", {part("resources", {part("requests")}), part("restartPolicy")});
  static const ObjectParts parts =
      part("", {part("metadata", {part("namespace"), part("name"), part("resourceVersion")}),
                part("spec", {part("nodeName"), part("containers", container.parts),
                              part("initContainers", container.parts), part("overhead")}),
                part("status", {part("phase")})});
  return parts;
}

}  // namespace

MemberResources::MemberResources(Members& members, std::shared_ptr<PageGate> gate, std::string cluster)
    : members_{members}, gate_{std::move(gate)}, cluster_{std::move(cluster)} {
  const MemberTotals::Limits limits;
  collections_[0] = {.which = Which::kNodes, .path = "/api/v1/nodes", .limit = kPageLimit, .most = limits.nodes};
  collections_[1] = {.which = Which::kPods, .path = "/api/v1/pods", .limit = kPodsAtOnce, .most = limits.pods};
}

bool MemberResources::known() const {
  return !closed_ && totals_.complete() && std::ranges::all_of(collections_, [](const Collection& collection) {
    return collection.listed && !collection.listing;
  });
}

void MemberResources::follow(const TraceContext& trace, UtcMillis now, std::function<void()> then) {
  if (closed_) return then();  // its slot was lost, or its cluster removed, while the probe was under way
  for (Collection& collection : collections_) see_to(collection, trace, now);
  waiting_.push_back(std::move(then));
  // Later lists are not waited for: what was known before stays reported until they are complete.
  const bool again = std::ranges::all_of(collections_, [](const Collection& each) { return !each.version.empty(); });
  if (again) {
    for (const auto& each : std::exchange(waiting_, {})) each();
  } else {
    answer_if_settled();
  }
}

void MemberResources::close() {
  closed_ = true;
  for (Collection& collection : collections_) {
    collection.watch = nullptr;
    ++collection.watch_number;
  }
  for (const auto& each : std::exchange(waiting_, {})) each();
}

void MemberResources::abandon() { const auto released = std::exchange(waiting_, {}); }

void MemberResources::answer_if_settled() {
  if (std::ranges::any_of(collections_, &Collection::listing)) return;
  for (const auto& each : std::exchange(waiting_, {})) each();
}

void MemberResources::see_to(Collection& collection, const TraceContext& trace, UtcMillis now) {
  if (collection.listing) return;
  if (std::exchange(collection.heard, false)) collection.heard_at = now;
  const bool old = now - collection.listed_at > list_again_after(cluster_);
  if (!collection.listed || collection.list_again || old) {
    if (collection.not_before <= now) begin_list(collection, trace, now);
    return;
  }
  if (!collection.running || now - collection.heard_at > kSilent) begin_watch(collection, now);
}

void MemberResources::begin_list(Collection& collection, const TraceContext& trace, UtcMillis now) {
  collection.watch = nullptr;
  ++collection.watch_number;
  collection.running = collection.listed = collection.list_again = false;
  collection.listing = true;
  collection.taken = 0;
  collection.token.clear();
  collection.page_limit = collection.limit;
  collection.which == Which::kNodes ? totals_.begin_nodes() : totals_.begin_pods();
  list(collection, trace, now);
}

void MemberResources::list(Collection& collection, const TraceContext& trace, UtcMillis now) {
  MemberRequest request;
  request.trace = trace;
  request.path = std::string{collection.path} + "?limit=" + std::to_string(collection.page_limit) +
                 (collection.token.empty() ? "" : "&continue=" + collection.token);
  request.max_response_bytes = kMostPageBytes;
  request.asks_for_less = collection.page_limit > kSmallPageLimit;
  gate_->enter([self = shared_from_this(), &collection, trace, now, request = std::move(request)] {
    if (self->closed_) return self->gate_->leave();
    self->members_.request(self->cluster_, request,
                           [self, &collection, trace, now](const Result<MemberResponse>& page) {
                             self->gate_->leave();
                             self->take_page(collection, trace, now, page);
                           });
  });
}

void MemberResources::take_page(Collection& collection, const TraceContext& trace, UtcMillis now,
                                const Result<MemberResponse>& page) {
  if (closed_) return;
  if (!page && page.error().code == ErrorCode::kTooLarge && collection.page_limit > kSmallPageLimit) {
    collection.page_limit = kSmallPageLimit;
    return list(collection, trace, now);
  }
  if (!page || page.value().status != 200) return end_list(collection, false, now);
  const Value& items = page.value().body["items"];
  for (const Value& item : items.items()) take(collection, item);
  // A page may be empty, but not one after the other for ever.
  collection.taken += items.size() == 0 ? kEmptyPage : items.size();
  if (!totals_.complete() || collection.taken > collection.most + kEmptyPage) return end_list(collection, false, now);
  const Value& metadata = page.value().body["metadata"];
  collection.token = metadata["continue"].str();
  if (!collection.token.empty()) return list(collection, trace, now);
  collection.version = metadata["resourceVersion"].str();
  end_list(collection, true, now);
}

void MemberResources::end_list(Collection& collection, bool complete, UtcMillis now) {
  collection.listing = false;
  collection.listed = complete;
  if (complete) {
    collection.which == Which::kNodes ? totals_.end_nodes() : totals_.end_pods();
    collection.listed_at = now;
    collection.list_failures = 0;
    begin_watch(collection, now);
  } else {
    collection.not_before = now + pause_after(++collection.list_failures);
  }
  answer_if_settled();
}

void MemberResources::begin_watch(Collection& collection, UtcMillis now) {
  collection.running = true;
  collection.heard_at = now;
  const uint64_t number = ++collection.watch_number;
  collection.watch = members_.watch_parts(
      cluster_, std::string{collection.path} + "?resourceVersion=" + collection.version,
      collection.which == Which::kNodes ? parts_of_nodes() : parts_of_pods(),
      [weak = weak_from_this(), &collection, number](const Value& event) {
        const auto self = weak.lock();
        if (self != nullptr && collection.watch_number == number) self->take_event(collection, event);
      },
      [weak = weak_from_this(), &collection, number](const Result<void>& end) {
        const auto self = weak.lock();
        if (self == nullptr || collection.watch_number != number) return;
        collection.running = false;
        ++self->ends_;
        if (collection.heard || end) return;
        ++collection.watch_failures;
        collection.not_before = collection.heard_at + pause_after(collection.watch_failures);
        const bool futile = collection.watch_failures >= kMostFailures;
        if (futile || end.error().code == ErrorCode::kGone) collection.list_again = true;
      });
}

void MemberResources::take_event(Collection& collection, const Value& event) {
  const auto type = event["type"].as_string();
  const Value& object = event["object"];
  if (type == "ERROR") {  // 410: what happened since is not known any more
    collection.running = false;
    collection.list_again = true;
    ++collection.watch_number;
    return;
  }
  collection.heard = true;
  collection.watch_failures = 0;
  if (const auto version = object["metadata"]["resourceVersion"].as_string(); !version.empty()) {
    collection.version = version;
  }
  if (type == "BOOKMARK") return;
  take(collection, object, type == "DELETED");
  if (totals_.complete()) return;
  collection.running = collection.listed = false;  // there are too many: nothing is known until a list has them all
  ++collection.watch_number;
}

void MemberResources::take(const Collection& collection, const Value& object, bool gone) {
  if (collection.which == Which::kNodes) {
    gone ? totals_.remove_node(object) : totals_.put_node(object);
  } else {
    gone ? totals_.remove_pod(object) : totals_.put_pod(object);
  }
}

}  // namespace shiplog::collector
