#include <CLI/CLI.hpp>

#include "services/http/kubeconfig.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {

void Program::add_join() {
  auto* sub = add(*app_, "join", "Add a member cluster (Push mode)", [this]() -> Result<int> {
    SHIPLOG_TRY(check_cluster_name(join_.name));
    if (no_wait_) join_.wait_seconds = 0;
    SHIPLOG_TRY(const auto config, read_kubeconfig({member_kubeconfig_}));
    SHIPLOG_TRY(const auto member_context, context_of(config, member_context_));
    SHIPLOG_TRY(auto member, ServerConnection::open("member cluster " + join_.name, member_context.target));
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(join(plane, member, join_, out_, err_));
    return 0;
  });
  sub->add_option("NAME", join_.name, "Name of the cluster in the fleet: a DNS label of at most 48 characters")
      ->required();
  sub->add_option("--cluster-kubeconfig", member_kubeconfig_, "Kubeconfig of the member")
      ->required()
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
  sub->add_option("--wait", join_.wait_seconds, "Seconds to wait for it to become ready")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_flag("--no-wait", no_wait_, "Do not wait for it to become ready");
  sub->add_flag("--dry-run", join_.dry_run, "Check everything, change nothing");
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
  sub->add_option("--wait", unjoin_.wait_seconds, "Seconds to wait for the removal of the Cluster")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
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
  sub->add_option("--wait", rotate_.wait_seconds,
                  "Seconds to wait for the cluster to be ready with the new credentials")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--grace", rotate_.grace_seconds,
                  "Seconds for which the old token stays valid in addition to the new one")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void Program::add_member_kubeconfig(CLI::App& sub) {
  sub.add_option("--cluster-kubeconfig", member_kubeconfig_,
                 "Kubeconfig of the member (default: the credentials of the control plane)")
      ->type_name("FILE");
  sub.add_option("--cluster-context", member_context_, "Context in it (default: the current one)")->type_name("NAME");
}

Result<std::optional<ServerConnection>> Program::connect_member(const std::string& name) const {
  if (member_kubeconfig_.empty()) return std::optional<ServerConnection>{};
  SHIPLOG_TRY(const auto config, read_kubeconfig({member_kubeconfig_}));
  SHIPLOG_TRY(const auto context, context_of(config, member_context_));
  SHIPLOG_TRY(auto member, ServerConnection::open("member cluster " + name, context.target));
  return std::optional{std::move(member)};
}

}  // namespace shiplog::ctl
