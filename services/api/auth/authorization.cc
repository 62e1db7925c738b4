#include "services/api/auth/authorization.h"

#include <string>
#include <utility>

namespace shiplog::api {

RbacPolicy::Decision decide(const Access* access, const User& user, const Attributes& wanted) {
  if (access == nullptr) return {in_group(user, kMastersGroup), ""};
  if (std::string beyond = beyond_agent(user, wanted); !beyond.empty()) return {false, std::move(beyond)};
  return access->decide(user, wanted);
}

std::optional<Error> refuse_write(const Access* access, const User& user, const HttpRequest& request,
                                  const ObjectKey& key, const Value& old, const Value& object) {
  if (in_group(user, kMastersGroup)) return std::nullopt;
  if (old.is_null() && request.method != "POST") {
    Attributes wanted = attributes_of(request.method, request.path, request.query);
    wanted.verb = "create";
    const auto decision = decide(access, user, wanted);
    if (!decision.allowed) return forbidden(user, wanted, decision.reason);
  }
  if (access == nullptr) return std::nullopt;
  if (auto foreign = access->refuse_agent_write(user, key, old, object)) return foreign;
  if (auto owned = access->refuse_owned(user, key, old, object)) return owned;
  // Which roles the generator writes has just been checked, rule by rule.
  if (is_rbac_generator(user)) return std::nullopt;
  return rbac::is_rbac(key.type) ? access->escalation(user, key, old, object) : std::nullopt;
}

std::optional<Error> refuse_deletion(const Access* access, const User& user, const ObjectKey& key, const Value& old) {
  if (access == nullptr || in_group(user, kMastersGroup)) return std::nullopt;
  if (auto foreign = access->refuse_agent_write(user, key, old, {})) return foreign;
  return access->refuse_owned(user, key, old, {});
}

}  // namespace shiplog::api
