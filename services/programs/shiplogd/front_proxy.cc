#include "services/programs/shiplogd/front_proxy.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "events/base/system.h"
#include "services/http/private_file.h"

namespace shiplog {
namespace {

constexpr const char* kCommonName = "front-proxy-client";

const ObjectKey& extension_authentication_key() {
  static const ObjectKey kKey{"configmaps", "kube-system", "extension-apiserver-authentication"};
  return kKey;
}

Result<std::string> option_file(const char* option, const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error().context(option);
  return text;
}

Result<FrontProxy> from_files(const FrontProxyOptions& options) {
  if (options.client_certificate_file.empty() || options.client_key_file.empty() || options.authority_file.empty()) {
    return Error{
        ErrorCode::kInvalid,
        "--proxy-client-cert-file, --proxy-client-key-file and --requestheader-client-ca-file belong together: "
        "aggregated servers trust the certificate by the authority that signed it; give all of them, or none"};
  }
  FrontProxy proxy;
  SHIPLOG_TRY(proxy.client.certificate_pem, option_file("--proxy-client-cert-file", options.client_certificate_file));
  SHIPLOG_TRY(proxy.client.key_pem, option_file("--proxy-client-key-file", options.client_key_file));
  SHIPLOG_TRY(proxy.authority_pem, option_file("--requestheader-client-ca-file", options.authority_file));
  const auto certificate = inspect_certificate(proxy.client.certificate_pem);
  if (!certificate) return certificate.error().context("--proxy-client-cert-file");
  if (const auto authority = inspect_certificate(proxy.authority_pem); !authority) {
    return authority.error().context("--requestheader-client-ca-file");
  }
  proxy.allowed_names = options.allowed_names;
  const std::string& name = certificate.value().common_name;
  if (!proxy.allowed_names.empty() && std::ranges::find(proxy.allowed_names, name) == proxy.allowed_names.end()) {
    return Error{ErrorCode::kInvalid, "--requestheader-allowed-names does not contain \"" + name +
                                          "\", the common name of the certificate in --proxy-client-cert-file: "
                                          "aggregated servers would not accept it"};
  }
  return proxy;
}

/// Both texts, without what is in both.
std::string joined(const std::string& there, const std::string& own) {
  if (there.find(own) != std::string::npos) return there;
  return there.empty() || there.ends_with('\n') ? there + own : there + "\n" + own;
}

std::string name_list(const std::string& there, const std::vector<std::string>& own) {
  Value names = Value::array();
  const auto parsed = parse_json(there);
  // No names mean that any will do.
  if (own.empty() || (parsed && parsed.value().is_array() && parsed.value().size() == 0)) return to_json(names);
  if (parsed) names = parsed.value();
  for (const std::string& name : own) {
    if (std::ranges::find(names.items(), Value{name}) == names.items().end()) names.push_back(name);
  }
  return to_json(names);
}

}  // namespace

Result<FrontProxy> load_front_proxy(const FrontProxyOptions& options, const std::string& folder) {
  if (!options.client_certificate_file.empty() || !options.client_key_file.empty() || !options.authority_file.empty()) {
    return from_files(options);
  }
  if (!options.allowed_names.empty()) {
    return Error{
        ErrorCode::kInvalid,
        "--requestheader-allowed-names is about the certificate in --proxy-client-cert-file, which is missing"};
  }
  const UtcMillis now = SystemClock{}.now();
  const std::string pki = folder + "/pki";
  FrontProxy proxy;
  // An authority of its own: what it signs may speak for any user.
  SHIPLOG_TRY(const KeyPair authority,
              load_or_create_authority(pki + "/front-proxy-ca", "shiplog-front-proxy-ca", now));
  SHIPLOG_TRY(proxy.client,
              load_or_create_client_certificate(pki + "/front-proxy-client", authority, kCommonName, {}, now));
  proxy.authority_pem = authority.certificate_pem;
  proxy.allowed_names = {kCommonName};
  return proxy;
}

Decided decide_extension_authentication(const State& state, const ExtensionAuthentication& own) {
  const ObjectKey& key = extension_authentication_key();
  const Object* object = state.find(key);
  Value wanted = Value::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}});
  if (object != nullptr) wanted = object->value;
  wanted.edit("metadata").set("name", key.name);
  wanted.edit("metadata").set("namespace", key.ns);
  const Value there = wanted["data"];
  Value& data = wanted.edit("data");
  data.set("client-ca-file", joined(there["client-ca-file"].str(), own.client_authority_pem));
  data.set("requestheader-client-ca-file",
           joined(there["requestheader-client-ca-file"].str(), own.front_proxy_authority_pem));
  data.set("requestheader-allowed-names", name_list(there["requestheader-allowed-names"].str(), own.allowed_names));
  data.set("requestheader-username-headers", R"(["X-Remote-User"])");
  data.set("requestheader-uid-headers", R"(["X-Remote-Uid"])");
  data.set("requestheader-group-headers", R"(["X-Remote-Group"])");
  data.set("requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])");
  if (object == nullptr) return decide_one(ObjectCreated{key, std::move(wanted)}, {key, Revision{}});
  if (wanted == object->value) return Nothing{};
  return decide_one(ObjectUpdated{key, std::move(wanted)}, {key, object->revision});
}

}  // namespace shiplog
