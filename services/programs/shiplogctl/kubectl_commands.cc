#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "services/http/http.h"
#include "services/programs/shiplogctl/apply.h"
#include "services/programs/shiplogctl/child_process.h"
#include "services/programs/shiplogctl/fleet_servers.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/kubectl_words.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

bool runs_on_members_only(const std::string& name) {
  const auto& all = kubectl_commands();
  return std::ranges::any_of(all, [&](const auto& command) { return command.only_members && name == command.name; });
}

Result<std::string> the_cluster(const KubectlCommand& command) {
  if (command.clusters.size() > 1) {
    return Error{ErrorCode::kBadRequest, command.name + " is for one cluster at a time: -C NAME"};
  }
  if (!command.clusters.empty() && command.scope == "karmada") {
    return Error{ErrorCode::kBadRequest, "-C selects a member cluster: it goes with --operation-scope members"};
  }
  if (!command.clusters.empty()) return command.clusters.front();
  if (command.scope == "members") return Error{ErrorCode::kBadRequest, "must specify a member cluster: -C NAME"};
  if (runs_on_members_only(command.name)) {
    return Error{ErrorCode::kBadRequest,
                 "must specify a cluster: -C NAME (pods run in member clusters; `shiplogctl get "
                 "pods --operation-scope members` lists them)"};
  }
  return std::string{};
}

/// Runs kubectl in place of this process. Returns only a failure.
Error run_kubectl(const KubectlCommand& command, const AccessOptions& access) {
  const auto cluster = the_cluster(command);
  if (!cluster) return cluster.error();
  std::vector<std::string> words = kubectl_words(command, "", "");
  if (!cluster.value().empty()) {
    const auto resolved = access.resolve();
    if (!resolved) return resolved.error();
    auto plane = access.connect();
    if (!plane) return plane.error();
    const auto present = plane.value().get(std::string{kClusters} + "/" + percent_encode(cluster.value()));
    // One who may use the proxy need not have the right to read clusters.
    if (!present && present.error().code != ErrorCode::kForbidden) return present.error();
    std::string url = resolved.value().target.url;
    while (url.ends_with('/')) url.pop_back();
    words = kubectl_words(command, url + proxy_path(cluster.value()), resolved.value().target.server_name);
  }
  const Error failed = become(words);
  return failed.context("shiplogctl " + command.name + " runs kubectl");
}

}  // namespace

void Program::add_kubectl_commands() {
  for (const KubectlCommandName& command : kubectl_commands()) {
    if (command.name == std::string_view{"apply"}) continue;
    const std::string name = command.name;
    // Read by read_kubectl_command(): here for help and completion.
    const auto unused = std::make_shared<ClusterScope>();
    auto* sub = add(*app_, name, command.what, [name, unused]() -> Result<int> {
      return Error{ErrorCode::kInternal, name + " was not passed on to kubectl"};
    });
    sub->add_option("-C,--cluster", unused->clusters, "The member cluster, through the control plane")
        ->type_name("NAME");
    if (!command.only_members) {
      const std::vector<std::string> scopes = {"karmada", "members"};
      values_[sub->add_option("-s,--operation-scope", unused->scope, "karmada (default), or members with -C")
                  ->type_name("SCOPE")] = scopes;
    }
    sub->add_option("WORDS", unused->clusters, "As for kubectl " + name);
    sub->allow_extras();
    sub->footer("kubectl, which must be installed, runs this command with your credentials; `kubectl " + name +
                " --help` prints its other options.");
  }
}

std::optional<int> Program::run_kubectl_command(const std::vector<std::string>& words) {
  const auto read = read_kubectl_command(words);
  if (!read) {
    err_ << "error: " << read.error().message << "\nRun `" << app_->get_name() << " --help` for usage." << std::endl;
    return 2;
  }
  if (!read.value() || read.value()->help) return std::nullopt;
  const KubectlCommand& command = *read.value();
  access_.kubeconfig = command.kubeconfig;
  access_.context = command.context;
  if (command.name == "apply") {
    const auto applied = apply_with_policies(command, access_);
    if (applied) return applied.value();
    err_ << "error: " << applied.error().message << std::endl;
    return 1;
  }
  if (command.all_clusters) {
    err_ << "error: there is no option --all-clusters of " << command.name << std::endl;
    return 2;
  }
  const Error failed = run_kubectl(command, access_);
  err_ << "error: " << failed.message << std::endl;
  return 1;
}

void Program::add_apply() {
  const auto unused = std::make_shared<KubectlCommand>();
  auto* sub =
      add(*app_, "apply", "Apply objects, with a policy that places each on clusters", [unused]() -> Result<int> {
        return Error{ErrorCode::kInternal, "apply was not passed on to kubectl"};
      });
  sub->add_option("-C,--cluster", unused->clusters, "With each object, a policy that places it on these clusters")
      ->type_name("NAME,...");
  sub->add_flag("--all-clusters", unused->all_clusters, "With each object, a policy that places it on all clusters");
  sub->add_option("WORDS", unused->words, "As for kubectl apply: -f FILE, -k FOLDER, -R, --dry-run=server ...");
  sub->allow_extras();
  sub->footer(
      "kubectl, which must be installed, applies the objects and their policies; `kubectl apply --help` prints its "
      "other options.");
}

}  // namespace shiplog::ctl
