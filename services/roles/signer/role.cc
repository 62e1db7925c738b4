#include "services/roles/signer/role.h"

#include <algorithm>

#include "events/base/base64.h"
#include "events/state/agent_identity.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/roles/signer/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using signer::kRequests;

constexpr int64_t kLongest = 365LL * 24 * 3600;  // seconds
/// It is used for the few seconds that a registration takes.
constexpr int64_t kLongestOfRbacGenerator = 3600;
constexpr int64_t kBackdate = 5 * 60 * 1000;  // clocks differ

std::optional<UtcMillis> expiry_of(const Value& request) {
  const auto pem = base64_decode(request["status"]["certificate"].as_string());
  if (!pem || pem->empty()) return std::nullopt;
  const auto info = inspect_certificate(*pem);
  if (!info) return std::nullopt;
  return info.value().not_after;
}

Value failed(const Value& request, const std::string& why, UtcMillis now) {
  Value refused = request;
  refused.edit("status")
      .edit("conditions")
      .push_back(Value::object({{"type", "Failed"},
                                {"status", "True"},
                                {"reason", "SignerValidationFailure"},
                                {"message", why},
                                {"lastUpdateTime", rfc3339(now)},
                                {"lastTransitionTime", rfc3339(now)}}));
  return refused;
}

/// The request with a certificate, or with why there is none.
Result<Value> signed_by(const Authority& authorities, const Value& request, UtcMillis now) {
  SHIPLOG_TRY(const KeyPair authority, authorities());
  const Value& spec = request["spec"];
  const std::string pem = base64_decode(spec["request"].as_string()).value_or("");
  const auto inspected = inspect_request(pem);
  if (!inspected) return failed(request, inspected.error().message, now);
  if (const auto problem = signer::signer_problem(spec, inspected.value())) return failed(request, *problem, now);
  std::vector<std::string> usages;
  for (const Value& usage : spec["usages"].items()) usages.push_back(usage.str());
  const bool registers = inspected.value().common_name == agent_identity::kRbacGenerator;
  const int64_t longest = registers ? kLongestOfRbacGenerator : kLongest;
  const int64_t seconds = std::min(spec["expirationSeconds"].as_int(longest), longest);
  const auto certificate =
      sign_request(authority, pem, usages, {{now.value - kBackdate}, {now.value + seconds * 1000}});
  if (!certificate) {
    if (certificate.error().code == ErrorCode::kInvalid) return failed(request, certificate.error().message, now);
    return certificate.error();
  }
  Value signed_request = request;
  signed_request.edit("status").set("certificate", base64_encode(certificate.value()));
  return signed_request;
}

class SignerRole final : public Role {
 public:
  explicit SignerRole(const Authority& authority)
      : authority_{expiry_of,
                   [authority](const Value& request, UtcMillis now) { return signed_by(authority, request, now); }} {}

  std::string_view name() const override { return "signer"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kRequests && !change.removed()) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, object] : state.objects(kRequests)) wake.push_back({kRequests, name.ns, name.name});
  }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis now) {
      return signer::decide(state, key, now, authority_);
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const signer::CertificateAuthority authority_;
};

}  // namespace

std::unique_ptr<Role> make_signer_role(const Authority& authority) { return std::make_unique<SignerRole>(authority); }

}  // namespace shiplog
