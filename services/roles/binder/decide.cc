#include "services/roles/binder/decide.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "events/base/check.h"
#include "events/explain/text.h"
#include "events/state/new_binding.h"
#include "events/state/policy_identity.h"
#include "events/state/quota_check.h"
#include "events/state/work.h"
#include "services/roles/binder/binding.h"
#include "services/roles/binder/claim.h"
#include "services/roles/binder/lazy_activation.h"
#include "services/roles/binder/templates.h"

namespace shiplog::binder {
namespace {

constexpr const char* kOverridePolicy = "overridepolicies.policy.karmada.io";
constexpr const char* kClusterOverridePolicy = "clusteroverridepolicies.policy.karmada.io";
constexpr size_t kMostStrippedAtOnce = 100;  // bindings in one decision; the rest follows

using interpreter::Interpreted;

/// Adds an update of the object to the decision, unless it would change nothing.
void update(DecisionBuilder& decision, const State& state, const ObjectKey& key, Value wanted) {
  const Object* object = state.find(key);
  if (object == nullptr || object->value == wanted) return;
  decision.add(ObjectUpdated{key, std::move(wanted)}, {key, object->revision});
}

bool binds(const Value& binding, const Value& object) {
  const Value& resource = binding["spec"]["resource"];
  return resource["apiVersion"] == object["apiVersion"] && resource["kind"] == object["kind"] &&
         resource["name"] == object["metadata"]["name"];
}

/// Takes the claim off the binding, then off the template (D-19, D-35, D-38). Binding, works and member objects stay.
Decided release(const State& state, const ObjectKey& key, const Value& object) {
  DecisionBuilder decision;
  const ObjectKey binding = binding_key(key, object["kind"].as_string());
  Value stripped = state.value_of(binding);
  if (binds(stripped, object)) {
    strip_claim(stripped);
    update(decision, state, binding, std::move(stripped));
  }
  stripped = object;
  strip_claim(stripped);
  erase_annotation(stripped, kLazyDigestAnnotation);
  update(decision, state, key, std::move(stripped));
  return std::move(decision).build();
}

/// D-13.
Result<void> overrides_exist(const State& state, const Policy& policy) {
  const char* type = policy.cluster_scoped() ? kClusterOverridePolicy : kOverridePolicy;
  for (const Value& name : policy.spec["dependentOverrides"].items()) {
    if (state.find({type, policy.ns, name.str()}) == nullptr) {
      return Error{ErrorCode::kUnavailable,
                   "waiting for dependent overrides: " + described(policy) + " names " + name.str()};
    }
  }
  return ok();
}

PolicyMatch match_of(SelectorMatch how) {
  switch (how) {
    case SelectorMatch::kName:
      return PolicyMatch::kName;
    case SelectorMatch::kLabels:
      return PolicyMatch::kLabels;
    case SelectorMatch::kAll:
      return PolicyMatch::kKind;
    case SelectorMatch::kNone:
      break;
  }
  return PolicyMatch::kNone;
}

/// Which policies select it and are not permitted to claim it (decision 0028).
std::vector<Fact> forbidden_policies(const Considered& considered, size_t most) {
  std::vector<Fact> steps;
  for (const auto& [policy, why_not] : considered.objections) {
    if (steps.size() == most) break;
    steps.emplace_back(PolicyForbidden{policy->ns.str(), policy->name.str(), why_not});
  }
  return steps;
}

PolicyRank rank_of(const PolicyCandidate& candidate, const PolicyCandidate& chosen) {
  if (candidate.policy == chosen.policy) return PolicyRank::kChosen;
  if (candidate.policy->priority != chosen.policy->priority) return PolicyRank::kLowerPriority;
  return candidate.match != chosen.match ? PolicyRank::kLessSpecific : PolicyRank::kLaterByName;
}

/// Which policies select it, and why the claiming one won.
std::vector<Fact> how_chosen_from(const Considered& considered, const PolicyCandidate& chosen) {
  constexpr size_t kMostNamed = 20;
  const std::vector<PolicyCandidate>& candidates = considered.candidates;
  std::vector<Fact> steps = forbidden_policies(considered, kMostNamed);
  if (candidates.size() == 1) {
    steps.emplace_back(OnlyPolicy{!steps.empty()});
    return steps;
  }
  steps.emplace_back(PoliciesCompared{static_cast<int64_t>(candidates.size())});
  for (size_t place = 0; place < std::min(kMostNamed, candidates.size()); ++place) {
    const PolicyCandidate& each = candidates[place];
    steps.emplace_back(PolicyCompared{each.policy->ns.str(), each.policy->name.str(), each.policy->priority,
                                      match_of(each.match), rank_of(each, chosen)});
  }
  if (candidates.size() > kMostNamed) {
    steps.emplace_back(PoliciesOmitted{static_cast<int64_t>(candidates.size() - kMostNamed)});
  }
  return steps;
}

/// The fold keeps these as they are: the binder does not own them (D-24).
Value without_what_others_write(Value binding) {
  for (const char* field : {"clusters", "gracefulEvictionTasks", "requiredBy", "rescheduleTriggeredAt"}) {
    binding.edit("spec").erase(field);
  }
  binding.erase("status");
  return binding;
}

/// D-47: the policy waits for the user's next change of the template. `let_go`: its previous claim has ended.
Decided claim_only(const State& state, const ObjectKey& key, const Object& object, const Policy& policy, bool let_go) {
  DecisionBuilder decision;
  const ObjectKey binding = binding_key(key, object.value["kind"].as_string());
  const Value& existing = state.value_of(binding);
  if (let_go && binds(existing, object.value)) {
    Value stripped = existing;
    strip_claim(stripped);
    update(decision, state, binding, std::move(stripped));
  }
  Value claimed = object.value;
  set_lazy_claim(claimed, policy, !let_go && records_template_digest(existing, object.value));
  update(decision, state, key, std::move(claimed));
  return std::move(decision).build();
}

Value claimed_by_policy(Value object, const Policy& policy) {
  set_claim(object, policy);
  erase_annotation(object, kLazyDigestAnnotation);
  return object;
}

/// What the present targets would use after this does not fit a quota: the fold would refuse it, and the binding stays
/// as it is.
Result<void> check_quotas(const State& state, const ObjectKey& binding, const Value& existing, const Value& made) {
  if (state.fold_version() < 7) return ok();
  if (const auto excess = quota_excess_of_change(state, binding, existing, made)) {
    return Error{ErrorCode::kForbidden, excess->message};
  }
  return ok();
}

/// `let_go`: the claim that the template carries is void.
Interpreted<Decided> bind(const State& state, const ObjectKey& key, const Object& object, const PolicyCandidate& chosen,
                          std::vector<Fact> how_chosen, bool let_go, UtcMillis now) {
  const Policy& policy = *chosen.policy;
  if (policy.permanent_id.empty()) return Nothing{};  // it gets one first, which triggers what it selects
  const ObjectKey binding = binding_key(key, object.value["kind"].as_string());
  const Value& existing = state.value_of(binding);
  if (lazy(policy)) {
    if (!touched(state, object, existing, policy)) return claim_only(state, key, object, policy, let_go);
    how_chosen.emplace_back(LazilyActivated{});
  }
  SHIPLOG_TRY(overrides_exist(state, policy));

  if (!existing.is_null() && !belongs_to(existing, object.value)) {
    // Of another kind with the same name (N-2), or of an object that was deleted and made anew (D-30).
    return Error{ErrorCode::kConflict, "binding " + to_string(binding) + " belongs to another " +
                                           existing["spec"]["resource"]["kind"].str() +
                                           " of that name: waiting until it is gone"};
  }
  if (deleting(existing)) {
    return Error{ErrorCode::kConflict, "binding " + to_string(binding) + " is being deleted: waiting until it is gone"};
  }

  DecisionBuilder decision;
  Value claimed = claimed_by_policy(object.value, policy);
  Explanation why;
  why.summary = PolicySelected{to_string(key), policy.ns.str(), policy.name.str(), match_of(chosen.match)};
  why.steps = std::move(how_chosen);
  SHIPLOG_TRY(Value made, make_binding(state, binding, existing, claimed, policy, now, why));
  SHIPLOG_CHECK(binds(made, claimed), "a binding refers to the template that it is made for");
  update(decision, state, key, std::move(claimed));
  if (made != existing) {
    SHIPLOG_TRY(check_quotas(state, binding, existing, made));
    const bool alone = decision.empty();
    decision.add(BindingPut{binding, without_what_others_write(std::move(made)), std::move(why)},
                 {binding, state.revision_of(binding)});
    if (alone) decision.expect({key, object.revision});
  }
  return std::move(decision).build();
}

/// The claiming policy is deleted or terminating, no longer selects it, or must not claim it (decision 0028). One that
/// is next adopts it in the same entry, so that the template does not count as changed in between (D-6); where that
/// is not possible yet, the claim is removed first (D-19).
Interpreted<Decided> pass_on(const State& state, const ObjectKey& key, const Object& object, UtcMillis now) {
  Considered considered;
  const PolicyCandidate next = choose_policy(state, key, object.value, considered);
  if (next.policy != nullptr && !next.policy->permanent_id.empty()) {
    auto bound = bind(state, key, object, next, how_chosen_from(considered, next), true, now);
    if (bound) return bound;
  }
  return release(state, key, object.value);
}

/// What is no longer propagated stays as it is, also where it runs; only a deleted policy's claim is removed
/// (D-38).
Decided leave_out(const State& state, const ObjectKey& key, const Value& object) {
  const auto claim = claim_of(object);
  const auto holder = claim ? state.policies().find(claim->policy) : state.policies().end();
  if (holder != state.policies().end() && !holder->second.deleting) return Nothing{};
  return release(state, key, object);
}

Interpreted<Decided> decide_template(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value) || !propagates(key.type)) return Nothing{};
  if (!propagates(state.options(), key, object->value)) return leave_out(state, key, object->value);
  if (!label_of(object->value, label::kClaimedBy).empty()) return Nothing{};  // D-7: another controller's

  const auto claim = claim_of(object->value);
  if (!claim) {
    Considered considered;
    const PolicyCandidate chosen = choose_policy(state, key, object->value, considered);
    if (chosen.policy == nullptr) {
      Decided released = release(state, key, object->value);
      if (considered.objections.empty() || !std::holds_alternative<Nothing>(released)) return released;
      return Error{ErrorCode::kForbidden, text_of(forbidden_policies(considered, 1).front())};
    }
    return bind(state, key, *object, chosen, how_chosen_from(considered, chosen), false, now);
  }
  const auto found = state.policies().find(claim->policy);
  const Policy* holder = found == state.policies().end() || found->second.deleting ? nullptr : &found->second;
  const SelectorMatch how = holder == nullptr ? SelectorMatch::kNone : match(*holder, object->value);
  if (how == SelectorMatch::kNone || !objection(state, *holder, key, object->value).empty()) {
    return pass_on(state, key, *object, now);
  }
  if (const PolicyCandidate taker = preemptor(state, key, object->value, *holder); taker.policy != nullptr) {
    return bind(state, key, *object, taker, {preemption(*taker.policy, *holder)}, false, now);
  }
  return bind(state, key, *object, {holder, how}, {ClaimKept{}}, false, now);
}

/// Bindings that carry the policy's claim though no template does: their template is deleted or was edited. False: some
/// may be left for another decision.
bool strip_lone_bindings(const State& state, const Policy& policy, DecisionBuilder& decision) {
  using Identity = std::tuple<std::string, std::string, std::string, std::string>;
  std::set<Identity> claimed;
  for (const ObjectKey& key : claimed_by(state, policy)) {
    const Value& object = state.value_of(key);
    claimed.insert({object["apiVersion"].str(), object["kind"].str(), key.ns.str(), key.name.str()});
  }
  const char* label = policy_id_label(policy.cluster_scoped());
  for (const ObjectKey& key : state.labelled(label, policy.permanent_id)) {
    if (!is_binding(key.type)) continue;
    Value binding = state.value_of(key);
    const Value& resource = binding["spec"]["resource"];
    if (claimed.contains({resource["apiVersion"].str(), resource["kind"].str(), resource["namespace"].str(),
                          resource["name"].str()})) {
      continue;  // goes together with its template
    }
    strip_claim(binding);
    const Object& object = *state.find(key);
    if (binding == object.value) continue;
    if (decision.size() == kMostStrippedAtOnce) return false;
    if (!decision.try_add(ObjectUpdated{key, std::move(binding)}, {key, object.revision})) return false;
  }
  return decision.size() < kMostStrippedAtOnce;
}

Decided decide_policy(const State& state, const ObjectKey& key, UtcMillis now) {
  const auto found = state.policies().find({key.ns, key.name});
  if (found == state.policies().end()) return Nothing{};
  const Policy& policy = found->second;
  const bool cluster_scoped = policy.cluster_scoped();
  const char* finalizer = policy_finalizer(cluster_scoped);
  Value wanted = state.value_of(key);
  DecisionBuilder decision;

  if (!policy.deleting) {
    // The API server has done so with most: not with those of its earlier versions.
    identify_policy(wanted, cluster_scoped, policy.uid);
    note_effective_since(wanted, policy, state.revision_of(key));
  } else if (has_finalizer(wanted, finalizer)) {
    if (!claimed_by(state, policy).empty()) return Nothing{};  // each template is released by itself: a trigger
    const bool stripped = policy.permanent_id.empty() || strip_lone_bindings(state, policy, decision);
    if (!stripped) return std::move(decision).build_and_look_again(now);
    std::erase_if(wanted.edit("metadata").edit("finalizers").edit_items(),
                  [&](const Value& item) { return item.as_string() == finalizer; });
  }
  update(decision, state, key, std::move(wanted));
  return std::move(decision).build_and_look_again(now);
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  if (is_propagation_policy(key.type)) return decide_policy(state, key, now);
  return interpreter::decided(decide_template(state, key, now));
}

State::Name policy_for(const State& state, const ObjectKey& key) {
  const Object* object = state.find(key);
  if (object == nullptr || is_propagation_policy(key.type) || !propagates(state.options(), key, object->value))
    return {};
  PolicyCandidate by;
  if (const auto claim = claim_of(object->value)) {
    const auto found = state.policies().find(claim->policy);
    if (found != state.policies().end() && !found->second.deleting &&
        match(found->second, object->value) != SelectorMatch::kNone) {
      by = preemptor(state, key, object->value, found->second);
      if (by.policy == nullptr) by.policy = &found->second;
    }
  }
  if (by.policy == nullptr) {
    Considered considered;
    by = choose_policy(state, key, object->value, considered);
    if (by.policy == nullptr && !considered.objections.empty()) by.policy = considered.objections.front().first;
  }
  return by.policy == nullptr ? State::Name{} : State::Name{by.policy->ns, by.policy->name};
}

Value template_to_bind(const State& state, const ObjectKey& key) {
  const auto policy = state.policies().find(policy_for(state, key));
  return policy == state.policies().end() ? Value{} : claimed_by_policy(state.value_of(key), policy->second);
}

}  // namespace shiplog::binder
