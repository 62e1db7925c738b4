#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/control.h"
#include "services/programs/shiplogd/front_proxy.h"
#include "services/roles/kubernetes_service/decide.h"
#include "services/runtime/append_without_lease.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// What a process of a control plane brings with it when it starts.
struct StartUp {
  /// Gates and options that its command line sets; the others stay as the journal has them.
  std::vector<std::pair<std::string, bool>> feature_gates;
  std::vector<OptionSetting> fleet_options;
  /// The newest fold version that all living processes of the fleet support; nullopt: not known.
  std::optional<uint32_t> fold_version_of_all = {};
  /// Where its API server is reached; not set: it has none.
  std::function<kubernetes_service::ServerAddress()> server = {};
  /// Whom aggregated servers may trust; nullopt: this process forwards no requests.
  std::optional<ExtensionAuthentication> extension_authentication = {};
};

/// Activates the fold version of this build once all living processes support it (`of_all`), as processes that do not
/// stop at that entry. In a new fleet at once.
Decided decide_fold_version(const State& state, std::optional<uint32_t> of_all);
/// The initial roles and bindings of RBAC that the state lacks.
Decided decide_access(const State& state);

/// What a process writes before its roles start, in order: the fold version, gates and options, the
/// namespaces that every control plane has, and with an API server the initial roles of RBAC, the APIServices, and the
/// Service of this API server. Each is a decision of its own, since the next one depends on it: events mean what the
/// active fold version defines, and Services get addresses of the ranges that the options set.
///
/// Every process decides this for itself, without a lease, as gates, options and the address are its own. What has been
/// written is not written again: a step decides only about what the state lacks, and expects that it is still lacking.
/// `clock` outlives the steps.
std::vector<DecisionStep> start_up_steps(StartUp start, const Clock& clock);

}  // namespace shiplog
