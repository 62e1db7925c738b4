#include "services/roles/kubernetes_service/role.h"

#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using kubernetes_service::kubernetes_service_key;

class KubernetesServiceRole final : public Role {
 public:
  explicit KubernetesServiceRole(std::function<kubernetes_service::ServerAddress()> server)
      : server_{std::move(server)} {}

  std::string_view name() const override { return "kubernetes-service"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (kubernetes_service::is_kubernetes_service(change.object)) wake.push_back(kubernetes_service_key());
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    // Before the first one, which an API server writes when it starts, there is nothing to keep.
    if (state.find(kubernetes_service_key()) != nullptr) wake.push_back(kubernetes_service_key());
  }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey&, UtcMillis) -> Result<Decided> {
      return kubernetes_service::decide(state, server_(), kubernetes_service::Addresses::kKeep);
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const std::function<kubernetes_service::ServerAddress()> server_;
};

}  // namespace

std::unique_ptr<Role> make_kubernetes_service_role(std::function<kubernetes_service::ServerAddress()> server) {
  return std::make_unique<KubernetesServiceRole>(std::move(server));
}

}  // namespace shiplog
