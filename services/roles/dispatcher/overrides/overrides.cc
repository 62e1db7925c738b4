#include "services/roles/dispatcher/overrides/overrides.h"

#include <algorithm>
#include <tuple>

#include "events/explain/text.h"
#include "events/state/policy_author.h"
#include "services/roles/dispatcher/authority.h"
#include "services/roles/dispatcher/overrides/overriders.h"

namespace shiplog::dispatcher {
namespace {

struct ApplicableRule {
  const OverridePolicy* policy;
  size_t number;  // from 1
};

/// What an overrider made, unless it is another object by now or grants more.
Result<Value> permitted(const Value& object, Result<Value> changed) {
  if (!changed) return changed;
  SHIPLOG_TRY(check_authority(object, changed.value()));
  return changed;
}

/// One stage. Which rules apply has been settled before any of them changes anything (B-18).
Result<void> apply_rules(const std::vector<ApplicableRule>& rules, const Value& object, const Cluster& cluster,
                         Overrides::Overridden& result, Value& applied, Fact& failure) {
  if (rules.empty()) return ok();
  for (const ApplicableRule& rule : rules) {
    const Value& overriders = rule.policy->rules[rule.number - 1].overriders;
    auto changed = permitted(object, apply_overriders(result.manifest, overriders));
    const auto number = static_cast<int64_t>(rule.number);
    if (!changed) {
      failure =
          OverrideFailed{rule.policy->ns.str(), rule.policy->name.str(), cluster.name, number, changed.error().message};
      return Error{changed.error().code, text_of(failure)};
    }
    const bool secret = result.manifest["kind"].as_string() == "Secret";
    const std::vector<std::string> changes = changes_between(result.manifest, changed.value(), secret);
    OverrideApplied step{rule.policy->ns.str(), rule.policy->name.str(), number, ""};
    if (changes.empty()) result.steps.emplace_back(step);
    for (const std::string& change : changes) {
      step.change = change;
      result.steps.emplace_back(step);
    }
    result.manifest = std::move(changed).value();
    applied.push_back(Value::object({{"policyName", rule.policy->name}, {"overriders", overriders}}));
  }
  std::ranges::stable_sort(applied.edit_items(), [](const Value& a, const Value& b) {
    return a["policyName"].as_string() < b["policyName"].as_string();
  });
  return ok();
}

std::vector<ApplicableRule> rules_for(const std::vector<const OverridePolicy*>& policies, const Cluster& cluster) {
  std::vector<ApplicableRule> rules;
  for (const OverridePolicy* policy : policies) {
    for (size_t i = 0; i < policy->rules.size(); ++i) {
      if (policy->rules[i].applies_to(cluster)) rules.push_back({policy, i + 1});
    }
  }
  return rules;
}

/// All that selectors match is the same: overriders change no more of it than labels.
bool selected_alike(const Value& a, const Value& b) { return a["metadata"]["labels"] == b["metadata"]["labels"]; }

}  // namespace

Overrides::Policies Overrides::select(std::string_view policy_ns, const Value& object,
                                      std::vector<Fact>& forbidden) const {
  const Value& meta = object["metadata"];
  std::vector<std::pair<SelectorMatch, const OverridePolicy*>> found;
  for (const std::string_view name : state_.view<OverridePolicyView>().candidates(
           policy_ns, object["kind"].as_string(), meta["namespace"].as_string(), meta["name"].as_string())) {
    const auto policy = state_.override_policies().find(State::Name{policy_ns, name});
    const SelectorMatch rank = match(policy->second, object);
    if (rank == SelectorMatch::kNone) continue;
    const ObjectKey of_policy{policy_ns.empty() ? type::kClusterOverridePolicy : type::kOverridePolicy, policy_ns,
                              name};
    if (const std::string why_not = policy_objection(state_, of_policy, key_, object); !why_not.empty()) {
      forbidden.emplace_back(OverridePolicyForbidden{std::string{policy_ns}, std::string{name}, why_not});
      continue;
    }
    found.emplace_back(rank, &policy->second);
  }
  // B-17. By name they are sorted already.
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first < b.first; });
  Policies policies;
  for (const auto& [rank, policy] : found) policies.push_back(policy);
  return policies;
}

Overrides::Overrides(const State& state, ObjectKey key, const Value& object)
    : state_{state}, key_{std::move(key)}, object_{object} {
  if (state.override_policies().empty()) return;
  cluster_policies_ = select("", object, forbidden_);
  if (!key_.ns.empty()) policies_ = select(key_.ns, object, forbidden_);
}

Result<Overrides::Overridden> Overrides::apply(Value manifest, const Cluster& cluster, Fact& failure) const {
  Overridden result{std::move(manifest), {}, {}, forbidden_};
  SHIPLOG_TRY(
      apply_rules(rules_for(cluster_policies_, cluster), object_, cluster, result, result.applied_cluster, failure));
  if (key_.ns.empty()) return result;
  std::vector<Fact> forbidden;
  const bool alike = selected_alike(result.manifest, object_);
  const Policies policies = alike ? policies_ : select(key_.ns, result.manifest, forbidden);
  SHIPLOG_TRY(apply_rules(rules_for(policies, cluster), object_, cluster, result, result.applied_namespaced, failure));
  return result;
}

}  // namespace shiplog::dispatcher
