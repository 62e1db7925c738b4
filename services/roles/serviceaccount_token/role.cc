#include "services/roles/serviceaccount_token/role.h"

#include "events/state/object.h"
#include "services/roles/serviceaccount_token/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using serviceaccount_token::is_token_secret;
using serviceaccount_token::kServiceAccounts;

class ServiceAccountTokenRole final : public Role {
 public:
  std::string_view name() const override { return "serviceaccount-token"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kServiceAccounts && (change.removed() || deleting(change.after))) {
      wake_secrets(state.objects(type::kSecret, change.object.ns), wake);
    }
    if (change.object.type == type::kSecret && !change.removed() && is_token_secret(change.after)) {
      wake.push_back(change.object);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    wake_secrets(state.objects(type::kSecret), wake);
  }

  void reconcile(TaskPtr task) override { follow(serviceaccount_token::decide, task); }

 private:
  template <class Objects>
  static void wake_secrets(const Objects& secrets, std::vector<ObjectKey>& wake) {
    for (const auto& [name, secret] : secrets) {
      if (is_token_secret(secret.value)) wake.push_back({type::kSecret, name.ns, name.name});
    }
  }
};

}  // namespace

std::unique_ptr<Role> make_serviceaccount_token_role() { return std::make_unique<ServiceAccountTokenRole>(); }

}  // namespace shiplog
