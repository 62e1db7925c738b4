#include "services/roles/collector/slice_collection.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "events/base/json.h"
#include "events/base/percent_encoding.h"
#include "events/dispatch.h"
#include "events/slots.h"
#include "services/runtime/log.h"

namespace shiplog::collector {
namespace {

constexpr const char* kPath = "/apis/discovery.k8s.io/v1/endpointslices";
/// Of a member: what is kept of it here.
constexpr size_t kMostKept = 4096;
constexpr size_t kMostKeptBytes = size_t{32} << 20U;
constexpr int kMostPages = 2000;
/// What the statuses of one member's slices may make the journal grow by; later ones replace earlier ones meanwhile.
constexpr double kReportBurst = 8.0 * 1024 * 1024;
constexpr double kReportPerSecond = 256.0 * 1024;
/// Several slices change about the same time.
constexpr Millis kGather{200};
constexpr Millis kBetweenReports{1'000};
constexpr Millis kTryAgain{30'000};
/// A server sends a bookmark every minute. A stream that has sent nothing from one look to the next has died.
constexpr Millis kLookEvery{300'000};
/// Everything is listed once more: against mistakes of the member's, and soon where not all could be read.
constexpr Millis kListAgain{1'800'000};
constexpr uint64_t kSpread = 600'000;
constexpr Millis kListAgainAfterProblem{60'000};
/// Names in a selector; beyond that all slices of Services are listed.
constexpr size_t kMostNamed = 50;
constexpr size_t kMostReports = 32;

std::string excluded() {
  return std::string{label::kSliceManagedBy} + " notin (" + kDispatchedSlices + "," + kImportedSlices + ")";
}

Value identified(Value slice) {
  slice.set("apiVersion", "discovery.k8s.io/v1");
  slice.set("kind", "EndpointSlice");
  return slice;
}

}  // namespace

SliceCollection::Followed::Followed() : budget{kReportBurst, kReportPerSecond} {}

/// A list under way, page by page.
struct SliceCollection::Listing {
  std::string cluster;
  std::shared_ptr<Followed> followed;
  std::string version, token;
  int limit = kPageLimit;
  int pages = 0;
};

std::optional<int> SliceCollection::slot_of_key(const ObjectKey& key) {
  if (!is_slices(key)) return std::nullopt;
  return slot_of(key.name);
}

void SliceCollection::note(const ObjectKey& work, const Value& value, std::vector<ObjectKey>& wake) {
  const std::string cluster = cluster_of_space(work.ns);
  if (cluster.empty()) return;
  const auto service = value.is_null() || deleting(value) ? std::nullopt : exported_service(value);
  const auto of_cluster = requests_.find(cluster);
  if (!service) {
    if (of_cluster == requests_.end() || of_cluster->second.erase(work) == 0) return;
    if (of_cluster->second.empty()) requests_.erase(of_cluster);
  } else {
    ExportedService& known = requests_[cluster][work];
    if (known == *service && value["status"].contains("manifestStatuses")) return;
    known = *service;
  }
  wake.push_back(key_of(cluster));
}

void SliceCollection::wake_cluster(const std::string& cluster, std::vector<ObjectKey>& wake) const {
  if (requests_.contains(cluster)) wake.push_back(key_of(cluster));
}

void SliceCollection::forget_cluster(const std::string& cluster) {
  requests_.erase(cluster);
  followed_.erase(cluster);
}

/// The requests stay: they are part of the state, and the same in every process.
void SliceCollection::forget_slot(int slot) {
  std::erase_if(followed_, [slot](const auto& each) { return slot_of(each.first) == slot; });
}

std::set<SliceCollection::SliceName> SliceCollection::exported_by(const std::string& cluster) const {
  std::set<SliceName> exported;
  const auto found = requests_.find(cluster);
  if (found == requests_.end()) return exported;
  for (const auto& [work, service] : found->second) exported.emplace(service.ns, service.name);
  return exported;
}

std::string SliceCollection::selector_of(const std::set<SliceName>& exported) {
  std::set<std::string> names;
  for (const auto& [ns, name] : exported) names.insert(name);
  std::string selector = label::kServiceName;
  if (names.size() <= kMostNamed) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
    selector += " in (" + list + ")";
  }
  return percent_encoded(selector + "," + excluded(), "-._");
}

void SliceCollection::take_in(Followed& followed, const Value& slice, bool gone) {
  const SliceName name{slice["metadata"]["namespace"].str(), slice["metadata"]["name"].str()};
  if (const auto known = followed.slices.find(name); known != followed.slices.end()) {
    followed.bytes -= to_json(known->second).size();
    followed.slices.erase(known);
  }
  if (gone || !followed.exported.contains({name.first, std::string{label_of(slice, label::kServiceName)}})) return;
  Value kept = identified(slice);
  const size_t size = to_json(kept).size();
  if (size > 2 * kMostSliceBytes || followed.slices.size() >= kMostKept || followed.bytes + size > kMostKeptBytes) {
    followed.problem = "not all EndpointSlices are read: of a cluster at most " + std::to_string(kMostKept) +
                       " are, with " + std::to_string(kMostKeptBytes) + " bytes, and none above " +
                       std::to_string(2 * kMostSliceBytes);
    return;
  }
  followed.bytes += size;
  followed.slices.emplace(name, std::move(kept));
}

void SliceCollection::reconcile(const TaskPtr& task) {
  const std::string cluster = task->key().name.str();
  const Cluster* known = task->state().cluster(cluster);
  std::set<SliceName> exported = exported_by(cluster);
  if (known == nullptr || known->sync_mode == "Pull" || !known->ready() || exported.empty()) {
    followed_.erase(cluster);  // a change of the cluster or of a request triggers the key
    return task->done();
  }
  auto& followed = followed_[cluster];
  if (followed != nullptr && followed->exported == exported && runs(*followed, cluster, task->now())) {
    return report(task, *followed);
  }
  const auto before = std::exchange(followed, std::make_shared<Followed>());
  if (before != nullptr) std::tie(followed->budget, followed->report_at) = std::tie(before->budget, before->report_at);
  followed->selector = selector_of(exported);
  followed->exported = std::move(exported);
  auto listing = std::make_shared<Listing>();
  listing->cluster = cluster;
  listing->followed = followed;
  list(task, listing);
}

bool SliceCollection::runs(Followed& followed, const std::string& cluster, UtcMillis now) {
  if (followed.stream == nullptr || followed.ended) return false;
  if (std::exchange(followed.heard, false)) followed.heard_at = now;
  const Millis until = followed.problem.empty()
                           ? Millis{kListAgain.value + static_cast<int64_t>(siphash128(cluster).lo % kSpread)}
                           : kListAgainAfterProblem;
  return now - followed.since < until && now - followed.heard_at < kLookEvery;
}

void SliceCollection::list(const TaskPtr& task, const std::shared_ptr<Listing>& listing) {
  MemberRequest request;
  request.path =
      std::string{kPath} + "?limit=" + std::to_string(listing->limit) + "&labelSelector=" + listing->followed->selector;
  if (!listing->token.empty()) request.path += "&continue=" + percent_encoded(listing->token, "-._~");
  request.timeout = Millis{30'000};
  request.trace = task->trace();
  request.max_response_bytes = kMostPageBytes;
  request.asks_for_less = listing->limit > kSmallPageLimit;
  members_.request(
      listing->cluster, std::move(request),
      [this, task, listing, alive = std::weak_ptr{alive_}](Result<MemberResponse> response) {
        if (alive.expired()) return;
        const auto current = followed_.find(listing->cluster);
        const std::shared_ptr<Followed> followed = listing->followed;
        if (current == followed_.end() || current->second != followed) return task->done();
        if (!response && response.error().code == ErrorCode::kTooLarge && listing->limit > kSmallPageLimit) {
          listing->limit = kSmallPageLimit;
          return list(task, listing);
        }
        if (!response) return task->retry(response.error());
        const int status = response.value().status;
        if (status == 404) {
          return unavailable(task, *followed, "the cluster does not serve discovery.k8s.io/v1");
        }
        if (status != 200) {
          return unavailable(task, *followed, "EndpointSlices cannot be listed: HTTP status " + std::to_string(status));
        }
        const Value& body = response.value().body;
        for (const Value& item : body["items"].items()) take_in(*followed, item, false);
        listing->version = body["metadata"]["resourceVersion"].str();
        listing->token = body["metadata"]["continue"].str();
        if (!listing->token.empty() && ++listing->pages < kMostPages) return list(task, listing);
        follow(task, followed, listing->version);
      });
}

void SliceCollection::follow(const TaskPtr& task, const std::shared_ptr<Followed>& followed,
                             const std::string& version) {
  const std::string cluster = task->key().name.str();
  followed->since = followed->heard_at = task->now();
  followed->wake = task->waker(kGather);
  followed->stream = members_.watch(
      cluster,
      std::string{kPath} + "?labelSelector=" + followed->selector +
          "&resourceVersion=" + percent_encoded(version, "-._~"),
      [weak = std::weak_ptr{followed}](const Value& event) {
        const auto self = weak.lock();
        if (self == nullptr) return;
        self->heard = true;
        const auto what = event["type"].as_string();
        if (what == "ERROR") {
          self->ended = true;
        } else if (what == "ADDED" || what == "MODIFIED" || what == "DELETED") {
          take_in(*self, event["object"], what == "DELETED");
        } else {
          return;
        }
        self->wake();
      },
      [weak = std::weak_ptr{followed}](const Result<void>&) {
        const auto self = weak.lock();
        if (self == nullptr) return;
        self->ended = true;
        self->wake();
      });
  report(task, *followed);
}

/// What was reported before stays.
void SliceCollection::unavailable(const TaskPtr& task, Followed& followed, const std::string& problem) {
  followed.ended = true;
  const std::string cluster = task->key().name.str();
  DecisionBuilder seen;
  for (const auto& [key, service] : requests_[cluster]) {
    const Value& work = task->state().value_of(key);
    if (work.is_null() || deleting(work)) continue;
    CollectedSlices collected = reported_slices(work).value_or(CollectedSlices{});
    collected.problem = problem;
    Value statuses = statuses_of_slices(work, collected);
    if (work["status"]["manifestStatuses"] == statuses) continue;
    if (seen.size() == kMostReports || !seen.try_add(WorkStatusObserved{key, std::move(statuses), 0})) break;
  }
  if (seen.empty()) return task->done(kTryAgain);
  task->append_observation(std::get<Decision>(std::move(seen).build()),
                           [task](const Result<Revision>&) { task->done(kTryAgain); });
}

void SliceCollection::report(const TaskPtr& task, Followed& followed) {
  const UtcMillis now = task->now();
  if (now < followed.report_at) return task->done(followed.report_at - now);
  const std::string cluster = task->key().name.str();
  std::map<SliceName, std::vector<Value>> by_service;
  for (const auto& [name, slice] : followed.slices) {
    by_service[{name.first, std::string{label_of(slice, label::kServiceName)}}].push_back(slice);
  }
  DecisionBuilder seen;
  bool held_back = false;
  for (const auto& [key, service] : requests_[cluster]) {
    const Value& work = task->state().value_of(key);
    if (work.is_null() || deleting(work)) continue;
    CollectedSlices collected = collected_slices(by_service[{service.ns, service.name}], service);
    if (!followed.problem.empty()) collected.problem = followed.problem;
    Value statuses = statuses_of_slices(work, collected);
    if (work["status"]["manifestStatuses"] == statuses) continue;
    held_back = seen.size() == kMostReports ||
                !followed.budget.take(static_cast<double>(to_json(statuses).size()), now) ||
                !seen.try_add(WorkStatusObserved{key, std::move(statuses), 0});
    if (held_back) break;
  }
  const Millis again = held_back ? kBetweenReports : followed.problem.empty() ? kLookEvery : kListAgainAfterProblem;
  if (seen.empty()) return task->done(again);
  followed.report_at = now + kBetweenReports;
  // What arrives meanwhile triggers the key; a refusal means that a Work was just removed.
  task->append_observation(
      std::get<Decision>(std::move(seen).build()),
      [task, again](const Result<Revision>& appended) { appended ? task->done(again) : task->done(kBetweenReports); });
}

}  // namespace shiplog::collector
