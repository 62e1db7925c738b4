#include <memory>

#include <CLI/CLI.hpp>

#include "services/http/http.h"
#include "services/programs/shiplogctl/fleet_servers.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/program.h"
#include "services/programs/shiplogctl/promote.h"

namespace shiplog::ctl {

void Program::add_promote() {
  const auto options = std::make_shared<PromoteOptions>();
  auto* sub = add(*app_, "promote", "Take over an object of a member: copy it to the control plane, with a policy",
                  [this, options]() -> Result<int> {
                    usage_ = true;
                    if (options->cluster.empty())
                      return Error{ErrorCode::kBadRequest, "the cluster cannot be empty: -C"};
                    const bool slash = options->words.front().find('/') != std::string::npos;
                    if (options->words.size() != (slash ? 1U : 2U)) {
                      return Error{ErrorCode::kBadRequest, "name one object: promote TYPE NAME -C CLUSTER"};
                    }
                    usage_ = false;
                    SHIPLOG_TRY(options->ns, access_.namespace_or_default());
                    SHIPLOG_TRY(auto plane, access_.connect());
                    SHIPLOG_TRY(plane.get(std::string{kClusters} + "/" + percent_encode(options->cluster)));
                    SHIPLOG_TRY(auto direct, connect_member(options->cluster));
                    FleetServer proxied = member_server(plane, options->cluster);
                    SHIPLOG_TRY(promote(plane, direct ? *direct : proxied.connection, *options, to_));
                    return 0;
                  });
  sub->add_option("OBJECT", options->words, "TYPE NAME, or TYPE/NAME, as for kubectl")->required()->expected(1, 2);
  sub->add_option("-C,--cluster", options->cluster, "The member that has the object")->type_name("NAME");
  sub->add_option("--cluster-kubeconfig", member_kubeconfig_,
                  "Kubeconfig of the member (default: the control plane's proxy)")
      ->type_name("FILE");
  sub->add_option("--cluster-context", member_context_,
                  "Context in it (default: the one named as the cluster, then the current one)")
      ->type_name("NAME");
  sub->add_option("--policy-name", options->policy_name, "Name of the policy (default: the object's, and a hash)")
      ->type_name("NAME");
  sub->add_flag("--auto-create-policy,!--no-auto-create-policy", options->create_policy,
                "Create a policy that claims the object (default)");
  sub->add_flag("-d,--dependencies", options->dependencies, "Also take over the objects that it refers to");
  sub->add_flag("--dry-run", options->dry_run, "Check everything, change nothing");
  add_output(*sub, options->output, {"json", "yaml"});
}

}  // namespace shiplog::ctl
