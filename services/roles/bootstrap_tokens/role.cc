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

class BootstrapTokensRole final : public Role {
 public:
  BootstrapTokensRole(std::function<std::string()> server_url, std::function<Result<KeyPair>()> authority,
                      std::function<Result<Value>(const Value& secret)> open)
      : server_url_{std::move(server_url)}, authority_{std::move(authority)}, open_{std::move(open)} {}

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
                                      Surroundings{.server_url = server_url_(),
                                                   .authority_pem = authority.certificate_pem,
                                                   .open = open_,
                                                   .sign = detached_signature});
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const std::function<std::string()> server_url_;
  const std::function<Result<KeyPair>()> authority_;
  const std::function<Result<Value>(const Value& secret)> open_;
};

}  // namespace

std::unique_ptr<Role> make_bootstrap_tokens_role(std::function<std::string()> server_url,
                                                 std::function<Result<KeyPair>()> authority,
                                                 std::function<Result<Value>(const Value& secret)> open) {
  return std::make_unique<BootstrapTokensRole>(std::move(server_url), std::move(authority), std::move(open));
}

}  // namespace shiplog
