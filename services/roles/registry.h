#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/decision.h"
#include "services/http/tls.h"
#include "services/interpreter/customizations.h"
#include "services/roles/apiservice_availability/decide.h"
#include "services/roles/cluster_monitor/decide.h"
#include "services/roles/collector/summary_change.h"
#include "services/roles/cron_scaler/decide.h"
#include "services/roles/kubernetes_service/decide.h"
#include "services/roles/service_ip_repair/decide.h"

namespace shiplog {

namespace feeds {
class FeedPublisher;
}

class Kinds;
class Members;
class QuestionResolver;
class Recorder;
class Replica;
class Role;

/// What a process gives to its roles. Everything outlives them. What a process does not have stays nullptr or empty,
/// and the roles that need it cannot be made there.
struct RoleContext {
  Replica* ephemera = nullptr;
  Members* members = nullptr;
  QuestionResolver* interpreters = nullptr;  ///< webhooks and scripts; nullptr: what needs them is retried
  QuestionResolver* estimators = nullptr;    ///< nullptr: room is judged by the clusters' summaries alone
  Millis estimators_have{3'000};             ///< to answer
  std::function<Result<Value>(const Value& manifest)> open_sealed = {};
  std::function<void(const ObjectKey& work, interpreter::InterpreterOperation operation, const Error& error)>
      unread_status = {};
  Recorder* recorder = nullptr;
  const Kinds* kinds = nullptr;  ///< those compiled in
  std::function<Result<KeyPair>()> authority = {};
  apiservice_availability::Observe api_availability = {};  ///< empty: of no APIService anything is observed
  std::function<kubernetes_service::ServerAddress()> server = {};
  service_ip_repair::AllocateAddresses allocate_addresses = {};
  cron_scaler::FindTimeZone find_time_zone = {};
  bool counts_resources = true;                    ///< of members, into the status of Clusters
  collector::SummaryThresholds summaries = {};     ///< when these counts are reported
  cluster_monitor::Periods monitor_periods = {};   ///< of Pull clusters
  uint64_t hash_every = 1000;                      ///< revisions between two StateHashed
  feeds::FeedPublisher* feed_publisher = nullptr;  ///< nullptr: feeds are not published
  std::string user_agent = {};
};

/// One role of shiplogd. Names are those of leases and of entries: they never change.
struct RoleEntry {
  std::string_view name;
  /// The role whose processes have this one too; empty: --roles names it.
  std::string_view part_of;
  std::string_view documentation;
  /// nullptr: needs no lease and reconciles nothing.
  std::unique_ptr<Role> (*make)(const RoleContext& context);
  /// For `replay --verify`: the decisions that entries with this role's fence carry.
  Result<Decided> (*decide)(const State& state, const ObjectKey& key, UtcMillis now);
  /// Why there is no decide function; empty where there is one.
  std::string_view not_replayed;
  /// The members, and with them the role's keys, are divided among the processes that have it.
  bool divided = false;
};

/// All of them, in the order of --help and of documentation.
std::span<const RoleEntry> all_roles();
/// By the name of the role or of one of its leases. nullptr: there is none of that name.
const RoleEntry* find_role(std::string_view name);
/// Those that --roles knows.
std::vector<std::string> selectable_roles();
/// Those that a process with these --roles has a lease for: these, and what is part of them.
std::vector<const RoleEntry*> roles_of_process(std::span<const std::string> selected);

/// What `replay --verify` runs again, by the name of the role.
std::map<std::string, Decide> all_decides();

}  // namespace shiplog
