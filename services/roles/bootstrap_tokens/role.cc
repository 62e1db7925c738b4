#include "services/roles/bootstrap_tokens/role.h"

#include <string>
#include <utility>

#include "services/adapters/pki/detached_signature.h"
#include "services/roles/bootstrap_tokens/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using bootstrap_tokens::cluster_info_key;
using bootstrap_tokens::Surroundings;

std::string url_of(const kubernetes_service::ServerAddress& server) {
  const bool v6 = server.ip.find(':') != std::string::npos;
  return "https://" + (v6 ? "[" + server.ip + "]" : server.ip) + ":" + std::to_string(server.port);
}

class BootstrapTokensRole final : public Role {
 public:
  BootstrapTokensRole(std::function<kubernetes_service::ServerAddress()> server,
                      std::function<Result<KeyPair>()> authority,
                      std::function<Result<Value>(const Value& secret)> open)
      : server_{std::move(server)}, authority_{std::move(authority)}, open_{std::move(open)} {}

  std::string_view name() const override { return "bootstrap-tokens"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (bootstrap_tokens::concerns(change.object, change.latest())) {
      wake.push_back(cluster_info_key());
    }
  }

  void on_start(const State&, std::vector<ObjectKey>& wake) override { wake.push_back(cluster_info_key()); }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey&, UtcMillis now) -> Result<Decided> {
      if (!bootstrap_tokens::has_place(state)) return Nothing{};
      SHIPLOG_TRY(const KeyPair authority, authority_());
      return bootstrap_tokens::decide(state, now,
                                      Surroundings{.server_url = url_of(server_()),
                                                   .authority_pem = authority.certificate_pem,
                                                   .open = open_,
                                                   .sign = detached_signature});
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const std::function<kubernetes_service::ServerAddress()> server_;
  const std::function<Result<KeyPair>()> authority_;
  const std::function<Result<Value>(const Value& secret)> open_;
};

}  // namespace

std::unique_ptr<Role> make_bootstrap_tokens_role(std::function<kubernetes_service::ServerAddress()> server,
                                                 std::function<Result<KeyPair>()> authority,
                                                 std::function<Result<Value>(const Value& secret)> open) {
  return std::make_unique<BootstrapTokensRole>(std::move(server), std::move(authority), std::move(open));
}

}  // namespace shiplog
