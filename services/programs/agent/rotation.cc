#include "services/programs/agent/rotation.h"

#include <algorithm>
#include <utility>

#include "events/base/base64.h"
#include "services/http/kubeconfig.h"
#include "services/programs/agent/api_access.h"
#include "services/runtime/log.h"

namespace shiplog::agent {
namespace {

constexpr const char* kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr const char* kSecret = "karmada-kubeconfig";
constexpr Millis kPatience{300'000};
constexpr Millis kRequestPoll{1'000};
/// Shorter ones are not requested: Kubernetes does not issue them.
constexpr int64_t kShortestSeconds = 600;

const Value* condition(const Value& request, std::string_view type) {
  for (const Value& each : request["status"]["conditions"].items()) {
    if (each["type"].as_string() == type) return &each;
  }
  return nullptr;
}

}  // namespace

bool rotation_due(const CertificateInfo& certificate, double threshold, UtcMillis now) {
  const auto total = static_cast<double>((certificate.not_after - certificate.not_before).value);
  const auto left = static_cast<double>((certificate.not_after - now).value);
  return left <= total * threshold;
}

std::optional<Error> expired(const std::string& certificate_pem, const std::string& file, UtcMillis now) {
  if (certificate_pem.empty()) return std::nullopt;
  const auto certificate = inspect_certificate(certificate_pem);
  if (!certificate || certificate.value().not_after > now) return std::nullopt;
  return Error{ErrorCode::kForbidden,
               "the certificate for the control plane expired at " + rfc3339(certificate.value().not_after) +
                   " and cannot be rotated any more: run `shiplogctl register --renew`, or replace it in " + file};
}

Value signing_request(const CertificateInfo& certificate, const std::string& request_pem, const std::string& suffix) {
  // A name of an object has no colons.
  std::string name = certificate.common_name + "-" + suffix;
  for (char& c : name) c = c == ':' ? '-' : c;
  const int64_t seconds = (certificate.not_after - certificate.not_before).value / 1000;
  Value request = Value::object({{"apiVersion", "certificates.k8s.io/v1"}, {"kind", "CertificateSigningRequest"}});
  request.edit("metadata").set("name", std::move(name));
  Value& spec = request.edit("spec");
  spec.set("request", base64_encode(request_pem));
  spec.set("signerName", "kubernetes.io/kube-apiserver-client");
  spec.set("expirationSeconds", std::max(seconds, kShortestSeconds));
  spec.set("usages", Value::array({"digital signature", "key encipherment", "client auth"}));
  return request;
}

CertificateRotation::CertificateRotation(Options options) : options_{std::move(options)} {}

void CertificateRotation::start() { check(); }

void CertificateRotation::check() {
  const std::string& pem = options_.present().certificate_pem;
  if (pem.empty()) {
    return finish(Error{ErrorCode::kInvalid, "the agent reaches the control plane without a client certificate"});
  }
  const auto certificate = inspect_certificate(pem);
  if (!certificate) return finish(certificate.error());
  const UtcMillis now = options_.executor->now();
  if (!rotation_due(certificate.value(), options_.agent->rotation_threshold, now)) return finish(std::nullopt);
  if (auto error = expired(pem, options_.agent->karmada_kubeconfig, now)) return finish(error);
  // The request of an agent without a Cluster is not approved.
  if (!options_.registered()) return later(kRequestPoll, [this] { check(); });
  request(certificate.value());
}

void CertificateRotation::request(const CertificateInfo& certificate) {
  auto made = new_request(certificate.common_name, certificate.organizations);
  if (!made) return finish(made.error());
  key_pem_ = std::move(made.value().key_pem);
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kLetters[random_below(*options_.random, kLetters.size())];
  MemberRequest create;
  create.method = "POST";
  create.path = kRequests;
  create.body = signing_request(certificate, made.value().request_pem, suffix);
  const std::string name = create.body["metadata"]["name"].str();
  ask(*options_.control_plane, options_.control_plane_name, std::move(create),
      [this, name](const Result<MemberResponse>& response) {
        if (status_of(response) != 201) return finish(call_error(response, "requesting a new certificate"));
        log::info("agent.certificate_requested", {log::kv("request", name)});
        wait_for(name, options_.executor->now() + kPatience);
      });
}

void CertificateRotation::wait_for(const std::string& name, UtcMillis until) {
  MemberRequest get;
  get.path = std::string{kRequests} + "/" + name;
  ask(*options_.control_plane, options_.control_plane_name, std::move(get),
      [this, name, until](const Result<MemberResponse>& response) {
        if (status_of(response) == 200) {
          const Value& request = response.value().body;
          if (const Value* denied = condition(request, "Denied")) {
            return finish(Error{ErrorCode::kForbidden,
                                "CertificateSigningRequest " + name + " was denied: " + (*denied)["message"].str()});
          }
          if (const auto pem = base64_decode(request["status"]["certificate"].as_string()); pem && !pem->empty()) {
            ClientTarget target = options_.present();
            target.certificate_pem = *pem;
            target.key_pem = key_pem_;
            return store(std::move(target));
          }
        }
        if (options_.executor->now() >= until) {
          return finish(Error{ErrorCode::kTimeout,
                              "CertificateSigningRequest " + name + " was not approved and signed within 5 minutes"});
        }
        later(kRequestPoll, [this, name, until] { wait_for(name, until); });
      });
}

void CertificateRotation::store(ClientTarget target) {
  MemberRequest get;
  get.path = "/api/v1/namespaces/" + options_.agent->karmada_kubeconfig_namespace + "/secrets/" + kSecret;
  ask(*options_.member, options_.agent->cluster, std::move(get),
      [this, target = std::move(target)](const Result<MemberResponse>& response) {
        if (status_of(response) == 200) return store_in_secret(response.value().body, target);
        if (status_of(response) == 404) return store_in_file(target);
        finish(call_error(response, std::string{"reading Secret "} + kSecret + " of the member"));
      });
}

void CertificateRotation::store_in_secret(const Value& secret, const ClientTarget& target) {
  MemberRequest put;
  put.method = "PUT";
  put.path = "/api/v1/namespaces/" + options_.agent->karmada_kubeconfig_namespace + "/secrets/" + kSecret;
  put.body = secret;
  put.body.edit("data").set(kSecret, base64_encode(kubeconfig_text(options_.agent->cluster, target)));
  ask(*options_.member, options_.agent->cluster, std::move(put),
      [this, target](const Result<MemberResponse>& response) {
        if (status_of(response) != 200) {
          return finish(call_error(response, std::string{"writing Secret "} + kSecret + " of the member"));
        }
        options_.rotated(target);
        finish(std::nullopt);
      });
}

/// A file with several contexts is someone else's as well.
void CertificateRotation::store_in_file(const ClientTarget& target) {
  const std::string& path = options_.agent->karmada_kubeconfig;
  const auto read = read_kubeconfig({path});
  if (!read) return finish(read.error());
  if (read.value().contexts.size() != 1) {
    return finish(Error{ErrorCode::kInvalid, path +
                                                 " has several contexts, and so is not written by the agent: give it "
                                                 "a kubeconfig of its own"});
  }
  const auto written = write_kubeconfig(path, read.value().contexts.begin()->first, target);
  if (!written) return finish(written.error());
  options_.rotated(target);
  finish(std::nullopt);
}

void CertificateRotation::finish(const std::optional<Error>& error) {
  key_pem_.clear();
  options_.trouble(error ? &*error : nullptr);
  later(options_.agent->rotation_check_every, [this] { check(); });
}

void CertificateRotation::ask(Members& server, const std::string& name, MemberRequest request,
                              std::function<void(const Result<MemberResponse>&)> then) {
  server.request(name, std::move(request),
                 [alive = alive_, then = std::move(then)](const Result<MemberResponse>& response) {
                   if (*alive) then(response);
                 });
}

void CertificateRotation::later(Millis delay, std::function<void()> run) {
  options_.executor->post_after(delay, [alive = alive_, run = std::move(run)] {
    if (*alive) run();
  });
}

}  // namespace shiplog::agent
