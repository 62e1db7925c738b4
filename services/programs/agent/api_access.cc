#include "services/programs/agent/api_access.h"

#include <utility>

#include "events/base/base64.h"
#include "events/base/check.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "services/http/same_target.h"

namespace shiplog::agent {
namespace {

constexpr const char* kCredentials = "credentials";

Event put(const State& state, const ObjectKey& key, Value value) {
  if (state.find(key) == nullptr) return ObjectCreated{key, std::move(value)};
  return ObjectUpdated{key, std::move(value)};
}

}  // namespace

ApiAccess::ApiAccess(Options options)
    : options_{std::move(options)},
      members_{HttpsMembers::Options{.state = &addresses_,
                                     .executor = options_.executor,
                                     .random = options_.random,
                                     .io = options_.io,
                                     .open = {},
                                     .user_agent = options_.user_agent,
                                     .denied_networks = nullptr,
                                     .watches_leave_out_managed_fields = false}} {}

void ApiAccess::use(const ClientTarget& target) {
  if (same_target(target, target_)) return;
  Value data = Value::object();
  const auto set = [&](const char* field, const std::string& text) {
    if (!text.empty()) data.set(field, base64_encode(text));
  };
  set("caBundle", target.ca_pem);
  set("token", target.bearer_token);
  set("client-certificate-data", target.certificate_pem);
  set("client-key-data", target.key_pem);
  set("tls-server-name", target.server_name);
  Value cluster = Value::object();
  cluster.edit("metadata").set("name", options_.name);
  Value& spec = cluster.edit("spec");
  spec.set("apiEndpoint", target.url);
  spec.set("insecureSkipTLSVerification", target.insecure);
  const std::string proxy = through_environment_proxy(target, options_.environment).proxy_url;
  if (!proxy.empty()) spec.set("proxyURL", proxy);
  spec.set("secretRef", Value::object({{"namespace", kCredentials}, {"name", options_.name}}));
  const ObjectKey ns{type::kNamespace, "", kCredentials};
  Entry entry;
  entry.id = new_entry_id(*options_.random);
  entry.time = options_.executor->now();
  if (addresses_.find(ns) == nullptr) {
    entry.events.emplace_back(
        ObjectCreated{ns, Value::object({{"metadata", Value::object({{"name", kCredentials}})}})});
  }
  entry.events.push_back(
      put(addresses_, {type::kSecret, kCredentials, options_.name}, Value::object({{"data", std::move(data)}})));
  entry.events.push_back(put(addresses_, {type::kCluster, "", options_.name}, std::move(cluster)));
  const Folded folded = fold(addresses_, entry);
  SHIPLOG_CHECK(!folded.refusal, "an address that nothing else refers to can be replaced");
  target_ = target;
}

int status_of(const Result<MemberResponse>& response) { return response ? response.value().status : 0; }

Error call_error(const Result<MemberResponse>& response, const std::string& what) {
  if (!response) return response.error().context(what);
  return {ErrorCode::kUnavailable, what + ": " + response.value().message()};
}

}  // namespace shiplog::agent
