#include "services/roles/apiservice_registration/role.h"

#include "services/roles/apiservice_registration/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using apiservice_registration::kApiServices;

/// There is one decision about all of them.
const ObjectKey kAll{kApiServices, "", "all"};

class ApiServiceRegistrationRole final : public Role {
 public:
  explicit ApiServiceRegistrationRole(const Kinds& compiled) : compiled_{compiled} {}

  std::string_view name() const override { return "apiservice-registration"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    const bool defines = change.object.type == type::kCustomResourceDefinition;
    if (defines || (change.object.type == kApiServices && change.removed())) wake.push_back(kAll);
  }

  void on_start(const State&, std::vector<ObjectKey>& wake) override { wake.push_back(kAll); }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey&, UtcMillis now) -> Result<Decided> {
      return apiservice_registration::decide(state, now, compiled_);
    };
    follow(decide, task);
  }

 private:
  const Kinds& compiled_;
};

}  // namespace

std::unique_ptr<Role> make_apiservice_registration_role(const Kinds& compiled) {
  return std::make_unique<ApiServiceRegistrationRole>(compiled);
}

}  // namespace shiplog
