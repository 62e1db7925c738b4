#include "services/api/insight/why.h"

#include <algorithm>
#include <map>
#include <set>

#include "events/base/api_version.h"
#include "events/base/json.h"
#include "events/dispatch.h"
#include "events/slots.h"
#include "events/state/binding.h"
#include "events/state/condition.h"
#include "events/state/eviction.h"
#include "events/state/failover_record.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/object.h"
#include "events/state/other_scheduler.h"
#include "events/state/propagation_skips.h"
#include "events/state/work.h"
#include "projections/decisions/decision_query.h"
#include "projections/objects/object_query.h"
#include "services/api/insight/attribution.h"
#include "services/api/insight/current_status.h"
#include "services/api/insight/interpreters.h"
#include "services/api/insight/left_works.h"
#include "services/api/insight/other_policies.h"
#include "services/api/insight/placement_inputs.h"
#include "services/api/insight/render.h"
#include "services/api/insight/targets_changed.h"
#include "services/api/insight/unclaimed.h"
#include "services/api/insight/unexplained.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostRemedies = 16;  // more are computed when a cluster is requested by name
constexpr size_t kMostPastEvictions = 5;

class WhyBuilder {
 public:
  WhyBuilder(const View& view, const Kinds& kinds, const WhyQuestion& question, const Sources& sources)
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
      SHIPLOG_TRY(without_binding(answer));
      return answer;
    }
    answer.set("binding", to_value(binding_key_));
    for (const Value& requirer : binding_["spec"]["requiredBy"].items()) {
      answer.edit("requiredBy")
          .push_back(Value::object(
              {{"namespace", requirer["namespace"]}, {"name", requirer["name"]}, {"clusters", requirer["clusters"]}}));
    }
    if (!claimed() && answer["requiredBy"].is_null()) {
      answer.set("summary",
                 "no policy has it any more: what members have stays as it is, but for evictions, and changes do not "
                 "reach them until a policy takes it; if one selects it and cannot have it, the Events of the template "
                 "say why");
    }
    SHIPLOG_TRY(auto rows, decisions_until(binding_key_));
    SHIPLOG_TRY(leave_out_predecessors(rows));
    SHIPLOG_TRY(policy(rows, answer));
    SHIPLOG_TRY(placement(rows, answer));
    SHIPLOG_TRY(changed_targets(rows, answer));
    SHIPLOG_TRY(const Value gates, object(feature_gates_key(), question_.at));
    about_binding(answer, feature_gates_from(gates));
    SHIPLOG_TRY(Value by, interpreters_of(view_, question_.at, binding_["spec"]["resource"]));
    answer.set("interpreters", std::move(by));
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

  /// From whichever of the three was requested to the binding.
  Result<void> resolve() {
    const ObjectKey& subject = question_.object;
    SHIPLOG_TRY(const Value found, object(subject, question_.at));
    cluster_ = question_.cluster;
    if (is_binding(subject.type)) {
      binding_key_ = subject;
    } else if (subject.type == type::kWork) {
      const Value& notes = found["metadata"]["annotations"];
      const std::string name = notes[annotation::kBindingName].str();
      binding_key_ = name.empty()
                         ? ObjectKey{type::kClusterResourceBinding, "", notes[annotation::kClusterBindingName].str()}
                         : ObjectKey{type::kResourceBinding, notes[annotation::kBindingNamespace].str(), name};
      if (cluster_.empty()) cluster_ = cluster_of_space(subject.ns);
      if (!found.is_null() && binding_key_.name.empty()) return resolve_namespace_work(found);
    } else {
      template_ = subject;
      const Kind* kind = kinds_.find_type(subject.type);
      binding_key_ = binding_key(subject, found.is_null() && kind != nullptr ? kind->kind : found["kind"].as_string());
    }
    SHIPLOG_TRY(binding_, object(binding_key_, question_.at));
    if (binding_.is_null() && template_.type != type::kNamespace && !is_binding(subject.type)) {
      const Value& manifest = found["spec"]["workload"]["manifests"][0];
      if (!manifest.is_null()) set_template(manifest["apiVersion"], manifest["kind"], manifest["metadata"]);
      const Kind* kind = kinds_.find_type(template_.type);
      left_work_ = work_name(kind == nullptr ? found["kind"].str() : kind->kind, template_.ns, template_.name);
      SHIPLOG_TRY(left_, clusters_with_work(view_, left_work_, question_.at));
    }
    if (found.is_null() && binding_.is_null() && left_.empty()) return unknown(subject);
    template_value_ = subject.type == type::kWork ? Value{} : found;
    if (!template_.empty() || binding_.is_null()) return ok();
    const Value& resource = binding_["spec"]["resource"];
    set_template(resource["apiVersion"], resource["kind"], resource);
    return ok();
  }

  /// `named`: has namespace and name.
  void set_template(const Value& api_version, const Value& kind_name, const Value& named) {
    template_ = {kind_name.str(), named["namespace"].str(), named["name"].str()};
    const std::string_view group = split_api_version(api_version.as_string()).group;
    for (const auto& kind : kinds_.all()) {
      if (kind->group != group || kind->kind != template_.type) continue;
      template_.type = kind->type();
      break;
    }
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

  /// Accepted or refused for a quota, newest first, up to the requested revision.
  Result<std::vector<DecisionRow>> decisions_until(const ObjectKey& key) const {
    SHIPLOG_TRY(auto rows, DecisionQuery{view_}.of(key));
    std::erase_if(rows, [&](const DecisionRow& row) {
      return row.refusal.has_value() || (question_.at && row.revision > *question_.at);
    });
    return rows;
  }

  /// Whether a decision was about the present binding, and not about an earlier one of the same name.
  Result<bool> is_about_present_binding(const DecisionRow& row) const {
    const auto then = object(binding_key_, row.revision);
    if (then) return then.value()["metadata"]["uid"] == binding_["metadata"]["uid"];
    if (then.error().code != ErrorCode::kGone) return then.error();
    const auto created = parse_rfc3339(binding_["metadata"]["creationTimestamp"].as_string());
    return !created || row.time >= created.value();
  }

  /// `rows`: newest first, so those about earlier bindings are the last ones.
  Result<void> leave_out_predecessors(std::vector<DecisionRow>& rows) const {
    size_t present = 0;
    size_t end = rows.size();
    while (present < end) {
      const size_t middle = present + (end - present) / 2;
      SHIPLOG_TRY(const bool is_about, is_about_present_binding(rows[middle]));
      if (is_about) {
        present = middle + 1;
      } else {
        end = middle;
      }
    }
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(present), rows.end());
    return ok();
  }

  Result<void> without_binding(Value& answer) const {
    if (left_.empty()) {
      SHIPLOG_TRY(std::string summary, unclaimed_because(view_, question_.at, template_, template_value_));
      answer.set("summary", std::move(summary));
      return ok();
    }
    answer.set("summary", "it has no binding any more: it is taken from the members that have a Work for it still");
    return members_of(Value{}, left_work_, left_, {}, answer);
  }

  /// By a policy, or by another owner of the binding.
  bool claimed() const {
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{label::kPolicyId, label::kClusterPolicyId, kManagedByLabel},
        [&](std::string_view label) { return !label_of(binding_, label).empty(); });
  }

  static Value moment(const DecisionRow& row) {
    Value moment = Value::object({{"revision", row.revision.value}, {"time", rfc3339_millis(row.time)}});
    if (!row.cause.trace_id.empty()) moment.set("trace", row.cause.trace_id);
    return moment;
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
  /// summary states how it was made, the newest the present state.
  Result<void> policy(const std::vector<DecisionRow>& rows, Value& answer) const {
    Value policy;
    for (const DecisionRow& row : rows) {
      if (row.kind != "BindingPut") continue;
      SHIPLOG_TRY(const Value decision, to_value(row));
      const Value& explanation = decision["explanation"];
      if (policy.is_null()) {
        policy = Value::object(
            {{"summary", explanation["summary"]}, {"now", moment(row)}, {"stepsNow", explanation["steps"]}});
        copy(explanation, "summaryFact", policy, "summaryFact");
        copy(explanation, "facts", policy, "factsNow");
      }
      if (!same_summary(explanation, policy)) break;
      policy.set("since", moment(row));
      policy.set("steps", explanation["steps"]);
      copy(explanation, "facts", policy, "facts");
    }
    if (policy.is_null()) {
      if (std::string text = unexplained_policy(binding_); !text.empty()) {
        answer.edit("notes").push_back(std::move(text));
      }
      return ok();
    }
    SHIPLOG_TRY(const Value selected, object(template_, question_.at));
    SHIPLOG_TRY(const auto others, other_policies(view_, question_.at, selected));
    for (const std::string& other : others) policy.edit("alsoSelectedBy").push_back(other);
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
      if (std::string text = unexplained_placement(binding_); !text.empty()) {
        answer.edit("notes").push_back(std::move(text));
      } else if (!cluster_.empty() && answer["requiredBy"].is_null()) {
        return Error{ErrorCode::kNotFound, to_string(binding_key_) + " has not been placed yet"};
      }
      return ok();
    }
    SHIPLOG_TRY(const Value decision, to_value(*newest));
    const Value& explanation = decision["explanation"];
    const bool refused = newest->kind != "PlacementDecided";
    Value placement =
        Value::object({{"outcome", newest->kind},
                       {"made", moment(*newest)},
                       {"summary", explanation["summary"].is_null() ? Value{newest->summary} : explanation["summary"]},
                       {"steps", explanation["steps"]}});
    copy(explanation, "facts", placement, "facts");
    placement.set("targets", binding_["spec"]["clusters"]);
    answer.set("placement", std::move(placement));
    std::vector<std::string> left_out;
    Value lines = Value::array();
    for (const Value& line : explanation["clusters"].items()) {
      const std::string name = line["cluster"].str();
      if (!cluster_.empty() && name != cluster_) continue;
      if (line["replicas"].is_null() || refused) left_out.push_back(name);
      lines.push_back(line);
    }
    if (!cluster_.empty() && lines.size() == 0 && explanation["clusters"].size() > 0) {
      return Error{ErrorCode::kNotFound, "cluster " + cluster_ + " was not in the fleet when " +
                                             to_string(binding_key_) + " was placed, at revision " +
                                             std::to_string(newest->revision.value)};
    }
    SHIPLOG_TRY(const auto found, remedies(newest->as_of, newest->time, left_out));
    // The fleet has changed since: taints were removed, labels were added.
    const Revision present = question_.at.value_or(view_.revision());
    SHIPLOG_TRY(const auto found_now, remedies(present, newest->time, left_out));
    for (Value& line : lines.edit_items()) {
      const auto to_json_value = [](const ClusterRemedy& remedy) {
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

  /// Users and other schedulers may write spec.clusters, and the scheduler leaves it so while the replicas are as many
  /// as they should be (S-14, S-52); evictions take clusters out of it.
  Result<void> changed_targets(const std::vector<DecisionRow>& rows, Value& answer) const {
    const auto placed = std::ranges::find(rows, "PlacementDecided", &DecisionRow::kind);
    const auto since = placed == rows.end() ? std::nullopt : std::optional{placed->revision};
    SHIPLOG_TRY(const auto changed, targets_changed(view_, binding_key_, binding_, since, question_.at));
    if (!changed) return ok();
    const bool request = is_request(changed->entry);
    const std::string author =
        request ? changed->entry.actor.user + " wrote them" : "the role " + changed->entry.actor.service + " left them";
    const std::string time = rfc3339_millis(changed->entry.time);
    answer.edit("notes").push_back("its clusters are " + targets_text(binding_["spec"]["clusters"]) + ", as " + author +
                                   " at revision " + std::to_string(changed->revision.value) + ", " + time +
                                   (since ? ", and not as they were placed last" : ""));
    if (answer["placement"].is_null()) return ok();
    answer.edit("placement")
        .set("changed", Value::object({{"revision", changed->revision.value},
                                       {"time", time},
                                       {"user", changed->entry.actor.user},
                                       {"service", changed->entry.actor.service}}));
    return ok();
  }

  /// From the binding and the fleet as of a revision: the one that the placement was decided from, or the present one.
  Result<std::map<std::string, ClusterRemedy>> remedies(Revision as_of, UtcMillis time,
                                                        std::vector<std::string> left_out) const {
    if (!remedies_ || left_out.empty()) return std::map<std::string, ClusterRemedy>{};
    if (left_out.size() > kMostRemedies) left_out.resize(kMostRemedies);
    SHIPLOG_TRY(const auto scene, placement_inputs(view_, binding_key_, template_.type.str(), as_of, time));
    if (!scene) return std::map<std::string, ClusterRemedy>{};
    return remedies_(*scene, left_out);
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
        {"application-failover", "workloads that stay unhealthy are not moved"},
        {"taint", "clusters are not tainted, and evictions neither begin nor end"},
        {"lifecycle", "what depends on deleted objects is not deleted"}};
    for (const RoleLeadership& role : roles_()) {
      const auto undone = kUndone.find(role.role);
      if (role.led || undone == kUndone.end()) continue;
      if (!role.unled_slots.empty() && role.unled_slots.size() < kSlots) {
        answer.edit("notes").push_back("since " + rfc3339(role.since) + " no process has some slots of the role " +
                                       role.role + " (" + std::to_string(role.unled_slots.size()) + " of " +
                                       std::to_string(kSlots) + "): for the members and objects of these, " +
                                       undone->second + " until another process takes them");
        continue;
      }
      answer.edit("notes").push_back("no " + role.role + " is running since " + rfc3339(role.since) + ": " +
                                     undone->second +
                                     " until a process with that role is started (shiplogd serve --roles)");
    }
  }

  /// What holds of the binding as a whole, and is not as the placement left it.
  void about_binding(Value& answer, const FeatureGates& gates) const {
    const auto note = [&](std::string text) { answer.edit("notes").push_back(std::move(text)); };
    if (deleting(binding_)) note("the binding is being deleted: members lose the object");
    if (binding_["spec"]["suspension"]["scheduling"].as_bool()) {
      note("scheduling is suspended (spec.suspension.scheduling of the binding): the placement stays as it is");
    }
    if (binding_["spec"]["workloadAffinityGroups"].is_object() && !gates.workload_affinity) {
      note(
          "spec.placement.workloadAffinity has no effect: the feature gate WorkloadAffinity is off, which also "
          "concerns what is said about it below");
    }
    const Value& scheduled = condition_of(binding_, "Scheduled");
    if (scheduled["status"].as_string() == "False") {
      note("scheduling fails since " + scheduled["lastTransitionTime"].str() + " (" + scheduled["reason"].str() +
           "): " + scheduled["message"].str());
    } else if (std::string other = other_scheduler_text(binding_); claimed() && !other.empty()) {
      note(std::move(other));
    } else if (claimed() && scheduled.is_null() && answer["requiredBy"].is_null()) {
      note("it has not been scheduled yet");
    } else if (claimed() && !scheduled.is_null() &&
               binding_["status"]["schedulerObservedGeneration"] != binding_["metadata"]["generation"]) {
      note("the scheduler has not looked at it since it changed last: generation " +
           std::to_string(binding_["metadata"]["generation"].as_int()) + ", observed generation " +
           std::to_string(binding_["status"]["schedulerObservedGeneration"].as_int()));
    }
  }

  /// In progress, and the last ones that ended.
  Result<void> evictions(const std::vector<DecisionRow>& rows, Value& answer) const {
    std::map<std::string, Value> works;
    const auto read_work = [&](const std::string& cluster) -> Result<void> {
      SHIPLOG_TRY(works[cluster], object({type::kWork, execution_space(cluster), work_of_binding()}, question_.at));
      return ok();
    };
    const Value& tasks = binding_["spec"]["gracefulEvictionTasks"];
    for (const Value& target : binding_["spec"]["clusters"].items()) {
      if (tasks.size() == 0) break;
      SHIPLOG_TRY(read_work(target["name"].str()));
    }
    SHIPLOG_TRY(const Value options, object(fleet_options_key(), question_.at));
    Value present = evictions_now(
        binding_, [&](const std::string& cluster) -> const Value& { return works[cluster]; },
        fleet_options_from(options).graceful_eviction_timeout());
    for (size_t i = 0; i < tasks.size(); ++i) {
      const std::string from = tasks[i]["fromCluster"].str();
      SHIPLOG_TRY(read_work(from));
      SHIPLOG_TRY(const Value cluster, object({type::kCluster, "", from}, question_.at));
      if (!keeps_last_copy(binding_, tasks[i], cluster, works[from])) continue;
      present.edit_items()[i].set("keptAsLastCopy", true);
      if (stays_for_all_taints(binding_, cluster)) present.edit_items()[i].set("takenAgain", true);
    }
    if (present.size() > 0) answer.set("evictions", std::move(present));
    SHIPLOG_TRY(const Value record, object(failover_record_key(binding_key_), question_.at));
    SHIPLOG_TRY(const Value gates, object(feature_gates_key(), question_.at));
    for (std::string& text : failovers_now(binding_, record, feature_gates_from(gates).stateful_failover)) {
      answer.edit("notes").push_back(std::move(text));
    }
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
    for (const Value& requirer : binding_["spec"]["requiredBy"].items()) add(requirer["clusters"], "name");
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

  /// A namespace has no policy: every member gets it, unless it is excluded.
  Result<void> synced_namespace(Value& answer) {
    SHIPLOG_TRY(const Value options, object(fleet_options_key(), question_.at));
    const std::string left_out = not_synced_because(fleet_options_from(options), template_value_);
    SHIPLOG_TRY(const auto rows, ObjectQuery{view_}.list({.type = type::kCluster, .at = question_.at}));
    std::set<std::string> clusters;
    const std::string work = work_name("Namespace", "", template_.name);
    for (const ObjectRow& row : rows) {
      if (left_out.empty()) {
        clusters.insert(row.key.name.str());
        continue;
      }
      // What was synchronized before stays.
      SHIPLOG_TRY(const auto present,
                  ObjectQuery{view_}.get({type::kWork, execution_space(row.key.name), work}, question_.at));
      if (present) clusters.insert(row.key.name.str());
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
  std::set<std::string> left_;  // without a binding: the clusters that have a Work of it still
  std::string left_work_;       // its name
  Value binding_, template_value_;
  std::string cluster_;
};

}  // namespace

Result<Value> why(const View& view, const Kinds& kinds, const WhyQuestion& question, const Sources& sources) {
  return WhyBuilder{view, kinds, question, sources}.make();
}

}  // namespace shiplog::api
