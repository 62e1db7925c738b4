#include "services/roles/agent_csr_approving/role.h"

#include <optional>
#include <string>
#include <utility>

#include "events/state/rbac.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/roles/agent_csr_approving/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace agent_csr_approving {

Result<Decided> decide_request(const State& state, const ObjectKey& key, UtcMillis now) {
  const auto read = [](const std::string& pem) -> std::optional<CertificateRequest> {
    auto inspected = inspect_request(pem);
    if (!inspected) return std::nullopt;
    return std::move(inspected).value();
  };
  return decide(state, key, now, read);
}

}  // namespace agent_csr_approving

namespace {

using agent_csr_approving::kRequests;

class AgentCsrApprovingRole final : public Role {
 public:
  std::string_view name() const override { return "agent-csr-approving"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kRequests && !change.removed() && agent_csr_approving::pending(change.after)) {
      wake.push_back(change.object);
    }
    if (change.object.type == rbac::kClusterRole || change.object.type == rbac::kClusterRoleBinding) {
      on_start(state, wake);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, request] : state.objects(kRequests)) {
      if (agent_csr_approving::pending(request.value)) wake.push_back({kRequests, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override { follow(agent_csr_approving::decide_request, task); }
};

}  // namespace

std::unique_ptr<Role> make_agent_csr_approving_role() { return std::make_unique<AgentCsrApprovingRole>(); }

}  // namespace shiplog
