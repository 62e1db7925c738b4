#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"

// The status of CustomResourceDefinitions (CRD-2 to CRD-4). Source: naming_controller.go, establishing_controller.go
// and apiapproval_controller.go of k8s.io/apiextensions-apiserver. Users of this header link shiplog_kinds.

namespace shiplog {

/// The names of one group that kinds have, each with the type that has it. Resources are found by plural, singular and
/// short names, so that each of these is one kind's only, whichever it is (CRD-3).
class NamesInUse {
 public:
  void add(const Kind& kind) {
    for (const std::string& name : {kind.plural, kind.singular}) resources_.emplace(name, kind.type());
    for (const std::string& name : kind.short_names) resources_.emplace(name, kind.type());
    for (const std::string& name : {kind.kind, kind.list_kind}) kinds_.emplace(name, kind.type());
  }
  /// `names`: as in spec.names.
  void add(const Value& names, const std::string& type);

  /// What has the name of a resource or of a kind; nullptr: nothing.
  const std::string* resource(std::string_view name) const { return find(resources_, name); }
  const std::string* kind(std::string_view name) const { return find(kinds_, name); }

 private:
  using Holders = std::map<std::string, std::string, std::less<>>;
  static const std::string* find(const Holders& holders, std::string_view name);

  Holders resources_, kinds_;
};

/// Whether the kinds of the definition are served: it is established, or has no such condition, as no API server
/// admitted it.
bool serves_kinds(const Value& definition);
/// The names by which they are served.
const Value& accepted_names(const Value& definition);
/// Another kind has some of its names.
bool waits_for_names(const Value& definition);

/// Whether a caBundle is base64 of PEM certificates; an empty one stands for the authorities of the system.
bool is_authority_bundle(const Value& bundle);
/// The caBundle of its conversion webhook.
const Value& conversion_bundle(const Value& definition);

/// The annotation by which APIs in the groups of Kubernetes are approved (CRD-4).
inline constexpr const char* kApiApproved = "api-approved.kubernetes.io";
enum class ApiApproval { kApproved, kBypassed, kMissing, kInvalid };
struct ApiApprovalState {
  ApiApproval approval;
  std::string reason;  ///< as a message
};
bool needs_api_approval(std::string_view group);
ApiApprovalState api_approval_of(const Value& definition);

/// Sets status.acceptedNames and the conditions NamesAccepted, Established and KubernetesAPIApprovalPolicyConformant.
/// `before`: the definition before the write; null: there was none. If that was established and served, it stays
/// established and keeps its names. `others`: what other kinds of the group have.
void settle_definition(Value& definition, const Value& before, const NamesInUse& others, UtcMillis now);

}  // namespace shiplog
