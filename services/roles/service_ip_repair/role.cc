#include "services/roles/service_ip_repair/role.h"

#include <utility>

#include "events/state/object.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using service_ip_repair::lacks_cluster_ip;

class ServiceIpRepairRole final : public Role {
 public:
  explicit ServiceIpRepairRole(service_ip_repair::AllocateAddresses allocate) : allocate_{std::move(allocate)} {}

  std::string_view name() const override { return "service-ip-repair"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == type::kService && !change.removed() && lacks_cluster_ip(change.after)) {
      wake.push_back(change.object);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, service] : state.objects(type::kService)) {
      if (lacks_cluster_ip(service.value)) wake.push_back({type::kService, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis) {
      return service_ip_repair::decide(state, key, allocate_);
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const service_ip_repair::AllocateAddresses allocate_;
};

}  // namespace

std::unique_ptr<Role> make_service_ip_repair_role(service_ip_repair::AllocateAddresses allocate) {
  return std::make_unique<ServiceIpRepairRole>(std::move(allocate));
}

}  // namespace shiplog
