#include "services/programs/estimator/member_view.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "events/base/thread_name.h"
#include "services/api/search/member_source.h"
#include "services/programs/estimator/node_rooms.h"
#include "services/runtime/log.h"
#include "services/runtime/thread_loop.h"

namespace shiplog::estimator {
namespace {

constexpr Millis kAnsweredWithin{1'000};
constexpr Millis kAnswerTimeout{2'000};  // schedulers wait 3 s for all their estimators
constexpr Millis kLookAgain{20};
constexpr Millis kLookAtCredentialsEvery{10'000};

/// Of one kind, as of the changes that were taken in last.
struct WatchedKind {
  std::shared_ptr<api::MemberSource> source;
  MemberObjects::Objects MemberObjects::*into;           // nullptr: nodes, which become capacities
  std::optional<api::CachedCollection::Mark> mark = {};  // nullopt: nothing was taken in
  std::set<std::string> names = {};
};

/// The kinds; the last one is for gate ResourceQuotaEstimate: without it the estimator may lack the permission.
using Kind = std::pair<api::CachedScope, MemberObjects::Objects MemberObjects::*>;
std::vector<Kind> kinds(const std::string& cluster, bool with_quotas) {
  std::vector<Kind> all{{{cluster, "", "v1", "nodes", "Node", "", false}, nullptr},
                        {{cluster, "", "v1", "pods", "Pod", "", true}, &MemberObjects::pods},
                        {{cluster, "apps", "v1", "deployments", "Deployment", "", true}, &MemberObjects::deployments},
                        {{cluster, "apps", "v1", "replicasets", "ReplicaSet", "", true}, &MemberObjects::replica_sets}};
  if (with_quotas) {
    all.push_back({{cluster, "", "v1", "resourcequotas", "ResourceQuota", "", true}, &MemberObjects::resource_quotas});
  }
  return all;
}

}  // namespace

struct MemberView::Impl {
  Impl(const std::string& cluster, MemberClient a_member, Random& random, bool with_quotas)
      : member{std::move(a_member)} {
    shared.loop = &loop;
    shared.random = &random;
    shared.client = [this](const std::string&) -> Result<std::shared_ptr<HttpClient>> { return member.current(); };
    shared.on_problem = [](const api::CachedScope& scope, const std::string& problem, bool) {
      log::warn("estimator.watch_failed",
                {log::kv("cluster", scope.cluster), log::kv("path", scope.path()), log::kv("reason", problem)});
    };
    const auto budget = std::make_shared<api::CacheBudget>(SIZE_MAX);  // it has one member, and needs all of it
    for (const auto& [scope, into] : kinds(cluster, with_quotas)) {
      watched.push_back({std::make_shared<api::MemberSource>(scope, shared, budget, [] {}), into});
    }
    loop.post([this] {
      name_thread("member");
      client = member.current();
      for (const WatchedKind& one : watched) one.source->start();
      look_at_credentials();
    });
  }

  ~Impl() {
    stop();
    loop.stop();
  }

  void stop() {
    for (const WatchedKind& one : watched) one.source->stop();
  }

  /// Watches begin anew when the kubeconfig has another address or other credentials.
  void look_at_credentials() {
    if (const auto now = member.current(); now != client) {
      client = now;
      for (const WatchedKind& one : watched) one.source->use_other_client();
    }
    loop.post_after(kLookAtCredentialsEvery, [this] { look_at_credentials(); });
  }

  /// A connection that is dead without notice ends a watch after minutes only.
  void see_that_it_answers() {
    if (asking || loop.now() - answered_at < kAnsweredWithin) return;
    asking = true;
    HttpRequest request;
    request.target = "/api/v1/nodes?limit=1";
    request.headers = {{"Accept", "application/json"}};
    const auto used = member.current();
    used->request(std::move(request), kAnswerTimeout, [this, name = used->name()](Result<HttpResponse> response) {
      const bool ok = response && response.value().status == 200;
      const std::string why = !response ? response.error().message
                              : ok      ? ""
                                        : name + ": HTTP status " + std::to_string(response.value().status);
      loop.post([this, why] {
        asking = false;
        silent = why;
        if (why.empty()) answered_at = loop.now();
        answer();
      });
    });
  }

  void answer() {
    if (waiting.empty()) return;
    if (silent.empty() && loop.now() - answered_at >= kAnsweredWithin) return see_that_it_answers();
    const auto settled = [](const WatchedKind& one) { return one.source->settled(); };
    if (silent.empty() && !std::ranges::all_of(watched, settled)) {
      return loop.post_after(kLookAgain, [this] { answer(); });
    }
    const auto found = current();
    for (const Then& then : std::exchange(waiting, {})) then(found);
    silent.clear();
  }

  Result<const MemberObjects*> current() {
    if (!silent.empty()) return Error{ErrorCode::kUnavailable, silent};
    for (WatchedKind& one : watched) {
      const std::string problem = one.source->problem();
      if (!problem.empty() || !one.source->collection().listed()) {
        return Error{ErrorCode::kUnavailable,
                     one.source->scope().path() + ": " + (problem.empty() ? "it is not listed yet" : problem)};
      }
      SHIPLOG_TRY(take_in(one));
    }
    rooms.update(objects.nodes);
    return &objects;
  }

  Result<void> take_in(WatchedKind& one) {
    const api::CachedCollection& collection = one.source->collection();
    const auto changes = one.mark ? collection.changes(*one.mark, api::CachedCollection::kMostChanges) : std::nullopt;
    if (!changes) return take_all(one);
    for (const api::CachedChange& change : *changes) {
      const std::string name = api::CachedCollection::position_text(*change.object);
      if (change.what == api::CachedChange::What::kDeleted) {
        remove(one, name);
      } else {
        SHIPLOG_TRY(Value object, change.object->value(shared.compressor));
        put(one, name, std::move(object));
      }
    }
    *one.mark += changes->size();
    return ok();
  }

  Result<void> take_all(WatchedKind& one) {
    auto moment = one.source->collection().now("", "", SIZE_MAX);
    std::set<std::string> gone = std::exchange(one.names, {});
    for (const auto& object : moment.objects) {
      const std::string name = api::CachedCollection::position_text(*object);
      gone.erase(name);
      SHIPLOG_TRY(Value value, object->value(shared.compressor));
      put(one, name, std::move(value));
    }
    for (const std::string& name : gone) remove(one, name);
    one.mark = moment.mark;
    return ok();
  }

  void put(WatchedKind& one, const std::string& name, Value object) {
    one.names.insert(name);
    if (one.into == nullptr) return rooms.put_node(name, object);
    if (one.into == &MemberObjects::pods) rooms.put_pod(name, object);
    (objects.*one.into)[name] = std::move(object);
  }
  void remove(WatchedKind& one, const std::string& name) {
    one.names.erase(name);
    if (one.into == nullptr) return rooms.remove_node(name);
    if (one.into == &MemberObjects::pods) rooms.remove_pod(name);
    (objects.*one.into).erase(name);
  }

  ThreadLoop loop;
  MemberClient member;
  api::MemberSource::Shared shared;
  std::vector<WatchedKind> watched;
  std::shared_ptr<HttpClient> client;  // that the watches use
  MemberObjects objects;
  NodeRooms rooms;
  std::vector<Then> waiting;
  bool asking = false;
  UtcMillis answered_at;
  std::string silent;  // why the member did not answer
};

MemberView::MemberView(const std::string& cluster, MemberClient client, Random& random, bool with_quotas)
    : impl_{std::make_unique<Impl>(cluster, std::move(client), random, with_quotas)} {}

MemberView::~MemberView() = default;

void MemberView::stop() { impl_->stop(); }

void MemberView::with(Then then) {
  impl_->loop.post([impl = impl_.get(), then = std::move(then)]() mutable {
    impl->waiting.push_back(std::move(then));
    if (impl->waiting.size() == 1) impl->answer();
  });
}

}  // namespace shiplog::estimator
