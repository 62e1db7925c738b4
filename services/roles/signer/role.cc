#include "services/roles/signer/role.h"

#include <algorithm>

#include "events/base/base64.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/roles/signer/decide.h"

namespace shiplog {
namespace {

using signer::kRequests;
using signer::Step;

constexpr int64_t kLongest = 365LL * 24 * 3600;  // seconds
constexpr int64_t kBackdate = 5 * 60 * 1000;     // clocks differ

std::optional<UtcMillis> expiry_of(const Value& request) {
  const auto pem = base64_decode(request["status"]["certificate"].as_string());
  if (!pem || pem->empty()) return std::nullopt;
  const auto info = inspect_certificate(*pem);
  if (!info) return std::nullopt;
  return info.value().not_after;
}

class SignerRole final : public Role {
 public:
  explicit SignerRole(Authority authority) : authority_{std::move(authority)} {}

  std::string_view name() const override { return "signer"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kRequests && !change.removed()) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, object] : state.objects(kRequests)) wake.push_back({kRequests, name.ns, name.name});
  }

  void reconcile(TaskPtr task) override {
    const Value request = task->state().value_of(task->key());
    if (request.is_null()) return task->done();
    const Step step = signer::next_step(request, expiry_of(request), task->now());
    if (step.what == Step::What::kWait) return task->done(step.again);
    Decision decision;
    decision.expects = {{task->key(), task->state().revision_of(task->key())}};
    if (step.what == Step::What::kRemove) {
      decision.events = {DeletionRequested{task->key(), 0, "Background"}};
    } else {
      auto answered = answer(request, task->now());
      if (!answered) return task->retry(answered.error());
      decision.events = {StatusUpdated{task->key(), std::move(answered).value()}};
    }
    task->append_observation(std::move(decision), [task](const Result<Revision>& appended) {
      // Somebody else changed it: that change has woken the key already.
      if (!appended && appended.error().code != ErrorCode::kConflict) return task->retry(appended.error());
      task->done();
    });
  }

 private:
  /// The request with a certificate, or with why there is none.
  Result<Value> answer(const Value& request, UtcMillis now) const {
    SHIPLOG_TRY(const KeyPair authority, authority_());
    const Value& spec = request["spec"];
    const std::string pem = base64_decode(spec["request"].as_string()).value_or("");
    const auto asked = inspect_request(pem);
    if (!asked) return failed(request, asked.error().message, now);
    if (const auto problem = signer::signer_problem(spec, asked.value())) return failed(request, *problem, now);
    std::vector<std::string> usages;
    for (const Value& usage : spec["usages"].items()) usages.push_back(usage.str());
    const int64_t seconds = std::min(spec["expirationSeconds"].as_int(kLongest), kLongest);
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

  static Value failed(const Value& request, const std::string& why, UtcMillis now) {
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

  Authority authority_;
};

}  // namespace

std::unique_ptr<Role> make_signer_role(Authority authority) {
  return std::make_unique<SignerRole>(std::move(authority));
}

}  // namespace shiplog
