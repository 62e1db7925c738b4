#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "services/http/http.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/program.h"
#include "services/programs/shiplogctl/taints.h"

namespace shiplog::ctl {
namespace {

constexpr int kAttempts = 5;

struct ClusterChange {
  std::vector<std::string> words;
  bool dry_run = false;
  bool overwrite = false;
};

/// The new taints, computed from the present ones; nullopt: no change.
using Change = std::function<Result<std::optional<Value>>(const Value& taints)>;

/// Writes the taints only if they are still those that the change was computed from.
Result<bool> change_cluster(ServerConnection& plane, const std::string& name, bool dry_run, const Change& change) {
  const std::string path = std::string{kClusters} + "/" + percent_encode(name);
  for (int attempt = 1;; ++attempt) {
    SHIPLOG_TRY(const Value cluster, plane.get(path));
    SHIPLOG_TRY(const auto taints, change(cluster["spec"]["taints"]));
    if (!taints) return false;
    if (dry_run) return true;
    const Value patch =
        Value::object({{"metadata", Value::object({{"resourceVersion", cluster["metadata"]["resourceVersion"]}})},
                       {"spec", Value::object({{"taints", taints->size() == 0 ? Value{} : *taints}})}});
    const auto patched = plane.merge_patch(path, patch);
    if (patched) return true;
    if (patched.error().code != ErrorCode::kConflict || attempt == kAttempts) return patched.error();
  }
}

Result<std::string> one_cluster(const std::vector<std::string>& words) {
  if (words.empty()) return Error{ErrorCode::kBadRequest, "cluster name is required"};
  if (words.size() > 1) return Error{ErrorCode::kBadRequest, "more than one cluster name is not supported"};
  return words.front();
}

Result<std::optional<Value>> cordoned(const Value& taints) {
  if (has_taint(taints, unschedulable_taint())) return std::optional<Value>{};
  Value changed = taints.is_array() ? taints : Value::array();
  changed.push_back(unschedulable_taint());
  return std::optional{std::move(changed)};
}

Result<std::optional<Value>> uncordoned(const Value& taints) {
  const Value cordon = unschedulable_taint();
  if (!has_taint(taints, cordon)) return std::optional<Value>{};
  Value::Array rest;
  for (const Value& taint : taints.items()) {
    if (!has_taint(Value::array({taint}), cordon)) rest.push_back(taint);
  }
  return std::optional{Value::array(std::move(rest))};
}

/// The clusters and the changes of `taint clusters NAME... SPEC...`.
struct TaintArguments {
  std::vector<std::string> clusters;
  TaintChanges changes;
};
Result<TaintArguments> taint_arguments(const std::vector<std::string>& words) {
  std::vector<std::string> resources;
  std::vector<std::string> specs;
  for (const std::string& word : words) {
    const bool is_spec = word.find_first_of("=:") != std::string::npos || word.ends_with("-");
    if (!is_spec && !specs.empty()) {
      return Error{ErrorCode::kBadRequest, "all resources must be specified before taint changes: " + word};
    }
    (is_spec ? specs : resources).push_back(word);
  }
  if (resources.empty()) {
    return Error{ErrorCode::kBadRequest, "one or more resources must be specified as <resource> <name>"};
  }
  if (specs.empty()) return Error{ErrorCode::kBadRequest, "at least one taint update is required"};
  if (resources.front() != "cluster" && resources.front() != "clusters") {
    return Error{ErrorCode::kBadRequest,
                 "invalid resource type " + resources.front() + ", only [\"cluster\" \"clusters\"] are supported"};
  }
  if (resources.size() < 2) return Error{ErrorCode::kBadRequest, "at least one resource name must be specified"};
  SHIPLOG_TRY(auto changes, parse_taints(specs));
  return TaintArguments{{resources.begin() + 1, resources.end()}, std::move(changes)};
}

}  // namespace

void Program::add_cordon() {
  const auto options = std::make_shared<ClusterChange>();
  auto* sub = add(*app_, "cordon", "Mark a member cluster as unschedulable", [this, options]() -> Result<int> {
    SHIPLOG_TRY(const auto name, one_cluster(options->words));
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(const bool changed, change_cluster(plane, name, options->dry_run, cordoned));
    out_ << name << " cluster " << (changed ? "" : "already ") << "cordoned" << std::endl;
    return 0;
  });
  sub->add_option("CLUSTER", options->words, "The member cluster");
  sub->add_flag("--dry-run", options->dry_run, "Check everything, change nothing");
}

void Program::add_uncordon() {
  const auto options = std::make_shared<ClusterChange>();
  auto* sub = add(*app_, "uncordon", "Mark a member cluster as schedulable", [this, options]() -> Result<int> {
    SHIPLOG_TRY(const auto name, one_cluster(options->words));
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(const bool changed, change_cluster(plane, name, options->dry_run, uncordoned));
    out_ << name << " cluster " << (changed ? "" : "already ") << "uncordoned" << std::endl;
    return 0;
  });
  sub->add_option("CLUSTER", options->words, "The member cluster");
  sub->add_flag("--dry-run", options->dry_run, "Check everything, change nothing");
}

void Program::add_taint() {
  const auto options = std::make_shared<ClusterChange>();
  auto* sub = add(*app_, "taint", "Change the taints of member clusters", [this, options]() -> Result<int> {
    SHIPLOG_TRY(const auto wanted, taint_arguments(options->words));
    SHIPLOG_TRY(auto plane, access_.connect());
    for (const std::string& name : wanted.clusters) {
      std::string what;
      const auto change = [&](const Value& taints) -> Result<std::optional<Value>> {
        SHIPLOG_TRY(auto changed, change_taints(name, taints, wanted.changes, options->overwrite));
        what = changed.what;
        return std::optional{std::move(changed.taints)};
      };
      SHIPLOG_TRY(change_cluster(plane, name, options->dry_run, change));
      out_ << "cluster/" << name << " " << what << std::endl;
    }
    return 0;
  });
  sub->add_option("CLUSTERS", options->words,
                  "clusters NAME... CHANGE...; a change is KEY=VALUE:EFFECT, KEY:EFFECT, KEY:EFFECT- or KEY-, and an "
                  "effect NoSchedule or NoExecute");
  sub->add_flag("--overwrite", options->overwrite, "Replace taints of the same key and effect");
  sub->add_flag("--dry-run", options->dry_run, "Check everything, change nothing");
  sub->footer("shiplogctl taint clusters m1 maintenance=today:NoSchedule\nshiplogctl taint clusters m1 maintenance-");
}

}  // namespace shiplog::ctl
