#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/state/rbac.h"

// The audit policy of a control plane: audit.k8s.io/v1, as kube-apiserver reads it. Pure.
namespace shiplog::api {

/// How much of a request is recorded. Each level includes those before it.
enum class AuditLevel : uint8_t { kNone, kMetadata, kRequest, kRequestResponse };
const char* name_of(AuditLevel level);

/// What has happened to the request when an event is recorded.
enum class AuditStage : uint8_t { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };
const char* name_of(AuditStage stage);

/// A set of stages.
class AuditStages {
 public:
  void add(AuditStage stage) { bits_ = static_cast<uint8_t>(bits_ | (1U << static_cast<unsigned>(stage))); }
  void add(AuditStages others) { bits_ = static_cast<uint8_t>(bits_ | others.bits_); }
  bool contains(AuditStage stage) const { return ((bits_ >> static_cast<unsigned>(stage)) & 1U) != 0; }

 private:
  uint8_t bits_ = 0;
};

/// One rule. Empty lists match everything.
struct AuditRule {
  struct Resources {
    std::string group;                   ///< "" is the core group
    std::vector<std::string> resources;  ///< "pods", "pods/log", "pods/*", "*/scale", "*"
    std::vector<std::string> names;
  };
  AuditLevel level = AuditLevel::kNone;
  std::vector<std::string> users, groups, verbs;
  std::vector<Resources> resources;
  std::vector<std::string> namespaces;         ///< "" is that of what has none
  std::vector<std::string> non_resource_urls;  ///< "/healthz", "/logs/*", "*"
  AuditStages omitted;
  std::optional<bool> omit_managed_fields;  ///< nullopt: as the policy
};

struct AuditPolicy {
  std::vector<AuditRule> rules;
  AuditStages omitted;
  bool omit_managed_fields = false;
};

/// A Policy document, YAML or JSON. Error: kInvalid, all that is wrong with it, by field; also fields that are not
/// known, since a rule with a misspelt field matches more than was meant.
Result<AuditPolicy> parse_audit_policy(std::string_view text);

/// What is recorded of one request.
struct AuditDecision {
  AuditLevel level = AuditLevel::kNone;
  AuditStages omitted;
  bool omit_managed_fields = false;
};
/// The first rule that matches decides; without one, nothing is recorded. `user`: who was authenticated, before
/// impersonation; without a name if the request could not be authenticated.
AuditDecision decide_audit(const AuditPolicy& policy, const rbac::User& user, const rbac::Attributes& request);

}  // namespace shiplog::api
