#include "services/api/expressions/request_authorizer.h"

#include "services/api/auth/rbac/attributes.h"

namespace shiplog::api {
namespace {

User service_account_user(const cel::CelAccessQuestion& question) {
  User user;
  user.name = kServiceAccountPrefix + question.service_account_namespace + ":" + question.service_account;
  user.groups = service_account_groups(question.service_account_namespace);
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

}  // namespace

cel::CelAccessAnswer RequestAuthorizer::decide(const cel::CelAccessQuestion& question) const {
  Attributes wanted;
  wanted.verb = question.verb;
  wanted.is_resource = question.is_resource;
  wanted.path = question.path;
  wanted.group = question.group;
  wanted.resource = question.resource;
  wanted.subresource = question.subresource;
  wanted.ns = question.ns;
  wanted.name = question.name;
  const bool own = question.service_account.empty();
  const auto decision = api::decide(access_, own ? user_ : service_account_user(question), wanted);
  return {decision.allowed, decision.reason, ""};
}

}  // namespace shiplog::api
