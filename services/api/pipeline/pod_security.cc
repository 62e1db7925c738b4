#include "services/api/pipeline/pod_security.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/api/pipeline/request_audit.h"
#include "services/api/pod_security/pod_checks.h"
#include "services/api/status.h"

// Source: k8s.io/pod-security-admission/admission/admission.go of Kubernetes 1.36.

namespace shiplog::api {
namespace {

constexpr const char* kPods = "pods";
constexpr size_t kMostPods = 3000;  // of a namespace that are looked at

/// What of an object is a pod; null: it has none.
const Value& pod_of(const std::string& type, const Value& object) {
  static const Value kNone;
  if (type == kPods) return object;
  if (type == "podtemplates") return object["template"];
  if (type == "cronjobs.batch") return object["spec"]["jobTemplate"]["spec"]["template"];
  static constexpr const char* kWorkloads[] = {"replicationcontrollers", "replicasets.apps", "deployments.apps",
                                               "statefulsets.apps",      "daemonsets.apps",  "jobs.batch"};
  const bool workload = std::ranges::any_of(kWorkloads, [&](const char* each) { return type == each; });
  return workload ? object["spec"]["template"] : kNone;
}

const Value* named(const Value& containers, const Value& name) {
  const auto found = std::ranges::find_if(containers.items(), [&](const Value& each) { return each["name"] == name; });
  return found == containers.items().end() ? nullptr : &*found;
}

/// An update can change few fields of a pod; of those, images and new containers count.
bool is_significant(const Value& old, const Value& pod) {
  for (const char* list : {"containers", "initContainers"}) {
    const Value& now = pod["spec"][list];
    const Value& before = old["spec"][list];
    if (now.size() != before.size()) return true;
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i]["image"] != before[i]["image"]) return true;
    }
  }
  const Value& before = old["spec"]["ephemeralContainers"];
  return std::ranges::any_of(pod["spec"]["ephemeralContainers"].items(), [&](const Value& container) {
    const Value* same = named(before, container["name"]);
    return same == nullptr || (*same)["image"] != container["image"];
  });
}

void annotate(const RequestContext& context, const char* key, const std::string& value) {
  if (context.audit != nullptr) context.audit->annotated(std::string{"pod-security.kubernetes.io/"} + key, value);
}

std::string violates(const char* verb, const PodSecurityStandard& standard, const std::string& how) {
  return std::string{verb} + " PodSecurity \"" + standard.text() + "\": " + how;
}

PodSecurityPolicy policy_in(const Value& ns) { return pod_security_of(ns["metadata"]["labels"]).first; }

}  // namespace

std::optional<Error> judge_by_pod_security(const Server& server, const RequestContext& context,
                                           const WriteRequest& write, Proposal& proposal) {
  if (server.options.secured_namespaces == nullptr || write.form != WriteForm::kObject) return std::nullopt;
  const PodSecurityPolicy policy = server.options.secured_namespaces->policy_of(write.key.ns.str());
  if (policy.is_privileged()) return std::nullopt;
  const std::string type = context.kind->type();
  const bool is_pod = type == kPods;
  if (!is_pod && (!context.path.subresource.empty() || policy.only_enforces())) return std::nullopt;
  const Value& pod = pod_of(type, proposal.object);
  if (pod.is_null() || (is_pod && !proposal.old.is_null() && !is_significant(proposal.old, pod))) return std::nullopt;
  const auto judge = [&](const PodSecurityStandard& standard) {
    return with_details(pod_violations(standard, pod["metadata"], pod["spec"]));
  };
  std::optional<Error> error;
  if (is_pod) {
    annotate(context, "enforce-policy", policy.enforce.text());
    if (const std::string how = judge(policy.enforce); !how.empty()) {
      error = forbidden(context.subject(pod["metadata"]["name"].str()), violates("violates", policy.enforce, how));
    }
  }
  if (const std::string how = judge(policy.audit); !how.empty()) {
    annotate(context, "audit-violations", violates("would violate", policy.audit, how));
  }
  if (error) return error;
  if (const std::string how = judge(policy.warn); !how.empty()) {
    proposal.warnings.push_back(violates("would violate", policy.warn, how));
  }
  return std::nullopt;
}

bool makes_namespace_stricter(const RequestContext& context, const Proposal& proposal) {
  if (context.kind->type() != type::kNamespace || proposal.old.is_null()) return false;
  const PodSecurityStandard now = policy_in(proposal.object).enforce;
  const PodSecurityStandard before = policy_in(proposal.old).enforce;
  if (now == before || now.level == PodSecurityLevel::kPrivileged) return false;
  return now.minor != before.minor || now.level > before.level;
}

void warn_of_existing_pods(const Server& server, Proposal& proposal) {
  if (server.options.secured_namespaces == nullptr) return;
  const PodSecurityStandard standard = policy_in(proposal.object).enforce;
  const std::string ns = proposal.object["metadata"]["name"].str();
  size_t pods = 0;
  std::map<std::string, std::vector<std::string>> by_violation;
  const auto look = [&](const ObjectRowView& row) {
    if (++pods > kMostPods) return true;
    const auto pod = parse_stored_json(row.json);
    if (!pod) return true;  // a read of the pod reports the error
    const std::string how = reasons_of(pod_violations(standard, pod.value()["metadata"], pod.value()["spec"]));
    if (!how.empty()) by_violation[how].push_back(pod.value()["metadata"]["name"].str());
    return true;
  };
  const auto read = server.objects.record().read(
      [&](const View& view) { return ObjectQuery{view}.visit(ObjectList{.type = kPods, .ns = ns}, look); });
  if (!read) {
    proposal.warnings.emplace_back("failed to list pods while checking new PodSecurity enforce level");
    return;
  }
  if (pods > kMostPods) {
    proposal.warnings.push_back("new PodSecurity enforce level only checked against the first " +
                                std::to_string(kMostPods) + " of " + std::to_string(pods) + " existing pods");
  }
  if (by_violation.empty()) return;
  proposal.warnings.push_back("existing pods in namespace \"" + ns + "\" violate the new PodSecurity enforce level \"" +
                              standard.text() + "\"");
  std::vector<std::string> lines;
  for (const auto& [how, names] : by_violation) {
    const size_t others = names.size() - 1;
    const std::string more = others == 0   ? ""
                             : others == 1 ? " (and 1 other pod)"
                                           : " (and " + std::to_string(others) + " other pods)";
    lines.push_back(*std::ranges::min_element(names) + more + ": " + how);
  }
  std::ranges::sort(lines);
  std::ranges::move(lines, std::back_inserter(proposal.warnings));
}

}  // namespace shiplog::api
