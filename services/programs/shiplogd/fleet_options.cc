#include "services/programs/shiplogd/fleet_options.h"

#include <algorithm>

#include "events/kinds/pattern.h"
#include "events/state/api_selector.h"
#include "events/state/eviction_budget.h"
#include "events/state/fleet_options.h"

namespace shiplog {
namespace {

using Words = std::vector<std::string>;

/// Estimators are asked that often about each workload with replicas that are not ready.
constexpr Millis kShortestInterval{1000};

std::string listed(const Words& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

Error wrong(const std::string& option, const std::string& words) {
  return {ErrorCode::kInvalid, "--" + option + ": " + words};
}

bool known(const Words& names, const std::string& word) {
  return std::ranges::find(names, word.starts_with('-') ? word.substr(1) : word) != names.end();
}

Result<void> check_namespaces(const std::string& option, const Words& words) {
  for (const std::string& word : words) {
    if (word.empty()) return wrong(option, "between two commas there is nothing");
    std::string why;
    if (!is_pattern("^(?:" + word + ")$", &why)) {
      return wrong(option, "\"" + word + "\" is no regular expression: " + why);
    }
  }
  return ok();
}

Result<void> check_apis(const std::string& option, const Words& words) {
  for (const std::string& word : words) {
    if (auto checked = check_api_selector(word); !checked) return wrong(option, checked.error().message);
  }
  return ok();
}

Result<void> check_plugins(const std::string& option, const Words& words) {
  for (const std::string& word : words) {
    if (word == "*" || known(scheduler_plugin_names(), word)) continue;
    return wrong(option, "there is no plugin \"" + word + "\"; there are: *, " + listed(scheduler_plugin_names()) +
                             ", and -NAME to leave one out");
  }
  return ok();
}

/// Upstream's controllers that are always on here, within one role or another.
const Words& permanent_controllers() {
  static const Words kNames = {"agentcsrapproving",
                               "binding",
                               "bindingStatus",
                               "cluster",
                               "clusterStatus",
                               "clustertaintpolicy",
                               "endpointSlice",
                               "endpointsliceCollect",
                               "endpointsliceDispatch",
                               "execution",
                               "federatedResourceQuotaEnforcement",
                               "federatedResourceQuotaStatus",
                               "federatedResourceQuotaSync",
                               "gracefulEviction",
                               "namespace",
                               "unifiedAuth",
                               "workStatus",
                               "workloadRebalancer"};
  return kNames;
}

/// It asks for what is done anyway.
bool is_met_anyway(const std::string& word) {
  return std::ranges::find(permanent_controllers(), word) != permanent_controllers().end();
}

Result<void> check_controllers(const std::string& option, const Words& words) {
  if (std::ranges::find(words, "*") == words.end()) {
    return wrong(option, "without \"*\" nothing would be done; --roles selects the roles of a process");
  }
  for (const std::string& word : words) {
    if (word == "*" || known(optional_controller_names(), word) || is_met_anyway(word)) continue;
    return wrong(option, "\"" + word + "\" cannot be switched on or off; there are: " +
                             listed(optional_controller_names()) + "; --roles selects the roles of a process");
  }
  return ok();
}

Result<void> check_duration(const std::string& option, const Words& words) {
  const auto parsed = parse_duration(words.size() == 1 ? words.front() : "");
  if (!parsed || parsed.value().value < 0) {
    return wrong(option, "a duration such as 10m or 1h30m is expected, not \"" + listed(words) + "\"");
  }
  return ok();
}

Result<void> check(const std::string& option, const Words& words) {
  if (option == "skipped-propagating-namespaces") return check_namespaces(option, words);
  if (option == "skipped-propagating-apis" || option == "namespaced-policy-apis") return check_apis(option, words);
  if (option == "plugins") return check_plugins(option, words);
  if (option == "controllers") return check_controllers(option, words);
  if (option == "service-cluster-ip-range") {
    if (auto parsed = parse_service_networks(words); !parsed) return wrong(option, parsed.error().message);
    return ok();
  }
  if (option == "service-node-port-range") {
    if (auto parsed = parse_node_ports(words); !parsed) return wrong(option, parsed.error().message);
    return ok();
  }
  if (option == "resource-eviction-rate") {
    const auto rate = parse_eviction_rate(words.size() == 1 ? words.front() : listed(words));
    if (!rate) return wrong(option, rate.error().message);
    return ok();
  }
  if (option == "eviction-budget") {
    if (auto budget = parse_eviction_budget(words); !budget) return wrong(option, budget.error().message);
    return ok();
  }
  if (option == "graceful-eviction-timeout" || option == "unschedulable-threshold")
    return check_duration(option, words);
  if (option == "descheduling-interval") {
    SHIPLOG_TRY(check_duration(option, words));
    if (parse_duration(words.front()).value() >= kShortestInterval) return ok();
    return wrong(option, "at least 1s is expected, not \"" + listed(words) + "\"");
  }
  if (option == "no-execute-taint-eviction-purge-mode") {
    if (words == Words{"Gracefully"} || words == Words{"Directly"}) return ok();
    return wrong(option, "Gracefully or Directly is expected, not \"" + listed(words) + "\"");
  }
  if (words == Words{"true"} || words == Words{"false"}) return ok();
  return wrong(option, "true or false is expected, not \"" + listed(words) + "\"");
}

Words split(const std::string& text, char at) {
  Words words;
  if (text.empty()) return words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

Result<OptionSetting> parse_fleet_option(const std::string& name, const std::string& text) {
  if (FleetOptions any; !set_fleet_option(any, {name, {}})) {
    return Error{ErrorCode::kBadRequest, "there is no option " + name + " that decisions read"};
  }
  Words words = split(text, name.ends_with("-apis") ? ';' : ',');
  SHIPLOG_TRY(check(name, words));
  if (name == "controllers") std::erase_if(words, is_met_anyway);
  return OptionSetting{name, std::move(words)};
}

}  // namespace shiplog
