#include <cstdlib>

#include <CLI/CLI.hpp>

#include "events/base/time.h"
#include "services/http/kubeconfig.h"
#include "services/programs/shiplogctl/credential_plugin.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

/// karmadactl takes durations ("2m"); a number alone is in seconds.
void add_wait(CLI::App& sub, int64_t& seconds, const std::string& what) {
  const auto read = [&seconds](const std::string& text) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    const auto wait = parse_duration(number ? text + "s" : text);
    if (!wait || wait.value().value <= 0) {
      throw CLI::ValidationError{"--wait " + text + " must be a positive duration, e.g. 1m0s"};
    }
    seconds = (wait.value().value + 999) / 1000;
  };
  sub.add_option_function<std::string>("--wait", read, what)
      ->type_name("DURATION")
      ->default_str(std::to_string(seconds) + "s");
}

}  // namespace

void Program::add_join() {
  auto* sub = add(*app_, "join", "Add a member cluster (Push mode)", [this]() -> Result<int> {
    SHIPLOG_TRY(check_cluster_name(join_.name));
    if (no_wait_) join_.wait_seconds = 0;
    std::erase(join_.zones, "");
    const auto files = kubeconfig_paths(member_kubeconfig_, std::getenv("KUBECONFIG"), std::getenv("HOME"));
    SHIPLOG_TRY(const auto config, read_kubeconfig(files));
    SHIPLOG_TRY(const auto member_context, context_with_plugin(config, member_context_));
    SHIPLOG_TRY(auto member, connect_to("member cluster " + join_.name, member_context));
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(join(plane, member, join_, out_, err_));
    return 0;
  });
  sub->add_option("NAME", join_.name, "Name of the cluster in the fleet: a DNS label of at most 48 characters")
      ->required();
  sub->add_option("--cluster-kubeconfig", member_kubeconfig_,
                  "Kubeconfig of the member (default: $KUBECONFIG, then ~/.kube/config)")
      ->type_name("FILE");
  sub->add_option("--cluster-context", member_context_, "Context in it (default: the current one)")->type_name("NAME");
  sub->add_option("--cluster-namespace", join_.ns,
                  "Namespace of the credentials, in the control plane and in the member")
      ->capture_default_str()
      ->type_name("NS");
  sub->add_option("--cluster-provider", join_.provider, "Provider, by which policies can select")->type_name("TEXT");
  sub->add_option("--cluster-region", join_.region, "Region, by which policies can select")->type_name("TEXT");
  sub->add_option("--cluster-zones,--cluster-zone", join_.zones, "Zones, comma-separated, by which policies can select")
      ->delimiter(',')
      ->type_name("ZONE,...");
  add_wait(*sub, join_.wait_seconds, "How long to wait for it to become ready");
  sub->add_flag("--no-wait", no_wait_, "Do not wait for it to become ready");
  sub->add_flag("--dry-run", join_.dry_run, "Check everything, change nothing");
  // karmadactl's names for what are global options here.
  sub->add_option("--karmada-as", access_.as.user)->group("");
  sub->add_option("--karmada-as-group", access_.as.groups)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("");
  sub->add_option("--karmada-as-uid", access_.as.uid)->group("");
}

void Program::add_unjoin() {
  auto* sub = add(*app_, "unjoin", "Remove a member cluster", [this]() -> Result<int> {
    SHIPLOG_TRY(check_cluster_name(unjoin_.name));
    SHIPLOG_TRY(auto member, connect_member(unjoin_.name));
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(unjoin(plane, member ? &*member : nullptr, unjoin_, out_, err_));
    return 0;
  });
  sub->add_option("NAME", unjoin_.name, "The member cluster")->required();
  add_member_kubeconfig(*sub);
  sub->add_option("--cluster-namespace", unjoin_.ns, "Namespace of the member's credentials in the control plane")
      ->capture_default_str()
      ->type_name("NS");
  add_wait(*sub, unjoin_.wait_seconds, "How long to wait for the removal of the Cluster");
  sub->add_flag("--force", unjoin_.force, "Then remove the finalizers: for a member that no longer exists");
  sub->add_flag("--dry-run", unjoin_.dry_run, "Check everything, change nothing");
}

void Program::add_rotate() {
  auto* sub = add(*app_, "rotate-credentials", "Replace the credentials that the control plane uses for a member",
                  [this]() -> Result<int> {
                    SHIPLOG_TRY(check_cluster_name(rotate_.name));
                    SHIPLOG_TRY(auto member, connect_member(rotate_.name));
                    SHIPLOG_TRY(auto plane, access_.connect());
                    SHIPLOG_TRY(rotate_credentials(plane, member ? &*member : nullptr, rotate_, out_, err_));
                    return 0;
                  });
  sub->add_option("NAME", rotate_.name, "The member cluster")->required();
  add_member_kubeconfig(*sub);
  sub->add_option("--cluster-namespace", rotate_.ns,
                  "Namespace of the credentials, in the control plane and in the member")
      ->capture_default_str()
      ->type_name("NS");
  add_wait(*sub, rotate_.wait_seconds, "How long to wait for the cluster to be ready with the new credentials");
  sub->add_option("--grace", rotate_.grace_seconds,
                  "Seconds for which the old token stays valid in addition to the new one")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void Program::add_member_kubeconfig(CLI::App& sub) {
  sub.add_option("--cluster-kubeconfig", member_kubeconfig_,
                 "Kubeconfig of the member (default: the credentials of the control plane)")
      ->type_name("FILE");
  sub.add_option("--cluster-context", member_context_,
                 "Context in it (default: the one named as the cluster, then the current one)")
      ->type_name("NAME");
}

Result<std::optional<ServerConnection>> Program::connect_member(const std::string& name) const {
  if (member_kubeconfig_.empty()) return std::optional<ServerConnection>{};
  SHIPLOG_TRY(const auto config, read_kubeconfig({member_kubeconfig_}));
  const bool named = member_context_.empty() && config.contexts.contains(name);
  SHIPLOG_TRY(const auto context, context_with_plugin(config, named ? name : member_context_));
  SHIPLOG_TRY(auto member, connect_to("member cluster " + name, context));
  return std::optional{std::move(member)};
}

}  // namespace shiplog::ctl
