#include "services/api/auth/certificate_requests.h"

#include <algorithm>

#include "events/base/base64.h"
#include "events/state/condition.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/api/auth/authorization.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

/// `verb` on the signer by its name, or on all of its domain.
bool may(const Access* access, const User& user, const std::string& verb, const std::string& signer) {
  const std::string domain = signer.substr(0, signer.find('/')) + "/*";
  for (const std::string& name : {signer, domain}) {
    Attributes wanted;
    wanted.verb = verb;
    wanted.group = "certificates.k8s.io";
    wanted.resource = "signers";
    wanted.name = name;
    if (decide(access, user, wanted).allowed) return true;
  }
  return false;
}

bool has_failed(const Value& request) { return !condition_of(request, "Failed").is_null(); }

}  // namespace

std::optional<Error> refuse_certificate(const Access* access, const User& user, const std::string& subresource,
                                        const Value& old, const Value& object) {
  const std::string signer = object["spec"]["signerName"].str();
  const StatusDetails subject{"certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests",
                              object["metadata"]["name"].str()};
  const auto refused = [&](const std::string& why) { return forbidden(subject, why); };
  if (old.is_null()) {
    const std::string pem = base64_decode(object["spec"]["request"].as_string()).value_or("");
    const auto inspected = inspect_request(pem);
    if (!inspected) {
      return invalid(subject, {{"spec.request", "FieldValueInvalid",
                                "Invalid value: \"<request data>\": " + inspected.error().message}});
    }
    const auto& groups = inspected.value().organizations;
    if (signer == "kubernetes.io/kube-apiserver-client" && std::ranges::find(groups, kMastersGroup) != groups.end()) {
      return refused("use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
    }
    return std::nullopt;
  }
  if (subresource == "approval" && !may(access, user, "approve", signer)) {
    return refused("user not permitted to approve requests with signerName \"" + signer + "\"");
  }
  const bool signs =
      old["status"]["certificate"] != object["status"]["certificate"] || has_failed(old) != has_failed(object);
  if (subresource == "status" && signs && !may(access, user, "sign", signer)) {
    return refused("user not permitted to sign requests with signerName \"" + signer + "\"");
  }
  return std::nullopt;
}

}  // namespace shiplog::api
