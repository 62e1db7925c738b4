#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "services/api/auth/rbac/rule.h"

namespace shiplog::api {

/// What the stored roles and bindings permit. Kept up to date object by object and indexed by subject, so that a
/// decision reads only the bindings that name the user or one of the groups.
class RbacPolicy {
 public:
  RbacPolicy() = default;
  RbacPolicy(const RbacPolicy&) = delete;
  RbacPolicy& operator=(const RbacPolicy&) = delete;

  /// Takes in an object of one of the four types; others are ignored.
  void put(const ObjectKey& key, const Value& object);
  void erase(const ObjectKey& key);

  struct Decision {
    bool allowed = false;
    std::string reason;  ///< which binding and role allow it; or what is missing ("RBAC: ... not found"), or empty
  };
  /// AUTHZ-1 to AUTHZ-3. Deny is the absence of allow.
  Decision decide(const User& user, const Attributes& wanted) const;

  struct Held {
    Rules rules;
    std::vector<std::string> missing;  ///< `clusterrole.rbac.authorization.k8s.io "x" not found`
  };
  /// Everything the user may do in a namespace (empty: only what holds everywhere), in the order of the bindings.
  Held held(const User& user, const std::string& ns) const;

  /// nullptr: there is no such role. `type`: rbac::kRole or kClusterRole.
  const Rules* role(const char* type, const std::string& ns, const std::string& name) const;

 private:
  struct Binding {
    std::string ns, name;
    std::string role_kind, role_name;
    std::vector<std::pair<std::string, std::string>> subjects;  // where it is indexed; `Group "dev"`
    const char* role_type() const { return role_kind == "Role" ? rbac::kRole : rbac::kClusterRole; }
  };
  struct Entry {
    std::shared_ptr<const Binding> binding;
    std::string subject;
  };
  using BySubject = std::map<std::string, std::map<std::string, Entry>, std::less<>>;  // then by the binding's name

  /// Calls `see(binding, subject, rules or nullptr)` for every binding that concerns the user, until it returns false.
  template <class See>
  void visit(const User& user, const std::string& ns, See see) const;

  std::map<ObjectKey, Rules> roles_;
  std::map<ObjectKey, std::shared_ptr<const Binding>> bindings_;
  std::map<std::string, BySubject, std::less<>> index_;  // by namespace; "" has the ClusterRoleBindings
};

}  // namespace shiplog::api
