#include <algorithm>
#include <iterator>

#include "events/base/base64.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// CertificateSigningRequest. Source: kubernetes-api section 24.

namespace shiplog::api {
namespace {

/// Who asks is what the server saw, never what the body says; and what was asked for stays as it was.
void fill_request(Value& object, const Write& write) {
  if (write.old != nullptr) {
    object.set("spec", (*write.old)["spec"]);
    return;
  }
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  for (const char* name : {"username", "uid", "groups", "extra"}) spec.erase(name);
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
  static constexpr std::string_view kUsages[] = {"any",
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
  for (size_t i = 0; i < usages.size(); ++i) {
    if (std::find(std::begin(kUsages), std::end(kUsages), usages[i].as_string()) == std::end(kUsages)) {
      causes.invalid(at("spec.usages", i), usages[i],
                     "is no key usage, such as \"client auth\" or \"digital signature\"");
    }
    for (size_t before = 0; before < i; ++before) {
      if (usages[before] == usages[i]) causes.duplicate(at("spec.usages", i), usages[i]);
    }
  }
  check_range(spec["expirationSeconds"], "spec.expirationSeconds", kLeastSeconds, INT32_MAX,
              "may not specify a duration less than 600 seconds (10 minutes)", causes);
}

}  // namespace

const std::vector<Rules>& certificate_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "certificatesigningrequests.certificates.k8s.io", .fill = fill_request, .check = check_request},
  };
  return kRules;
}

}  // namespace shiplog::api
