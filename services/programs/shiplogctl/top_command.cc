#include <memory>

#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/program.h"
#include "services/programs/shiplogctl/top.h"

namespace shiplog::ctl {

void Program::add_top() {
  auto* sub = add(*app_, "top", "Show the CPU and memory that pods and nodes of members use", []() -> Result<int> {
    return Error{ErrorCode::kBadRequest, "top pod or top node"};
  });
  sub->require_subcommand(1);
  const std::vector<std::string> orders = {"cpu", "memory"};
  const auto add_common = [&](CLI::App& one, const std::shared_ptr<TopOptions>& options) {
    one.add_option("NAME", options->name, "Only this one");
    add_clusters(one, options->scope);
    one.add_option("-l,--selector", options->selector, "Only those with these labels")->type_name("SELECTOR");
    values_[one.add_option("--sort-by", options->sort_by, "cpu or memory: the largest first (default: by name)")
                ->check([](const std::string& order) {
                  return order == "cpu" || order == "memory" ? std::string{} : "--sort-by accepts only cpu or memory";
                })
                ->type_name("WHAT")] = orders;
    one.add_flag("--sum", options->sum, "Also print the total");
    one.add_flag("--no-headers", options->no_headers, "Print rows only");
    one.add_flag("--use-protocol-buffers")->group("");  // an option of kubectl's; there is no difference in the output
  };

  const auto pods = std::make_shared<TopOptions>();
  auto* pod = add(*sub, "pod", "CPU and memory of pods", [this, pods]() -> Result<int> {
    pods->all_namespaces = all_namespaces_;
    if (!all_namespaces_) {
      SHIPLOG_TRY(pods->ns, access_.namespace_or_default());
    }
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(const bool complete, top_pods(plane, *pods, to_));
    return complete ? 0 : 1;
  });
  pod->alias("pods")->alias("po");
  add_common(*pod, pods);
  pod->add_flag("-A,--all-namespaces", all_namespaces_, "All namespaces");
  pod->add_option("--field-selector", pods->field_selector, "Only those with these fields")->type_name("SELECTOR");
  pod->add_flag("--containers", pods->containers, "A row for each container");

  const auto nodes = std::make_shared<TopOptions>();
  auto* node = add(*sub, "node", "CPU and memory of nodes", [this, nodes]() -> Result<int> {
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(const bool complete, top_nodes(plane, *nodes, to_));
    return complete ? 0 : 1;
  });
  node->alias("nodes")->alias("no");
  add_common(*node, nodes);
  node->add_flag("--show-capacity", nodes->capacity, "Percent of the capacity, not of what is allocatable");
}

}  // namespace shiplog::ctl
