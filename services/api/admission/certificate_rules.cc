#include <algorithm>
#include <iterator>
#include <set>

#include "events/base/base64.h"
#include "events/state/condition.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// CertificateSigningRequest. Source: KIND-1.

namespace shiplog::api {
namespace {

/// The requester is the authenticated user, never what the body states; the request itself is immutable.
void fill_request(Value& object, const Write& write) {
  if (write.old != nullptr) {
    object.set("spec", (*write.old)["spec"]);
    return;
  }
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  for (const char* name : {"username", "uid", "groups", "extra"}) {
    spec.erase(name);
    if (write.user != nullptr && !(*write.user)[name].is_empty()) spec.set(name, (*write.user)[name]);
  }
}

/// CSR-2: through /approval only conditions change; each gets its times.
void fill_request_status(Value& object, const Write& write) {
  if (write.subresource == "approval") {
    Value status = (*write.old)["status"];
    if (!status.is_object()) status = Value::object();
    status.set("conditions", object["status"]["conditions"]);
    if (status["conditions"].is_empty()) status.erase("conditions");
    object.set("status", std::move(status));
  }
  if (object["status"]["conditions"].size() == 0) return;
  const std::string now = rfc3339(write.now);
  for (Value& condition : object.edit("status").edit("conditions").edit_items()) {
    if (!condition.is_object()) continue;
    if (condition["lastUpdateTime"].is_empty()) condition.set("lastUpdateTime", now);
    if (!condition["lastTransitionTime"].is_empty()) continue;
    const Value& before = condition_of(*write.old, condition["type"].as_string());
    const bool same = !before.is_null() && before["status"] == condition["status"];
    condition.set("lastTransitionTime",
                  same && !before["lastTransitionTime"].is_empty() ? before["lastTransitionTime"] : Value{now});
  }
}

bool is_final(std::string_view type) { return type == "Approved" || type == "Denied" || type == "Failed"; }

void check_request_status(const Value& object, const Write& write, Causes& causes) {
  const Value& status = object["status"];
  const Value& old = *write.old;
  const Value& conditions = status["conditions"];
  std::set<std::string> types;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const std::string field = at("status.conditions", i);
    const Value& type = conditions[i]["type"];
    const Value& state = conditions[i]["status"];
    if (type.is_empty()) causes.required(field + ".type");
    if (state.is_empty()) {
      causes.required(field + ".status");
    } else if (is_final(type.as_string())) {
      check_one_of(state, field + ".status", {"True"}, causes);
    } else {
      check_one_of(state, field + ".status", {"False", "True", "Unknown"}, causes);
    }
    if (!types.insert(type.str()).second) causes.duplicate(field + ".type", type);
    const bool decides = type.as_string() == "Approved" || type.as_string() == "Denied";
    if (decides && write.subresource != "approval" && condition_of(old, type.as_string()).is_null()) {
      causes.forbidden("status.conditions", "updates may not add a condition of type \"" + type.str() + "\"");
    }
  }
  if (!condition_of(object, "Approved").is_null() && !condition_of(object, "Denied").is_null()) {
    causes.invalid("status.conditions", Value{"Denied"}, "Approved and Denied conditions are mutually exclusive");
  }
  for (const char* type : {"Approved", "Denied", "Failed"}) {
    if (!condition_of(old, type).is_null() && condition_of(object, type).is_null()) {
      causes.forbidden("status.conditions", "updates may not remove a condition of type \"" + std::string{type} + "\"");
    }
  }
  const Value& certificate = status["certificate"];
  const Value& issued = old["status"]["certificate"];
  if (!issued.is_empty() && certificate != issued) {
    causes.forbidden("status.certificate", "updates may not change a certificate that was issued");
  } else if (!certificate.is_empty()) {
    const auto pem = base64_decode(certificate.as_string());
    if (!pem || pem->find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
      causes.invalid("status.certificate", Value{"<certificate data>"}, "must contain a PEM block of type CERTIFICATE");
    }
  }
}

/// "example.com/signer-name"
Problem signer_problem(std::string_view text) {
  constexpr const char* kForm = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || text.find('/', slash + 1) != std::string_view::npos) return kForm;
  if (text.substr(0, slash).find('.') == std::string_view::npos) return kForm;
  if (const auto problem = subdomain_problem(text.substr(0, slash))) return problem;
  return subdomain_problem(text.substr(slash + 1));
}

void check_request(const Value& object, const Write& write, Causes& causes) {
  if (write.old != nullptr) return;
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE REQUEST-----";
  constexpr int64_t kLeastSeconds = 600;
  static const std::initializer_list<std::string_view> kUsages = {"any",
                                                                  "cert sign",
                                                                  "client auth",
                                                                  "code signing",
                                                                  "content commitment",
                                                                  "crl sign",
                                                                  "data encipherment",
                                                                  "decipher only",
                                                                  "digital signature",
                                                                  "email protection",
                                                                  "encipher only",
                                                                  "ipsec end system",
                                                                  "ipsec tunnel",
                                                                  "ipsec user",
                                                                  "key agreement",
                                                                  "key encipherment",
                                                                  "microsoft sgc",
                                                                  "netscape sgc",
                                                                  "ocsp signing",
                                                                  "s/mime",
                                                                  "server auth",
                                                                  "signing",
                                                                  "timestamping"};
  const Value& spec = object["spec"];
  if (spec["request"].is_empty()) {
    causes.required("spec.request");
  } else if (const auto pem = base64_decode(spec["request"].as_string());
             pem && pem->find(kBegin) == std::string::npos) {
    causes.invalid("spec.request", spec["request"], "PEM block type must be CERTIFICATE REQUEST");
  }
  const Value& signer = spec["signerName"];
  if (signer.is_empty()) {
    causes.required("spec.signerName");
  } else if (signer.as_string() == "kubernetes.io/legacy-unknown") {
    causes.invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version");
  } else if (const auto problem = signer_problem(signer.as_string())) {
    causes.invalid("spec.signerName", signer, *problem);
  }
  const Value& usages = spec["usages"];
  if (usages.size() == 0) causes.required("spec.usages");
  std::set<std::string> known;
  for (size_t i = 0; i < usages.size(); ++i) {
    if (std::find(kUsages.begin(), kUsages.end(), usages[i].as_string()) == kUsages.end()) {
      causes.not_supported(at("spec.usages", i), usages[i], kUsages);
    }
    if (!known.insert(usages[i].str()).second) causes.duplicate(at("spec.usages", i), usages[i]);
  }
  check_range(spec["expirationSeconds"], "spec.expirationSeconds", kLeastSeconds, INT32_MAX,
              "may not specify a duration less than 600 seconds (10 minutes)", causes);
}

}  // namespace

const std::vector<Rules>& certificate_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "certificatesigningrequests.certificates.k8s.io",
       .fill = fill_request,
       .check = check_request,
       .fill_status = fill_request_status,
       .check_status = check_request_status},
  };
  return kRules;
}

}  // namespace shiplog::api
