#include "services/roles/collector/slice_collection.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "events/base/json.h"
#include "events/base/percent_encoding.h"
#include "events/dispatch.h"
#include "events/slots.h"
#include "services/roles/collector/list_again.h"
#include "services/runtime/log.h"

namespace shiplog::collector {
namespace {

constexpr const char* kPath = "/apis/discovery.k8s.io/v1/endpointslices";
constexpr int kMostSlicePages = 2000;
/// What the statuses of one member's slices may make the journal grow by; later ones replace earlier ones meanwhile.
constexpr double kReportBurst = 8.0 * 1024 * 1024;
constexpr double kReportPerSecond = 256.0 * 1024;
/// Several slices change about the same time.
constexpr Millis kGather{200};
constexpr Millis kBetweenReports{1'000};
constexpr Millis kTryAgain{30'000};
/// A server sends a bookmark every minute. A stream that has sent nothing from one look to the next has died.
constexpr Millis kSlicesLookEvery{300'000};
/// Everything once more, where not all could be read.
constexpr Millis kListAgainAfterProblem{60'000};
/// Services that are requested one after the other are listed together: a list has the slices of all.
constexpr Millis kBetweenLists{2'000};
constexpr int64_t kBetweenListsForEach = 5;  // milliseconds, for each slice that is here
/// Names in a selector; beyond that all slices of Services are listed.
constexpr size_t kMostNamed = 50;
constexpr size_t kMostReports = 32;

std::string excluded() {
  return std::string{label::kSliceManagedBy} + " notin (" + kDispatchedSlices + "," + kImportedSlices + ")";
}

}  // namespace

SliceCollection::Followed::Followed(ServiceNames exported)
    : selector{selector_of(exported)}, slices{std::move(exported)}, budget{kReportBurst, kReportPerSecond} {}

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

SliceCollection::ServiceNames SliceCollection::exported_by(const std::string& cluster) const {
  ServiceNames exported;
  const auto found = requests_.find(cluster);
  if (found == requests_.end()) return exported;
  for (const auto& [work, service] : found->second) exported.emplace(service.ns, service.name);
  return exported;
}

std::string SliceCollection::selector_of(const ServiceNames& exported) {
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

void SliceCollection::reconcile(const TaskPtr& task) {
  const std::string cluster = task->key().name.str();
  const Cluster* known = task->state().cluster(cluster);
  ServiceNames exported = exported_by(cluster);
  if (known == nullptr || known->sync_mode == "Pull" || !known->ready() || exported.empty()) {
    followed_.erase(cluster);  // a change of the cluster or of a request triggers the key
    return task->done();
  }
  auto& followed = followed_[cluster];
  if (followed != nullptr && runs(*followed, cluster, task->now())) {
    MemberSlices& slices = followed->slices;
    slices.keep_only(exported);
    if (slices.exported() == exported) return report(task, *followed);
    const Millis between{kBetweenLists.value + kBetweenListsForEach * static_cast<int64_t>(slices.size())};
    const UtcMillis then = followed->since + between;
    if (task->now() < then) return report(task, *followed, then);
  }
  const auto before = std::exchange(followed, std::make_shared<Followed>(std::move(exported)));
  if (before != nullptr) {
    std::tie(followed->budget, followed->report_at, followed->next) =
        std::tie(before->budget, before->report_at, before->next);
  }
  auto listing = std::make_shared<Listing>();
  listing->cluster = cluster;
  listing->followed = followed;
  list(task, listing);
}

bool SliceCollection::runs(Followed& followed, const std::string& cluster, UtcMillis now) {
  if (followed.stream == nullptr || followed.ended) return false;
  if (std::exchange(followed.heard, false)) followed.heard_at = now;
  const Millis until = followed.slices.problem().empty() ? list_again_after(cluster) : kListAgainAfterProblem;
  return now - followed.since < until && now - followed.heard_at < kSlicesLookEvery;
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
        for (const Value& item : body["items"].items()) followed->slices.take_in(item, false);
        listing->version = body["metadata"]["resourceVersion"].str();
        listing->token = body["metadata"]["continue"].str();
        if (!listing->token.empty() && ++listing->pages < kMostSlicePages) return list(task, listing);
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
          self->slices.take_in(event["object"], what == "DELETED");
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
    if (work["status"]["manifestStatuses"][0]["status"]["problem"].as_string() == problem) continue;
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

/// False: there is no room for it now.
bool SliceCollection::report_one(const TaskPtr& task, Followed& followed, const ObjectKey& request,
                                 const ExportedService& service, DecisionBuilder& seen) {
  const Value& work = task->state().value_of(request);
  if (work.is_null() || deleting(work)) return true;
  const MemberSlices::Name name{service.ns, service.name};
  if (!followed.slices.exported().contains(name)) return true;  // requested since, and not listed yet
  if (!followed.slices.changed(name) && work["status"].contains("manifestStatuses")) return true;
  const CheckedSlices* slices = followed.slices.of(name);
  CollectedSlices collected = slices == nullptr ? CollectedSlices{} : within_limits(*slices);
  if (!followed.slices.problem().empty()) collected.problem = followed.slices.problem();
  Value statuses = statuses_of_slices(work, collected);
  if (work["status"]["manifestStatuses"] == statuses) return true;
  return seen.size() < kMostReports &&
         followed.budget.take(static_cast<double>(to_json(statuses).size()), task->now()) &&
         seen.try_add(WorkStatusObserved{request, std::move(statuses), 0});
}

void SliceCollection::again_all(const std::string& cluster) {
  const auto found = followed_.find(cluster);
  if (found != followed_.end() && found->second != nullptr) found->second->slices.all_changed();
}

void SliceCollection::report(const TaskPtr& task, Followed& followed, std::optional<UtcMillis> at_latest) {
  const UtcMillis now = task->now();
  const auto within = [&](Millis time) { return at_latest ? std::min(time, *at_latest - now) : time; };
  if (now < followed.report_at) return task->done(within(followed.report_at - now));
  const std::string cluster = task->key().name.str();
  const auto& requests = requests_[cluster];
  DecisionBuilder seen;
  std::vector<MemberSlices::Name> done;
  auto at = requests.lower_bound(followed.next);
  for (size_t count = 0; count < requests.size(); ++count, ++at) {
    if (at == requests.end()) at = requests.begin();
    if (!report_one(task, followed, at->first, at->second, seen)) break;
    done.emplace_back(at->second.ns, at->second.name);
  }
  const bool held_back = done.size() < requests.size();
  followed.next = held_back ? at->first : ObjectKey{};
  // Two requests may be of one Service: it has changed for the one that is held back.
  const MemberSlices::Name rest = held_back ? MemberSlices::Name{at->second.ns, at->second.name} : MemberSlices::Name{};
  for (const MemberSlices::Name& name : done) {
    if (name != rest) followed.slices.forget_change(name);
  }
  const bool complete = followed.slices.problem().empty();
  const Millis again = within(held_back ? kBetweenReports : complete ? kSlicesLookEvery : kListAgainAfterProblem);
  if (seen.empty()) return task->done(again);
  followed.report_at = now + kBetweenReports;
  // What arrives meanwhile triggers the key; a refusal means that a Work was just removed.
  task->append_observation(
      std::get<Decision>(std::move(seen).build()),
      [this, task, again, cluster, alive = std::weak_ptr{alive_}](const Result<Revision>& appended) {
        if (appended) return task->done(again);
        if (!alive.expired()) again_all(cluster);
        task->done(kBetweenReports);
      });
}

}  // namespace shiplog::collector
