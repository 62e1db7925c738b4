#include "services/api/admission/container_restart_rules.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

#include "services/api/admission/field_checks.h"

// Source: validateContainerRestartPolicy, validateResizePolicy and validateStopSignal in pkg/apis/core/validation of
// Kubernetes 1.36, ContainerShouldRestart in pkg/api/v1/pod.

namespace shiplog::api {
namespace {

using SignalList = std::initializer_list<std::string_view>;

const SignalList kLinuxSignals = {
    "SIGABRT",     "SIGALRM",     "SIGBUS",      "SIGCHLD",     "SIGCLD",      "SIGCONT",     "SIGFPE",
    "SIGHUP",      "SIGILL",      "SIGINT",      "SIGIO",       "SIGIOT",      "SIGKILL",     "SIGPIPE",
    "SIGPOLL",     "SIGPROF",     "SIGPWR",      "SIGQUIT",     "SIGRTMAX",    "SIGRTMAX-1",  "SIGRTMAX-10",
    "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2",  "SIGRTMAX-3",  "SIGRTMAX-4",
    "SIGRTMAX-5",  "SIGRTMAX-6",  "SIGRTMAX-7",  "SIGRTMAX-8",  "SIGRTMAX-9",  "SIGRTMIN",    "SIGRTMIN+1",
    "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
    "SIGRTMIN+3",  "SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",  "SIGRTMIN+7",  "SIGRTMIN+8",  "SIGRTMIN+9",
    "SIGSEGV",     "SIGSTKFLT",   "SIGSTOP",     "SIGSYS",      "SIGTERM",     "SIGTRAP",     "SIGTSTP",
    "SIGTTIN",     "SIGTTOU",     "SIGURG",      "SIGUSR1",     "SIGUSR2",     "SIGVTALRM",   "SIGWINCH",
    "SIGXCPU",     "SIGXFSZ"};
const SignalList kWindowsSignals = {"SIGKILL", "SIGTERM"};

void check_signal(const Value& signal, const SignalList& known, const std::string& field, Causes& causes) {
  if (std::ranges::find(known, signal.as_string()) == known.end()) causes.not_supported(field, signal, known);
}

void check_restart_rule(const Value& rule, const std::string& field, Causes& causes) {
  constexpr size_t kMostValues = 255;
  const std::string_view action = rule["action"].as_string();
  if (action != "Restart" && action != "RestartAllContainers") {
    causes.not_supported(field + ".action", Value{action}, {"Restart", "RestartAllContainers"});
  }
  const Value& codes = rule["exitCodes"];
  if (codes.is_null()) return causes.required(field + ".exitCodes", "must be specified");
  const std::string_view op = codes["operator"].as_string();
  if (op != "In" && op != "NotIn") {
    causes.not_supported(field + ".exitCodes.operator", Value{op}, {"In", "NotIn"});
  }
  if (codes["values"].size() > kMostValues) {
    causes.too_many(field + ".exitCodes.values", codes["values"].size(), kMostValues);
  }
}

bool matches_code(const Value& codes, int64_t exit_code) {
  const bool listed =
      std::ranges::any_of(codes["values"].items(), [&](const Value& each) { return each.as_int() == exit_code; });
  const std::string_view op = codes["operator"].as_string();
  return (op == "In" && listed) || (op == "NotIn" && !listed);
}

/// Of a pod or of a container.
bool allows_restart(std::string_view policy, int64_t exit_code) {
  return policy == "OnFailure" ? exit_code != 0 : policy != "Never";
}

}  // namespace

void check_restart_policy(const Value& container, const std::string& field, Causes& causes) {
  constexpr size_t kMostRules = 20;
  const Value& policy = container["restartPolicy"];
  const Value& rules = container["restartPolicyRules"];
  const std::string_view word = policy.as_string();
  if (policy.is_null()) {
    if (rules.size() == 0) return;
    causes.required(field + ".restartPolicy", "must specify restartPolicy when restart rules are used");
  } else if (word != "Always" && word != "Never" && word != "OnFailure") {
    causes.not_supported(field + ".restartPolicy", policy, {"Always", "Never", "OnFailure"});
  }
  if (rules.size() > kMostRules) causes.too_many(field + ".restartPolicyRules", rules.size(), kMostRules);
  for (size_t i = 0; i < rules.size(); ++i) check_restart_rule(rules[i], at(field + ".restartPolicyRules", i), causes);
}

void check_resize_policies(const Value& container, const Value& spec, const std::string& field, Causes& causes) {
  const Value& policies = container["resizePolicy"];
  const bool never = spec["restartPolicy"].as_string() == "Never";
  std::set<std::string_view> names;
  for (size_t i = 0; i < policies.size(); ++i) {
    const Value& name = policies[i]["resourceName"];
    const Value& restart = policies[i]["restartPolicy"];
    if (!names.insert(name.as_string()).second) causes.duplicate(at(field, i), name);
    check_one_of(name, field, {"cpu", "memory"}, causes);
    check_one_of(restart, field, {"NotRequired", "RestartContainer"}, causes);
    if (!never || restart.as_string() == "NotRequired") continue;
    causes.invalid(field, Value{restart.as_string()}, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}

void check_stop_signal(const Value& signal, const Value& os, const std::string& field, Causes& causes) {
  if (signal.is_null()) return;
  const std::string_view name = os["name"].as_string();
  if (os.is_null()) {
    causes.forbidden(field, "may not be set for containers with empty `spec.os.name`");
  } else if (name == "windows") {
    check_signal(signal, kWindowsSignals, field, causes);
  } else if (name == "linux") {
    check_signal(signal, kLinuxSignals, field, causes);
  }
}

bool runs_again(const Value& container, const Value& spec, int64_t exit_code) {
  const Value& policy = container["restartPolicy"];
  if (policy.is_null()) return allows_restart(spec["restartPolicy"].as_string(), exit_code);
  for (const Value& rule : container["restartPolicyRules"].items()) {
    if (matches_code(rule["exitCodes"], exit_code)) return true;  // both actions restart it
  }
  return allows_restart(policy.as_string(), exit_code);
}

bool may_restart_all(const Value& spec) {
  for (const char* list : {"initContainers", "containers"}) {
    for (const Value& container : spec[list].items()) {
      for (const Value& rule : container["restartPolicyRules"].items()) {
        if (rule["action"].as_string() == "RestartAllContainers") return true;
      }
    }
  }
  return false;
}

}  // namespace shiplog::api
