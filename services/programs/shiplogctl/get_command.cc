#include <algorithm>

#include <CLI/CLI.hpp>

#include "events/base/system.h"
#include "services/programs/shiplogctl/object_print.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

bool is_one_of(const std::string& word, std::initializer_list<const char*> names) {
  return std::ranges::find(names, word) != names.end();
}

/// Whether the fleet's own list of clusters serves the command: no selection, no form of output that it does not have.
bool is_plain(const GetObjectsOptions& get) {
  const bool plain_form = is_one_of(get.output, {"", "wide", "json", "yaml", "name"});
  return plain_form && get.scope.clusters.empty() && get.scope.scope.empty() && !get.watch && !get.watch_only &&
         get.selector.empty() && get.field_selector.empty() && get.sort_by.empty() && get.label_columns.empty() &&
         !get.show_labels && !get.show_kind && !get.ignore_not_found && !get.managed_fields;
}

/// What `get workloads` does not do: it lists bindings, and not the objects themselves.
Result<void> check_workloads(const GetObjectsOptions& get) {
  if (get.words.size() > 1 || get.scope.clusters.size() > 1) {
    return Error{ErrorCode::kBadRequest, "get workloads takes no names and one cluster: select by -C and namespace"};
  }
  if (!is_one_of(get.output, {"", "wide", "json", "yaml", "name"})) {
    return Error{ErrorCode::kBadRequest, "get workloads prints wide, json, yaml and name"};
  }
  for (const auto& [given, option] :
       std::initializer_list<std::pair<bool, const char*>>{{!get.scope.scope.empty(), "--operation-scope"},
                                                           {!get.selector.empty(), "--selector"},
                                                           {!get.field_selector.empty(), "--field-selector"},
                                                           {!get.label_columns.empty(), "--label-columns"},
                                                           {get.watch, "--watch"},
                                                           {get.watch_only, "--watch-only"},
                                                           {!get.sort_by.empty(), "--sort-by"},
                                                           {get.show_labels, "--show-labels"},
                                                           {get.show_kind, "--show-kind"}}) {
    if (!given) continue;
    return Error{ErrorCode::kBadRequest,
                 std::string{"get workloads has no "} + option + ": select by -C and namespace, or get a kind"};
  }
  return ok();
}

}  // namespace

Result<int> Program::run_get() {
  const std::string& type = get_.words.front();
  if (is_one_of(type, {"clusters", "cluster", "clusters.cluster.karmada.io"}) && is_plain(get_)) {
    get_clusters_.names.assign(get_.words.begin() + 1, get_.words.end());
    get_clusters_.output = get_.output;
    get_clusters_.at = get_.at;
    get_clusters_.no_headers = get_.no_headers;
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(get_clusters(plane, get_clusters_, to_));
    return 0;
  }
  const bool workloads = is_one_of(type, {"workloads", "workload"});
  usage_ = true;
  if (workloads) {
    SHIPLOG_TRY(check_workloads(get_));
  }
  usage_ = false;
  get_.all_namespaces = all_namespaces_;
  if (!all_namespaces_) {
    SHIPLOG_TRY(get_.ns, access_.namespace_or_default());
  }
  SHIPLOG_TRY(auto plane, access_.connect());
  if (!workloads) {
    SHIPLOG_TRY(const bool complete, get_objects(plane, get_, to_));
    return complete ? 0 : 1;
  }
  workloads_.ns = get_.ns;
  workloads_.cluster = get_.scope.clusters.empty() ? "" : get_.scope.clusters.front();
  workloads_.output = get_.output;
  workloads_.at = get_.at;
  workloads_.no_headers = get_.no_headers;
  SHIPLOG_TRY(get_workloads(plane, workloads_, SystemClock{}.now(), to_));
  return 0;
}

void Program::add_scope(CLI::App& sub, ClusterScope& scope) {
  const std::vector<std::string> scopes = {"karmada", "members", "all"};
  values_[sub.add_option("-s,--operation-scope", scope.scope,
                         "Where: karmada (the control plane), members, all (default: karmada, with -C members)")
              ->check(CLI::IsMember(scopes))
              ->type_name("SCOPE")] = scopes;
  add_clusters(sub, scope);
}

void Program::add_clusters(CLI::App& sub, ClusterScope& scope) {
  sub.add_option("-C,--clusters,--cluster", scope.clusters, "These member clusters, comma-separated (default: all)")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check([](const std::string& name) {
        return name.empty() ? std::string{"the name of a member cluster is needed"} : std::string{};
      })
      ->type_name("NAME,...");
  sub.add_option("--cluster-timeout", scope.timeout_seconds,
                 "Seconds for the answers of a member; one that takes longer is reported, the others are shown")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void Program::add_get() {
  auto* sub =
      add(*app_, "get", "List objects of the control plane and of members in one table", [this] { return run_get(); });
  sub->add_option("TYPE", get_.words,
                  "TYPE[,TYPE...] [NAME...], or TYPE/NAME..., as for kubectl; or workloads: what runs where")
      ->required();
  add_scope(*sub, get_.scope);
  sub->add_flag("-A,--all-namespaces", all_namespaces_, "All namespaces");
  sub->add_option("-l,--labels,--selector", get_.selector, "Only objects with these labels")->type_name("SELECTOR");
  sub->add_option("--field-selector", get_.field_selector, "Only objects with these fields")->type_name("SELECTOR");
  sub->add_option("-L,--label-columns", get_.label_columns, "A column for each of these labels")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("LABEL,...");
  sub->add_flag("-w,--watch", get_.watch, "Then print changes, until interrupted; one type");
  sub->add_flag("--watch-only", get_.watch_only, "Print only changes");
  sub->add_flag("--output-watch-events", get_.event_types, "With a watch: also print what happened to the object");
  sub->add_option("--sort-by", get_.sort_by, "Sort by this field: .metadata.name")->type_name("JSONPATH");
  sub->add_flag("--show-labels", get_.show_labels, "A column with all labels");
  sub->add_flag("--show-kind", get_.show_kind, "Print the kind before each name");
  sub->add_flag("--show-managed-fields", get_.managed_fields, "With json and yaml: also managed fields");
  sub->add_flag("--ignore-not-found", get_.ignore_not_found, "A missing object is no error");
  sub->add_flag("--all-kinds", workloads_.all_kinds, "With workloads: also objects that run no pods");
  values_[sub->add_option("-o,--output", get_.output,
                          "Output format: wide, json, yaml, name, jsonpath=..., jsonpath-file=..., "
                          "custom-columns=..., custom-columns-file=... (default: text)")
              ->check([](const std::string& output) {
                if (!ObjectPrinter::prints_objects(output)) return std::string{};
                const auto printer = ObjectPrinter::make(output, false);
                return printer ? std::string{} : printer.error().message;
              })
              ->type_name("FORMAT")] = {"json", "yaml", "name", "wide", "jsonpath=", "custom-columns="};
  add_at(*sub, get_.at);
  sub->add_flag("--no-headers", get_.no_headers, "Print rows only");
}

}  // namespace shiplog::ctl
