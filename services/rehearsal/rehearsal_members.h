#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "events/state/quota.h"
#include "events/state/state.h"
#include "services/adapters/members/members.h"
#include "services/runtime/manual_executor.h"

namespace shiplog {

/// The members of a rehearsal, as values: what a member contains is what its Works have applied there, with the status
/// that was last collected. A member is filled when the first of its Works changes, so that members which nothing moves
/// to or from cost nothing. Workloads that are written become ready after `ready_after`, as many of their replicas as
/// the member has room for according to the Cluster's status.resourceSummary; without one, all.
/// A member that is down answers nothing. One that is not is healthy, and serves the APIs of the Cluster's status;
/// nodes are not simulated, as the rehearsal does not probe members that stay (see rehearse()), and lists of pods are
/// empty.
class RehearsalMembers final : public Members {
 public:
  struct Options {
    const State* state = nullptr;
    ManualExecutor* executor = nullptr;
    Millis ready_after{30'000};
    /// The first request that writes to a member.
    std::function<void(const std::string& cluster)> on_first_write = {};
  };
  explicit RehearsalMembers(Options options);
  ~RehearsalMembers() override;

  /// From now on nothing answers.
  void set_down(const std::string& cluster);
  /// What an entry has changed, before the roles see it.
  void on_folded(const std::vector<Change>& changes);

  /// The clusters whose room has changed since the last call, with what their status.resourceSummary is now.
  std::vector<std::pair<std::string, Value>> changed_summaries();
  /// Replicas of a workload that a member has no room for.
  struct Shortage {
    std::string cluster;
    ObjectKey object;
    int64_t wanted = 0, running = 0;
    std::string resource;  ///< that is short
  };
  std::vector<Shortage> shortages() const;

  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override;
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override;

 private:
  struct Contained;
  struct Watcher;
  struct Member;
  struct Addressed;

  Member& member(const std::string& cluster);
  Member& filled(const std::string& cluster, const std::vector<Change>& changing = {});
  void fill_from(const std::string& cluster, Member& member, const Value& work);
  Addressed address_of(std::string_view path) const;
  MemberResponse discovery(const std::string& cluster, std::string_view path) const;
  MemberResponse handle(const std::string& cluster, const MemberRequest& request);
  MemberResponse list(Member& member, const Addressed& address) const;
  MemberResponse store(const std::string& cluster, Member& member, const ObjectKey& key, Value object, bool created);
  void drop(const std::string& cluster, Member& member, const ObjectKey& key);
  void emit(Member& member, const ObjectKey& key, const char* event, const Value& object);
  void come_true(const std::string& cluster, const ObjectKey& key, uint64_t version);
  Value status_of(const std::string& cluster, const Contained& contained) const;
  const Value& status_elsewhere(const Value& object) const;
  void count(Contained& contained) const;
  int64_t room_for(const std::string& cluster, Member& member, const ResourceList& request, int64_t most,
                   std::string* short_of) const;
  void use(Member& member, const ResourceList& request, int64_t replicas);
  void retry_waiting(const std::string& cluster, Member& member);

  Options options_;
  std::map<std::string, std::unique_ptr<Member>> members_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
