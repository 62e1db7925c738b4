// Lists and watches of one type in one member.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "services/roles/collector/list_again.h"
#include "services/roles/collector/watch.h"

namespace shiplog::collector {
namespace {

constexpr const char* kSelector = "labelSelector=karmada.io%2Fmanaged%3Dtrue";
/// From the end of a stream to the next list.
constexpr Millis kPause{1000};
constexpr Millis kKindMissing{30'000};
/// A server sends a bookmark every minute. A stream that has sent nothing from one look to the next has died.
constexpr Millis kWatchLookEvery{300'000};
/// Objects of one type in one member that a control plane has put there.
constexpr size_t kMostListed = 200'000;
constexpr int kMostListPages = 50'000;

}  // namespace

/// A list under way, page by page.
struct MemberWatches::Listing {
  std::string cluster;
  Served served;
  std::set<std::pair<std::string, std::string>> names;
  std::string resource_version, token;
  int limit = kPageLimit;
  int pages = 0;
  uint64_t asked = 0;
};

void MemberWatches::reconcile_watch(const TaskPtr& task) {
  const ObjectKey& key = task->key();
  auto& all_wanted = slot_of_cluster(key.name).wanted;
  const auto wanted = all_wanted.find(key);
  const Cluster* cluster = task->state().cluster(key.name);
  if (wanted == all_wanted.end() || cluster == nullptr || cluster->sync_mode == "Pull" || !cluster->ready()) {
    watches_.erase(key);  // a change of the cluster's condition triggers the key
    return task->done();
  }
  if (const auto running = watches_.find(key); running != watches_.end() && !running->second->ended) {
    Watch& watch = *running->second;
    if (std::exchange(watch.heard, false)) watch.heard_at = task->now();
    const UtcMillis due = in_doubt(task->state(), watch) ? watch.since + kSettled
                                                         : std::min(watch.since + list_again_after(to_string(key)),
                                                                    watch.heard_at + kWatchLookEvery);
    if (task->now() < due) return task->done(due - task->now());
  }
  watches_.erase(key);
  auto listing = std::make_shared<Listing>();
  listing->cluster = key.name;
  listing->served = wanted->second.served;
  wanted->second.begun = true;
  listing->asked = ++moments_;
  list(task, std::move(listing));
}

void MemberWatches::list(const TaskPtr& task, std::shared_ptr<Listing> listing) {
  MemberRequest request;
  request.path = listing->served.collection("") + "?limit=" + std::to_string(listing->limit) + "&" + kSelector;
  if (!listing->token.empty()) request.path += "&continue=" + listing->token;
  request.timeout = Millis{30'000};
  request.trace = task->trace();
  request.max_response_bytes = kMostPageBytes;
  request.asks_for_less = listing->limit > kSmallPageLimit;
  members_.request(
      listing->cluster, std::move(request),
      [this, task, listing,
       alive = std::weak_ptr{slot_of_cluster(listing->cluster).inbox}](Result<MemberResponse> response) {
        // The slot was lost meanwhile, or the role is destroyed; then there is no `this` either.
        const auto inbox = alive.lock();
        if (inbox == nullptr || inbox != slot_of_cluster(listing->cluster).inbox) return;
        if (!response && response.error().code == ErrorCode::kTooLarge && listing->limit > kSmallPageLimit) {
          listing->limit = kSmallPageLimit;
          return list(task, listing);
        }
        if (!response) return task->retry(response.error());
        const Value& body = response.value().body;
        if (response.value().status == 404) return task->done(kKindMissing);
        if (response.value().status != 200) {
          return task->retry({ErrorCode::kUnavailable, "cluster " + listing->cluster + ": listing " +
                                                           listing->served.type() + ": HTTP status " +
                                                           std::to_string(response.value().status)});
        }
        if (listing->names.size() + body["items"].size() > kMostListed || ++listing->pages > kMostListPages) {
          return task->retry({ErrorCode::kTooLarge, "cluster " + listing->cluster + ": listing " +
                                                        listing->served.type() + ": there are more than " +
                                                        std::to_string(kMostListed) + " objects"});
        }
        for (const Value& item : body["items"].items()) {
          // Items of a list have no kind.
          Value object = item;
          std::string kind = body["kind"].str();
          if (object["kind"].is_empty() && kind.ends_with("List")) {
            object.set("kind", kind.substr(0, kind.size() - 4));
            object.set("apiVersion", body["apiVersion"]);
          }
          listing->names.emplace(object["metadata"]["namespace"].str(), object["metadata"]["name"].str());
          inbox->put(Arrived{listing->cluster,
                             listing->served.type(),
                             Arrived::What::kPresent,
                             std::move(object),
                             {},
                             {},
                             listing->asked});
        }
        listing->resource_version = body["metadata"]["resourceVersion"].str();
        listing->token = body["metadata"]["continue"].str();
        listing->token.empty() ? begin(task, listing) : list(task, listing);
      });
}

void MemberWatches::begin(const TaskPtr& task, const std::shared_ptr<Listing>& listing) {
  const std::string type = listing->served.type();
  const auto& inbox_of_slot = slot_of_cluster(listing->cluster).inbox;
  inbox_of_slot->put(Arrived{listing->cluster, type, Arrived::What::kListed, {}, std::move(listing->names)});
  auto watch = std::make_shared<Watch>();
  watch->since = watch->heard_at = task->now();
  watch->wake = task->waker(kPause);
  watch->stream = members_.watch(
      listing->cluster,
      listing->served.collection("") + "?" + kSelector + "&resourceVersion=" + listing->resource_version,
      [alive = std::weak_ptr{inbox_of_slot}, cluster = listing->cluster, type,
       weak = std::weak_ptr{watch}](const Value& event) {
        const auto inbox = alive.lock();
        const auto self = weak.lock();
        if (inbox == nullptr || self == nullptr) return;
        self->heard = true;
        const auto event_type = event["type"].as_string();
        if (event_type == "ADDED" || event_type == "MODIFIED") {
          inbox->put(Arrived{cluster, type, Arrived::What::kPresent, event["object"], {}});
        } else if (event_type == "DELETED") {
          inbox->put(Arrived{cluster, type, Arrived::What::kGone, event["object"], {}});
        } else if (event_type == "ERROR") {  // 410: too far behind; begin again with a list
          self->ended = true;
          self->wake();
        }
      },
      [weak = std::weak_ptr{watch}](const Result<void>&) {
        const auto self = weak.lock();
        if (self == nullptr) return;
        self->ended = true;
        self->wake();
      });
  watches_[task->key()] = std::move(watch);
  task->done(kWatchLookEvery);
}

}  // namespace shiplog::collector
