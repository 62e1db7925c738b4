#include "services/api/insight/why.h"

#include <algorithm>
#include <set>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/claim.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/object.h"
#include "events/state/work.h"
#include "projections/decisions/decision_query.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/api/insight/policy_objections.h"
#include "services/api/insight/render.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostRemedies = 16;  // more are worked out when a cluster is asked for by name

bool is_binding(std::string_view type) {
  return type == type::kResourceBinding || type == type::kClusterResourceBinding;
}

class Answer {
 public:
  Answer(const View& view, const Kinds& kinds, const WhyQuestion& question, const Remedies& remedies)
      : view_{view}, kinds_{kinds}, question_{question}, remedies_{remedies} {}

  Result<Value> make() {
    SHIPLOG_TRY(resolve());
    Value answer = Value::object({{"kind", "Why"},
                                  {"revision", question_.at.value_or(view_.revision()).value},
                                  {"object", to_value(template_)}});
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
    SHIPLOG_TRY(members(answer));
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
      if (!found.is_null() && binding_key_.name.empty()) {
        return Error{ErrorCode::kNotFound, to_string(asked) + " is no binding's: namespaces go to every member"};
      }
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
    const std::string version = resource["apiVersion"].str();
    const size_t slash = version.find('/');
    const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
    for (const auto& kind : kinds_.all()) {
      if (kind->group == group && kind->kind == template_.type) {
        template_.type = kind->type();
        break;
      }
    }
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

  /// A claim is kept, and said again with each change of the template: the oldest of the same words tells how it was
  /// won, the newest how things stand.
  Result<void> policy(const std::vector<DecisionRow>& rows, Value& answer) const {
    Value policy;
    for (const DecisionRow& row : rows) {
      if (row.kind != "BindingPut") continue;
      SHIPLOG_TRY(const Value decision, to_value(row));
      const Value& told = decision["explanation"];
      if (policy.is_null()) {
        policy = Value::object({{"summary", told["summary"]}, {"now", moment(row)}, {"stepsNow", told["steps"]}});
      }
      if (told["summary"] != policy["summary"]) break;
      policy.set("since", moment(row));
      policy.set("steps", told["steps"]);
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
    SHIPLOG_TRY(const auto found, remedies(*newest, left_out));
    for (Value& line : lines.edit_items()) {
      const auto remedy = found.find(line["cluster"].str());
      if (remedy == found.end()) continue;
      Value changes = Value::array();
      for (const std::string& change : remedy->second.changes) changes.push_back(change);
      line.set("remedy", Value::object({{"changes", std::move(changes)}, {"chosen", remedy->second.chosen}}));
    }
    answer.set("clusters", std::move(lines));
    return ok();
  }

  /// From the binding and the fleet that the placement was decided from.
  Result<std::map<std::string, Remedy>> remedies(const DecisionRow& placed, std::vector<std::string> left_out) const {
    if (!remedies_ || left_out.empty()) return std::map<std::string, Remedy>{};
    if (left_out.size() > kMostRemedies) left_out.resize(kMostRemedies);
    // What lies before the kept history cannot be tried again.
    SHIPLOG_TRY(const Revision oldest, HistoryQuery{view_}.oldest());
    if (placed.as_of < oldest) return std::map<std::string, Remedy>{};
    Scene scene;
    scene.key = binding_key_;
    scene.now = placed.time;
    SHIPLOG_TRY(scene.binding, object(binding_key_, placed.as_of));
    if (scene.binding.is_null()) return std::map<std::string, Remedy>{};
    SHIPLOG_TRY(const auto rows, ObjectQuery{view_}.list({.type = type::kCluster, .at = placed.as_of}));
    for (const ObjectRow& row : rows) {
      SHIPLOG_TRY(auto cluster, parse_json(row.json));
      scene.fleet.push_back(std::move(cluster));
    }
    SHIPLOG_TRY(add_what_is_beside(scene, placed.as_of));
    return remedies_(scene, left_out);
  }

  /// Other bindings matter to one that stays with some of them or apart, and where room that is promised counts.
  Result<void> add_what_is_beside(Scene& scene, Revision at) const {
    SHIPLOG_TRY(Value gates, object(feature_gates_key(), at));
    const bool overcommit = feature_gates_from(gates).overcommit_protection;
    scene.beside.emplace_back(feature_gates_key(), std::move(gates));
    SHIPLOG_TRY(Value options, object(fleet_options_key(), at));
    scene.beside.emplace_back(fleet_options_key(), std::move(options));
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

  /// What each member got, what was changed for it on the way, and how it took it.
  Result<void> members(Value& answer) const {
    const Value& resource = binding_["spec"]["resource"];
    const std::string work =
        work_name(resource["kind"].as_string(), resource["namespace"].as_string(), resource["name"].as_string());
    std::set<std::string> clusters;
    const auto add = [&](const Value& targets) {
      for (const Value& target : targets.items()) clusters.insert(target["name"].str());
    };
    add(binding_["spec"]["clusters"]);
    for (const Value& one : binding_["spec"]["requiredBy"].items()) add(one["clusters"]);
    if (!cluster_.empty()) std::erase_if(clusters, [&](const std::string& name) { return name != cluster_; });
    Value list = Value::array();
    for (const std::string& cluster : clusters) {
      const ObjectKey key{type::kWork, execution_space(cluster), work};
      Value member = Value::object({{"cluster", cluster}, {"work", to_value(key)}});
      SHIPLOG_TRY(const auto rows, decisions_until(key));
      const auto rendered =
          std::ranges::find_if(rows, [](const DecisionRow& row) { return row.kind == "WorkRendered"; });
      if (rendered != rows.end()) {
        SHIPLOG_TRY(const Value decision, to_value(*rendered));
        member.set("rendered", moment(*rendered));
        member.set("steps", decision["explanation"]["steps"]);
      }
      SHIPLOG_TRY(const Value found, object(key, question_.at));
      for (const Value& condition : found["status"]["conditions"].items()) {
        member.edit("conditions")
            .push_back(Value::object({{"type", condition["type"]},
                                      {"status", condition["status"]},
                                      {"reason", condition["reason"]},
                                      {"message", condition["message"]}}));
      }
      list.push_back(std::move(member));
    }
    if (list.size() > 0) answer.set("members", std::move(list));
    return ok();
  }

  const View& view_;
  const Kinds& kinds_;
  const WhyQuestion& question_;
  const Remedies& remedies_;
  ObjectKey template_, binding_key_;
  Value binding_, template_value_;
  std::string cluster_;
};

}  // namespace

Result<Value> why(const View& view, const Kinds& kinds, const WhyQuestion& question, const Remedies& remedies) {
  return Answer{view, kinds, question, remedies}.make();
}

}  // namespace shiplog::api
