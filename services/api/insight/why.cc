#include "services/api/insight/why.h"

#include <algorithm>
#include <map>
#include <set>

#include "events/base/api_version.h"
#include "events/base/json.h"
#include "events/dispatch.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/binding.h"
#include "events/state/claim.h"
#include "events/state/condition.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/object.h"
#include "events/state/skipped.h"
#include "events/state/work.h"
#include "projections/decisions/decision_query.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/api/insight/policy_objections.h"
#include "services/api/insight/present.h"
#include "services/api/insight/render.h"
#include "services/interpreter/levels.h"
#include "services/interpreter/webhooks.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostRemedies = 16;  // more are worked out when a cluster is asked for by name
constexpr size_t kMostPastEvictions = 5;

class Answer {
 public:
  Answer(const View& view, const Kinds& kinds, const WhyQuestion& question, const Sources& sources)
      : view_{view}, kinds_{kinds}, question_{question}, remedies_{sources.remedies}, roles_{sources.roles} {}

  Result<Value> make() {
    SHIPLOG_TRY(resolve());
    Value answer = Value::object({{"kind", "Why"},
                                  {"revision", question_.at.value_or(view_.revision()).value},
                                  {"object", to_value(template_)}});
    about_roles(answer);
    if (binding_.is_null() && template_.type == type::kNamespace) {
      SHIPLOG_TRY(synced_namespace(answer));
      return answer;
    }
    if (binding_.is_null()) {
      SHIPLOG_TRY(std::string summary, without_binding());
      answer.set("summary", std::move(summary));
      return answer;
    }
    answer.set("binding", to_value(binding_key_));
    for (const Value& one : binding_["spec"]["requiredBy"].items()) {
      answer.edit("requiredBy")
          .push_back(
              Value::object({{"namespace", one["namespace"]}, {"name", one["name"]}, {"clusters", one["clusters"]}}));
    }
    if (!claimed() && answer["requiredBy"].is_null()) {
      answer.set("summary",
                 "no policy has it any more: what members have stays as it is, and changes do not reach them until a "
                 "policy takes it; if one selects it and cannot have it, the Events of the template say why");
    }
    SHIPLOG_TRY(auto rows, decisions_until(binding_key_));
    SHIPLOG_TRY(policy(rows, answer));
    SHIPLOG_TRY(placement(rows, answer));
    about_binding(answer);
    SHIPLOG_TRY(interpreters(answer));
    SHIPLOG_TRY(evictions(rows, answer));
    SHIPLOG_TRY(members(rows, answer));
    return answer;
  }

 private:
  Result<Value> object(const ObjectKey& key, std::optional<Revision> at) const {
    SHIPLOG_TRY(const auto row, ObjectQuery{view_}.get(key, at));
    if (!row) return Value{};
    return parse_json(row->json);
  }

  Error unknown(const ObjectKey& key) const {
    return Error{ErrorCode::kNotFound, key.type + " \"" + key.name + "\" not found" +
                                           (question_.at ? " at revision " + std::to_string(question_.at->value) : "")};
  }

  /// From whichever of the three was asked for to the binding.
  Result<void> resolve() {
    const ObjectKey& asked = question_.object;
    SHIPLOG_TRY(const Value found, object(asked, question_.at));
    cluster_ = question_.cluster;
    if (is_binding(asked.type)) {
      binding_key_ = asked;
    } else if (asked.type == type::kWork) {
      const Value& notes = found["metadata"]["annotations"];
      const std::string name = notes[annotation::kBindingName].str();
      binding_key_ = name.empty()
                         ? ObjectKey{type::kClusterResourceBinding, "", notes[annotation::kClusterBindingName].str()}
                         : ObjectKey{type::kResourceBinding, notes[annotation::kBindingNamespace].str(), name};
      if (cluster_.empty()) cluster_ = cluster_of_space(asked.ns);
      if (!found.is_null() && binding_key_.name.empty()) return resolve_namespace_work(found);
    } else {
      template_ = asked;
      const Kind* kind = kinds_.find_type(asked.type);
      binding_key_ = binding_key(asked, found.is_null() && kind != nullptr ? kind->kind : found["kind"].as_string());
    }
    SHIPLOG_TRY(binding_, object(binding_key_, question_.at));
    if (found.is_null() && binding_.is_null()) return unknown(asked);
    template_value_ = found;
    if (!template_.empty() || binding_.is_null()) return ok();
    const Value& resource = binding_["spec"]["resource"];
    template_ = {resource["kind"].str(), resource["namespace"].str(), resource["name"].str()};
    const std::string_view group = split_api_version(resource["apiVersion"].as_string()).group;
    for (const auto& kind : kinds_.all()) {
      if (kind->group == group && kind->kind == template_.type) {
        template_.type = kind->type();
        break;
      }
    }
    return ok();
  }

  /// A Work without a binding is that of a namespace.
  Result<void> resolve_namespace_work(const Value& work) {
    const Value& manifest = work["spec"]["workload"]["manifests"][0];
    if (manifest["kind"].as_string() != "Namespace") {
      return Error{ErrorCode::kNotFound,
                   to_string(question_.object) + " belongs to no binding: it was not made by a policy"};
    }
    template_ = {type::kNamespace, "", manifest["metadata"]["name"].str()};
    SHIPLOG_TRY(template_value_, object(template_, question_.at));
    return ok();
  }

  /// Accepted or refused for a quota, newest first, up to the moment asked about.
  Result<std::vector<DecisionRow>> decisions_until(const ObjectKey& key) const {
    SHIPLOG_TRY(auto rows, DecisionQuery{view_}.of(key));
    std::erase_if(rows, [&](const DecisionRow& row) {
      return row.refusal.has_value() || (question_.at && row.revision > *question_.at);
    });
    return rows;
  }

  /// What is said of a template that has not been bound.
  Result<std::string> without_binding() const {
    const auto claim = claim_of(template_value_);
    const std::string holder = !claim ? ""
                               : claim->policy.ns.empty()
                                   ? "ClusterPropagationPolicy " + claim->policy.name
                                   : "PropagationPolicy " + claim->policy.ns + "/" + claim->policy.name;
    if (!holder.empty()) {
      return holder +
             " has it, but has not been applied to it: with spec.activationPreference Lazy that waits for the next "
             "change of the template; it is in no member";
    }
    SHIPLOG_TRY(const auto objections, policy_objections(view_, question_.at, template_, template_value_));
    if (!objections.empty()) {
      std::string all = "no policy has it, and it is in no member";
      for (const std::string& one : objections) all += "; " + one;
      return all;
    }
    return "no policy has it: it has no binding, and is in no member; if a policy selects it and cannot have it, its "
           "Events say why";
  }

  /// By a policy, or by whoever else places it.
  bool claimed() const {
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{label::kPolicyId, label::kClusterPolicyId, kManagedByLabel},
        [&](std::string_view one) { return !label_of(binding_, one).empty(); });
  }

  static Value moment(const DecisionRow& row) {
    return Value::object({{"revision", row.revision.value}, {"time", rfc3339_millis(row.time)}});
  }

  /// Explanations of earlier builds have no facts.
  static void copy(const Value& from, const char* member, Value& to, const char* as) {
    if (from.contains(member)) to.set(as, from[member]);
  }
  static bool same_summary(const Value& a, const Value& b) {
    const bool facts = a.contains("summaryFact") && b.contains("summaryFact");
    return facts ? a["summaryFact"] == b["summaryFact"] : a["summary"] == b["summary"];
  }

  /// A claim is kept, and explained again with each change of the template: the oldest explanation with the same
  /// summary tells how it was won, the newest how things stand.
  Result<void> policy(const std::vector<DecisionRow>& rows, Value& answer) const {
    Value policy;
    for (const DecisionRow& row : rows) {
      if (row.kind != "BindingPut") continue;
      SHIPLOG_TRY(const Value decision, to_value(row));
      const Value& told = decision["explanation"];
      if (policy.is_null()) {
        policy = Value::object({{"summary", told["summary"]}, {"now", moment(row)}, {"stepsNow", told["steps"]}});
        copy(told, "summaryFact", policy, "summaryFact");
        copy(told, "facts", policy, "factsNow");
      }
      if (!same_summary(told, policy)) break;
      policy.set("since", moment(row));
      policy.set("steps", told["steps"]);
      copy(told, "facts", policy, "facts");
    }
    if (policy.is_null()) return ok();
    if (!claimed()) policy.set("released", true);
    answer.set("policy", std::move(policy));
    return ok();
  }

  static bool is_placement(const DecisionRow& row) {
    return row.kind == "PlacementDecided" || row.kind == "PlacementRefused" || row.kind == "QuotaRefused";
  }

  Result<void> placement(const std::vector<DecisionRow>& rows, Value& answer) const {
    const auto newest = std::ranges::find_if(rows, is_placement);
    if (newest == rows.end()) {
      if (!cluster_.empty() && answer["requiredBy"].is_null()) {
        return Error{ErrorCode::kNotFound, to_string(binding_key_) + " has not been placed yet"};
      }
      return ok();
    }
    SHIPLOG_TRY(const Value decision, to_value(*newest));
    const Value& told = decision["explanation"];
    const bool refused = newest->kind != "PlacementDecided";
    Value placement = Value::object({{"outcome", newest->kind},
                                     {"made", moment(*newest)},
                                     {"summary", told["summary"].is_null() ? Value{newest->summary} : told["summary"]},
                                     {"steps", told["steps"]}});
    copy(told, "facts", placement, "facts");
    placement.set("targets", binding_["spec"]["clusters"]);
    answer.set("placement", std::move(placement));
    std::vector<std::string> left_out;
    Value lines = Value::array();
    for (const Value& line : told["clusters"].items()) {
      const std::string name = line["cluster"].str();
      if (!cluster_.empty() && name != cluster_) continue;
      if (line["replicas"].is_null() || refused) left_out.push_back(name);
      lines.push_back(line);
    }
    if (!cluster_.empty() && lines.size() == 0 && told["clusters"].size() > 0) {
      return Error{ErrorCode::kNotFound, "cluster " + cluster_ + " was not in the fleet when " +
                                             to_string(binding_key_) + " was placed, at revision " +
                                             std::to_string(newest->revision.value)};
    }
    SHIPLOG_TRY(const auto found, remedies(newest->as_of, newest->time, left_out));
    // The fleet has changed since: taints are gone, labels have come.
    const Revision present = question_.at.value_or(view_.revision());
    SHIPLOG_TRY(const auto found_now, remedies(present, newest->time, left_out));
    for (Value& line : lines.edit_items()) {
      const auto to_json_value = [](const Remedy& remedy) {
        Value changes = Value::array();
        for (const std::string& change : remedy.changes) changes.push_back(change);
        return Value::object({{"changes", std::move(changes)}, {"chosen", remedy.chosen}});
      };
      const std::string cluster = line["cluster"].str();
      const auto then = found.find(cluster);
      const auto now = found_now.find(cluster);
      if (then != found.end()) line.set("remedy", to_json_value(then->second));
      if (then == found.end() || (now != found_now.end() && to_json_value(now->second) == line["remedy"])) continue;
      SHIPLOG_TRY(const Value there, object({type::kCluster, "", cluster}, question_.at));
      if (there.is_null()) continue;
      line.set("remedyNow", now == found_now.end() ? Value::object({{"changes", Value::array()}, {"chosen", true}})
                                                   : to_json_value(now->second));
    }
    answer.set("clusters", std::move(lines));
    return ok();
  }

  /// From the binding and the fleet as of a revision: the one that the placement was decided from, or the present one.
  Result<std::map<std::string, Remedy>> remedies(Revision as_of, UtcMillis time,
                                                 std::vector<std::string> left_out) const {
    if (!remedies_ || left_out.empty()) return std::map<std::string, Remedy>{};
    if (left_out.size() > kMostRemedies) left_out.resize(kMostRemedies);
    // What lies before the kept history cannot be tried again.
    SHIPLOG_TRY(const Revision oldest, HistoryQuery{view_}.oldest());
    if (as_of < oldest) return std::map<std::string, Remedy>{};
    Scene scene;
    scene.key = binding_key_;
    scene.now = time;
    SHIPLOG_TRY(scene.binding, object(binding_key_, as_of));
    if (scene.binding.is_null()) return std::map<std::string, Remedy>{};
    SHIPLOG_TRY(const auto rows, ObjectQuery{view_}.list({.type = type::kCluster, .at = as_of}));
    for (const ObjectRow& row : rows) {
      SHIPLOG_TRY(auto cluster, parse_json(row.json));
      scene.fleet.push_back(std::move(cluster));
    }
    SHIPLOG_TRY(add_what_is_beside(scene, as_of));
    return remedies_(scene, left_out);
  }

  /// Other bindings matter to one that stays with some of them or apart, and where room that is promised counts.
  Result<void> add_what_is_beside(Scene& scene, Revision at) const {
    SHIPLOG_TRY(Value gates, object(feature_gates_key(), at));
    const bool overcommit = feature_gates_from(gates).overcommit_protection;
    scene.beside.emplace_back(feature_gates_key(), std::move(gates));
    SHIPLOG_TRY(Value options, object(fleet_options_key(), at));
    scene.beside.emplace_back(fleet_options_key(), std::move(options));
    SHIPLOG_TRY(add_definition(scene, at));
    if (!overcommit && !scene.binding["spec"]["workloadAffinityGroups"].is_object()) return ok();
    ObjectList wanted{.type = type::kResourceBinding, .at = at};
    if (!overcommit) wanted.ns = scene.key.ns;
    SHIPLOG_TRY(const auto rows, ObjectQuery{view_}.list(wanted));
    for (const ObjectRow& row : rows) {
      SHIPLOG_TRY(auto binding, parse_json(row.json));
      scene.beside.emplace_back(row.key, std::move(binding));
    }
    return ok();
  }

  /// Where the definition of a custom resource is placed, the object can be placed too (decision 0033).
  Result<void> add_definition(Scene& scene, Revision at) const {
    constexpr const char* kDefinition = "CustomResourceDefinition";
    const ObjectKey key = binding_key({type::kCustomResourceDefinition, "", template_.type}, kDefinition);
    SHIPLOG_TRY(Value placed, object(key, at));
    if (placed.is_null()) return ok();
    for (const Value& target : placed["spec"]["clusters"].items()) {
      ObjectKey work{type::kWork, execution_space(target["name"].str()), work_name(kDefinition, "", template_.type)};
      SHIPLOG_TRY(Value rendered, object(work, at));
      scene.beside.emplace_back(std::move(work), std::move(rendered));
    }
    scene.beside.emplace_back(key, std::move(placed));
    return ok();
  }

  /// A role that no process leads for: what it decides or does stays undone. Known of the present only.
  void about_roles(Value& answer) const {
    if (question_.at || !roles_) return;
    static const std::map<std::string_view, const char*> kUndone = {
        {"binder", "policies are not matched with templates"},
        {"scheduler", "nothing is placed or moved"},
        {"dispatcher", "nothing is written to members"},
        {"distributor", "dependencies do not follow the objects that need them"},
        {"collector", "nothing that happens in members is noticed"},
        {"taint", "clusters are not tainted, and evictions neither begin nor end"},
        {"lifecycle", "what depends on deleted objects is not deleted"}};
    for (const RoleLeadership& one : roles_()) {
      const auto undone = kUndone.find(one.role);
      if (one.led || undone == kUndone.end()) continue;
      answer.edit("notes").push_back("no " + one.role + " is running since " + rfc3339(one.since) + ": " +
                                     undone->second +
                                     " until a process with that role is started (shiplogd serve --roles)");
    }
  }

  /// What holds of the binding as a whole, and is not as the placement left it.
  void about_binding(Value& answer) const {
    const auto note = [&](std::string text) { answer.edit("notes").push_back(std::move(text)); };
    if (deleting(binding_)) note("the binding is being deleted: members lose the object");
    if (binding_["spec"]["suspension"]["scheduling"].as_bool()) {
      note(
          "scheduling is suspended (spec.suspension.scheduling of the binding, from its policy): the placement stays "
          "as "
          "it is");
    }
    const Value& scheduled = condition_of(binding_, "Scheduled");
    if (scheduled["status"].as_string() == "False") {
      note("scheduling fails since " + scheduled["lastTransitionTime"].str() + " (" + scheduled["reason"].str() +
           "): " + scheduled["message"].str());
    } else if (claimed() && scheduled.is_null() && answer["requiredBy"].is_null()) {
      note("it has not been scheduled yet");
    } else if (claimed() && !scheduled.is_null() &&
               binding_["status"]["schedulerObservedGeneration"] != binding_["metadata"]["generation"]) {
      note("the scheduler has not looked at it since it changed last: generation " +
           std::to_string(binding_["metadata"]["generation"].as_int()) + ", observed generation " +
           std::to_string(binding_["status"]["schedulerObservedGeneration"].as_int()));
    }
  }

  /// Who reads the status and health of the kind's objects, and sums them up.
  Result<void> interpreters(Value& answer) const {
    Entry entry;
    for (const char* type : {interpreter::kCustomizationType, interpreter::kWebhookType}) {
      SHIPLOG_TRY(const auto rows, ObjectQuery{view_}.list({.type = type, .at = question_.at}));
      for (const ObjectRow& row : rows) {
        SHIPLOG_TRY(auto value, parse_json(row.json));
        entry.events.push_back(ObjectCreated{row.key, std::move(value)});
      }
    }
    State alone;
    fold(alone, entry);
    const Value& resource = binding_["spec"]["resource"];
    const Value object = Value::object({{"apiVersion", resource["apiVersion"]}, {"kind", resource["kind"]}});
    const auto by = [&](interpreter::InterpreterOperation operation) {
      return interpreter::interpreted_by(alone, object, operation);
    };
    answer.set("interpreters", Value::object({{"status", by(interpreter::InterpreterOperation::kStatus)},
                                              {"health", by(interpreter::InterpreterOperation::kHealth)},
                                              {"aggregation", by(interpreter::InterpreterOperation::kAggregate)}}));
    return ok();
  }

  /// In progress, and the last ones that ended.
  Result<void> evictions(const std::vector<DecisionRow>& rows, Value& answer) const {
    std::map<std::string, Value> works;
    for (const Value& target : binding_["spec"]["clusters"].items()) {
      if (binding_["spec"]["gracefulEvictionTasks"].size() == 0) break;
      const std::string cluster = target["name"].str();
      SHIPLOG_TRY(works[cluster], object({type::kWork, execution_space(cluster), work_of_binding()}, question_.at));
    }
    Value present = evictions_now(binding_, [&](const std::string& cluster) -> const Value& { return works[cluster]; });
    if (present.size() > 0) answer.set("evictions", std::move(present));
    size_t past = 0;
    for (const DecisionRow& row : rows) {
      if (row.kind != "EvictionFinished" || past++ == kMostPastEvictions) continue;
      SHIPLOG_TRY(const Value decision, to_value(row));
      answer.edit("pastEvictions").push_back(Value::object({{"ended", moment(row)}, {"summary", row.summary}}));
    }
    return ok();
  }

  std::string work_of_binding() const {
    const Value& resource = binding_["spec"]["resource"];
    return work_name(resource["kind"].as_string(), resource["namespace"].as_string(), resource["name"].as_string());
  }

  /// What each member got, what was changed for it on the way, how it took it, and how it is there now.
  Result<void> members(const std::vector<DecisionRow>& rows, Value& answer) const {
    std::set<std::string> clusters;
    const auto add = [&](const Value& targets, const char* field) {
      for (const Value& target : targets.items()) clusters.insert(target[field].str());
    };
    add(binding_["spec"]["clusters"], "name");
    add(binding_["spec"]["gracefulEvictionTasks"], "fromCluster");
    for (const Value& one : binding_["spec"]["requiredBy"].items()) add(one["clusters"], "name");
    return members_of(binding_, work_of_binding(), std::move(clusters), rows, answer);
  }

  /// `source`: the binding, or the namespace.
  Result<void> members_of(const Value& source, const std::string& work, std::set<std::string> clusters,
                          const std::vector<DecisionRow>& rows, Value& answer) const {
    if (!cluster_.empty()) std::erase_if(clusters, [&](const std::string& name) { return name != cluster_; });
    SHIPLOG_TRY(const auto failures, render_failures(source, rows));
    Value list = Value::array();
    for (const std::string& cluster : clusters) {
      const ObjectKey key{type::kWork, execution_space(cluster), work};
      Value member = Value::object({{"cluster", cluster}, {"work", to_value(key)}});
      MemberNow now;
      now.cluster = cluster;
      now.source = source;
      SHIPLOG_TRY(const auto rendered_rows, decisions_until(key));
      const auto rendered =
          std::ranges::find_if(rendered_rows, [](const DecisionRow& row) { return row.kind == "WorkRendered"; });
      if (rendered != rendered_rows.end()) {
        SHIPLOG_TRY(const Value decision, to_value(*rendered));
        member.set("rendered", moment(*rendered));
        member.set("steps", decision["explanation"]["steps"]);
        copy(decision["explanation"], "facts", member, "facts");
        now.rendered_at = rfc3339_millis(rendered->time);
      }
      SHIPLOG_TRY(now.work, object(key, question_.at));
      SHIPLOG_TRY(now.cluster_object, object({type::kCluster, "", cluster}, question_.at));
      if (const auto failed = failures.find(cluster); failed != failures.end()) now.render_failed = failed->second;
      for (const Value& condition : now.work["status"]["conditions"].items()) {
        member.edit("conditions")
            .push_back(Value::object({{"type", condition["type"]},
                                      {"status", condition["status"]},
                                      {"reason", condition["reason"]},
                                      {"message", condition["message"]}}));
      }
      Value words = Value::array();
      for (std::string& sentence : member_now(now)) words.push_back(std::move(sentence));
      member.set("now", std::move(words));
      list.push_back(std::move(member));
    }
    if (list.size() > 0) answer.set("members", std::move(list));
    return ok();
  }

  /// By cluster, while the condition reports that some target could not be rendered.
  static Result<std::map<std::string, std::string>> render_failures(const Value& source,
                                                                    const std::vector<DecisionRow>& rows) {
    std::map<std::string, std::string> failures;
    if (condition_of(source, kWorksSyncedCondition)["status"].as_string() != "False") return failures;
    const auto synced = std::ranges::find_if(rows, [](const DecisionRow& row) { return row.kind == "WorksSynced"; });
    if (synced == rows.end()) return failures;
    SHIPLOG_TRY(const Value decision, to_value(*synced));
    for (const Value& line : decision["explanation"]["clusters"].items()) {
      failures[line["cluster"].str()] = line["verdicts"][0]["reason"].str();
    }
    return failures;
  }

  /// A namespace has no policy: it goes to every member, unless it is left out.
  Result<void> synced_namespace(Value& answer) {
    SHIPLOG_TRY(const Value options, object(fleet_options_key(), question_.at));
    const std::string left_out = not_synced_because(fleet_options_from(options), template_value_);
    SHIPLOG_TRY(const auto rows, ObjectQuery{view_}.list({.type = type::kCluster, .at = question_.at}));
    std::set<std::string> clusters;
    const std::string work = work_name("Namespace", "", template_.name);
    for (const ObjectRow& row : rows) {
      if (left_out.empty()) {
        clusters.insert(row.key.name);
        continue;
      }
      // What was synchronized before stays.
      SHIPLOG_TRY(const auto present,
                  ObjectQuery{view_}.get({type::kWork, execution_space(row.key.name), work}, question_.at));
      if (present) clusters.insert(row.key.name);
    }
    if (deleting(template_value_)) {
      answer.set("summary", "the namespace is being deleted since " +
                                template_value_["metadata"]["deletionTimestamp"].str() + ", here and in every member");
    } else if (!left_out.empty()) {
      answer.set("summary", "the namespace is not synchronized to members: " + left_out);
    } else {
      answer.set("summary", "namespaces need no policy: it goes to every member of the fleet (" +
                                std::to_string(rows.size()) + " now)");
    }
    for (const Value& condition : template_value_["status"]["conditions"].items()) {
      if (!deleting(template_value_) || condition["status"].as_string() != "True") continue;
      answer.edit("notes").push_back(condition["type"].str() + ": " + condition["message"].str());
    }
    SHIPLOG_TRY(const auto decisions, decisions_until(template_));
    return members_of(template_value_, work, std::move(clusters), decisions, answer);
  }

  const View& view_;
  const Kinds& kinds_;
  const WhyQuestion& question_;
  const Remedies& remedies_;
  const RoleStates& roles_;
  ObjectKey template_, binding_key_;
  Value binding_, template_value_;
  std::string cluster_;
};

}  // namespace

Result<Value> why(const View& view, const Kinds& kinds, const WhyQuestion& question, const Sources& sources) {
  return Answer{view, kinds, question, sources}.make();
}

}  // namespace shiplog::api
