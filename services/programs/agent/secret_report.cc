#include "services/programs/agent/secret_report.h"

#include <algorithm>
#include <utility>

#include "events/base/base64.h"
#include "services/programs/agent/api_access.h"

namespace shiplog::agent {
namespace {

constexpr const char* kRbac = "rbac.authorization.k8s.io/v1";
constexpr const char* kImpersonator = "karmada-impersonator";
constexpr int kTokenTries = 60;
constexpr Millis kTokenPoll{500};

}  // namespace

void SecretReport::run(Options options) { std::make_shared<SecretReport>(std::move(options))->begin(); }

void SecretReport::begin() {
  const AgentOptions& agent = *options_.agent;
  if (!agent.reports_credentials && !agent.reports_impersonator) return finish(std::nullopt);
  const auto ensure = [this](const std::string& collection, Value object) {
    steps_.emplace_back([this, step = Step{true, collection, std::move(object)}] { create(step); });
  };
  ensure("/api/v1/namespaces", labelled("Namespace", "v1", agent.cluster_namespace));
  if (agent.reports_credentials) {
    const std::string account = "karmada-" + agent.cluster;
    const std::string role = "karmada-controller-manager:" + account;
    Value cluster_role = labelled("ClusterRole", kRbac, role);
    cluster_role.set(
        "rules",
        Value::array({Value::object({{"apiGroups", Value::array({"*"})},
                                     {"resources", Value::array({"*"})},
                                     {"verbs", Value::array({"*"})}}),
                      Value::object({{"nonResourceURLs", Value::array({"*"})}, {"verbs", Value::array({"get"})}})}));
    ensure("/apis/rbac.authorization.k8s.io/v1/clusterroles", std::move(cluster_role));
    Value binding = labelled("ClusterRoleBinding", kRbac, role);
    binding.set("roleRef",
                Value::object({{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", role}}));
    binding.set("subjects",
                Value::array({Value::object(
                    {{"kind", "ServiceAccount"}, {"name", account}, {"namespace", agent.cluster_namespace}})}));
    ensure("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", std::move(binding));
    add_account(account);
    report(agent.cluster, true);
  }
  if (agent.reports_impersonator) {
    add_account(kImpersonator);
    report(agent.cluster + "-impersonator", false);
  }
  next();
}

/// Its ServiceAccount, and a Secret in which the member's controller stores a token.
void SecretReport::add_account(const std::string& account) {
  steps_.emplace_back([this, account] {
    create({true, in_namespace("serviceaccounts"), labelled("ServiceAccount", "v1", account)});
  });
  steps_.emplace_back([this, account] {
    Value secret = labelled("Secret", "v1", account);
    secret.set("type", "kubernetes.io/service-account-token");
    secret.edit("metadata").edit("annotations").set("kubernetes.io/service-account.name", account);
    create({true, in_namespace("secrets"), std::move(secret)});
  });
  steps_.emplace_back([this, account] { wait_for_token(account, 0); });
}

void SecretReport::report(const std::string& secret, bool with_ca) {
  steps_.emplace_back([this, secret, with_ca] {
    Value data = Value::object({{"token", token_}});
    if (with_ca) data.set("caBundle", options_.ca_pem.empty() ? ca_ : base64_encode(options_.ca_pem));
    if (with_ca && !options_.server_name.empty()) data.set("tls-server-name", base64_encode(options_.server_name));
    write_secret(secret, data);
  });
}

void SecretReport::next() {
  if (steps_.empty()) return finish(std::nullopt);
  const auto step = std::move(steps_.front());
  steps_.pop_front();
  step();
}

/// Read first: a create that is refused would leave a trace in the member's audit log each time.
void SecretReport::create(const Step& step) {
  const std::string name = step.object["metadata"]["name"].str();
  MemberRequest get;
  get.path = step.collection + "/" + name;
  ask(step.in_member, std::move(get), [this, step, name](const Result<MemberResponse>& found) {
    if (status_of(found) == 200) return next();
    if (status_of(found) != 404) return finish(call_error(found, "reading " + step.object["kind"].str() + " " + name));
    MemberRequest post;
    post.method = "POST";
    post.path = step.collection;
    post.body = step.object;
    ask(step.in_member, std::move(post), [this, step, name](const Result<MemberResponse>& made) {
      if (status_of(made) == 201 || status_of(made) == 409) return next();
      finish(call_error(made, "creating " + step.object["kind"].str() + " " + name));
    });
  });
}

void SecretReport::wait_for_token(const std::string& account, int tries) {
  MemberRequest get;
  get.path = in_namespace("secrets") + "/" + account;
  ask(true, std::move(get), [this, account, tries](const Result<MemberResponse>& found) {
    if (status_of(found) != 200) return finish(call_error(found, "reading the token of ServiceAccount " + account));
    const Value& data = found.value().body["data"];
    if (!data["token"].is_empty()) {
      token_ = data["token"].str();
      ca_ = data["ca.crt"].str();
      return next();
    }
    if (tries >= kTokenTries) {
      return finish(Error{ErrorCode::kTimeout, "the member has issued no token for ServiceAccount " + account +
                                                   " within 30 s: is its controller for service account tokens "
                                                   "running?"});
    }
    options_.executor->post_after(
        kTokenPoll, [self = shared_from_this(), account, tries] { self->wait_for_token(account, tries + 1); });
  });
}

void SecretReport::write_secret(const std::string& name, const Value& data) {
  const std::string collection = in_namespace("secrets");
  MemberRequest get;
  get.path = collection + "/" + name;
  ask(false, std::move(get), [this, collection, name, data](const Result<MemberResponse>& found) {
    MemberRequest write;
    const Value owners = options_.owner.is_null() ? Value{} : Value::array({options_.owner});
    if (status_of(found) == 200) {
      const Value& present = found.value().body;
      if (present["data"] != data) write.body.set("data", data);
      if (!owners.is_null() && !owned(present)) write.body.edit("metadata").set("ownerReferences", owners);
      if (write.body.is_null()) return next();
      write.method = "PATCH";
      write.path = collection + "/" + name;
      write.content_type = "application/merge-patch+json";
    } else if (status_of(found) == 404) {
      write.method = "POST";
      write.path = collection;
      write.body = Value::object({{"apiVersion", "v1"}, {"kind", "Secret"}, {"data", data}});
      write.body.edit("metadata").set("name", name);
      write.body.edit("metadata").set("namespace", options_.agent->cluster_namespace);
      if (!owners.is_null()) write.body.edit("metadata").set("ownerReferences", owners);
    } else {
      return finish(call_error(found, "reading Secret " + name + " of the control plane"));
    }
    ask(false, std::move(write), [this, name](const Result<MemberResponse>& written) {
      if (status_of(written) == 200 || status_of(written) == 201) return next();
      finish(call_error(written, "writing Secret " + name + " of the control plane"));
    });
  });
}

bool SecretReport::owned(const Value& secret) const {
  return std::ranges::any_of(secret["metadata"]["ownerReferences"].items(),
                             [&](const Value& owner) { return owner["uid"] == options_.owner["uid"]; });
}

void SecretReport::ask(bool in_member, MemberRequest request, std::function<void(const Result<MemberResponse>&)> then) {
  Members* server = in_member ? options_.member : options_.control_plane;
  const std::string& name = in_member ? options_.agent->cluster : options_.control_plane_name;
  server->request(
      name, std::move(request),
      [self = shared_from_this(), then = std::move(then)](const Result<MemberResponse>& response) { then(response); });
}

void SecretReport::finish(const std::optional<Error>& error) {
  steps_.clear();
  options_.done(error);
}

Value SecretReport::labelled(const char* kind, const char* api_version, const std::string& name) const {
  Value object = Value::object({{"apiVersion", api_version}, {"kind", kind}});
  object.edit("metadata").set("name", name);
  object.edit("metadata").edit("labels").set("karmada.io/system", "true");
  return object;
}

std::string SecretReport::in_namespace(const char* resource) const {
  return "/api/v1/namespaces/" + options_.agent->cluster_namespace + "/" + resource;
}

}  // namespace shiplog::agent
