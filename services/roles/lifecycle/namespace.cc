#include <map>
#include <optional>

#include "events/state/agent_identity.h"
#include "events/state/condition.h"
#include "events/state/protection.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {
namespace {

/// What is still in a namespace: how many of each type, and how many each finalizer holds.
struct Remaining {
  std::map<std::string, int64_t> types, finalizers;
  std::string protected_object;  // one of those whose deletion is not permitted
};

/// It or the template of the binding must not be deleted (D-41): then what members run stays as well.
bool spared(const State& state, const ObjectKey& key, const Value& object) {
  if (deletion_protected(object)) return true;
  if (key.type != type::kResourceBinding) return false;
  const Value& resource = object["spec"]["resource"];
  const auto served = served_kind(state, resource["apiVersion"].as_string(), resource["kind"].as_string());
  return served && deletion_protected(
                       state.value_of(served->key(resource["namespace"].as_string(), resource["name"].as_string())));
}

Remaining remaining_in(const State& state, const std::string& ns, DeletionProtection protection) {
  Remaining remaining;
  for (const std::string& type : state.types()) {
    // Upstream joins resource and group: a type of the core group is shown with the dot.
    const bool core = state.fold_version() >= 7 && type.find('.') == std::string::npos;
    const std::string shown = core ? type + "." : type;
    for (const auto& [name, object] : state.objects(type, ns)) {
      ++remaining.types[shown];
      for (const Value& finalizer : object.value["metadata"]["finalizers"].items())
        ++remaining.finalizers[finalizer.str()];
      if (protection == DeletionProtection::kOn && deletion_protected(object.value)) {
        remaining.protected_object = type + " " + name.name;
      }
    }
  }
  return remaining;
}

std::string listed(const std::map<std::string, int64_t>& counts, const char* between) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : ", ") + name + between + std::to_string(count) + " resource instances";
  }
  return text;
}

/// NSP-5: why the namespace is still there, in the words that kubectl's users know.
Value with_conditions(const Value& ns, const Remaining& remaining, UtcMillis now) {
  struct Row {
    const char* type;
    bool problem;
    const char* reason;
    std::string message;
  };
  const bool held = !remaining.finalizers.empty();
  const bool denied = !remaining.protected_object.empty();
  const Row rows[] = {
      {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
       "All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure", denied, denied ? "ContentDeletionFailed" : "ContentDeleted",
       denied ? "Failed to delete " + remaining.protected_object + ": " + kDeletionProtectedWords
              : "All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining", true, "SomeResourcesRemain",
       "Some resources are remaining: " + listed(remaining.types, " has ")},
      {"NamespaceFinalizersRemaining", held, held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
       held ? "Some content in the namespace has finalizers remaining: " + listed(remaining.finalizers, " in ")
            : "All content-preserving finalizers finished"}};
  Value conditions = Value::array();
  for (const Row& row : rows) {
    Value condition = Value::object({{"type", row.type},
                                     {"status", row.problem ? "True" : "False"},
                                     {"lastTransitionTime", rfc3339(now)},
                                     {"reason", row.reason},
                                     {"message", row.message}});
    const Value& before = condition_of(ns, row.type);
    if (before["status"] == condition["status"]) condition.set("lastTransitionTime", before["lastTransitionTime"]);
    conditions.push_back(std::move(condition));
  }
  Value updated = ns;
  updated.edit("status").set("conditions", std::move(conditions));
  return updated;
}

/// When a terminating namespace is emptied; nullopt: at once. The timestamp has whole seconds: the delay begins at the
/// end of the one in which the deletion was requested. A timestamp that lies ahead is of another clock: waiting for it
/// could take as long as the clocks differ.
std::optional<UtcMillis> emptied_from(const State& state, const ObjectKey& key, const Value& ns, UtcMillis now) {
  constexpr Millis kSecond{1'000};
  if (state.fold_version() < 7 || !cluster_of_space(key.name).empty()) return std::nullopt;
  const auto requested = parse_rfc3339(ns["metadata"]["deletionTimestamp"].as_string());
  if (!requested || requested.value() > now) return std::nullopt;
  return requested.value() + kSecond + kNamespaceDelay;
}

/// The agent of a cluster that leaves releases its Works by this role, which therefore stays as long as they do.
bool needed_by_agent(const State& state, const ObjectKey& item) {
  if (item.type != rbac::kRole && item.type != rbac::kRoleBinding) return false;
  const std::string cluster = cluster_of_space(item.ns);
  if (cluster.empty() || item.name != agent_identity::work_role_of(cluster)) return false;
  const auto works = state.objects(type::kWork, item.ns);
  return works.begin() != works.end();
}

}  // namespace

Decided decide_namespace(const State& state, const ObjectKey& key, const Object& ns, UtcMillis now,
                         DeletionProtection protection) {
  if (!deleting(ns.value) || ns.value["spec"]["finalizers"].size() == 0) return Nothing{};
  if (const auto from = emptied_from(state, key, ns.value, now); from && *from > now) return LookAgain{*from};
  DecisionBuilder decision{kMostAtOnce};
  bool content = false;
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type, key.name)) {
      content = true;
      const ObjectKey item{type, name.ns, name.name};
      // Its finalizers hold it: their owners remove them.
      if (needed_by_agent(state, item)) continue;
      if (deleting(object.value) && !has_grace_left(state, item, object.value)) continue;
      if (protection == DeletionProtection::kOn && spared(state, item, object.value)) continue;
      if (!decision.try_add(deletion_because_of(state, item, key))) return std::move(decision).build();
    }
  }
  if (!decision.empty()) return std::move(decision).build();
  if (content) {
    Value updated = with_conditions(ns.value, remaining_in(state, key.name.str(), protection), now);
    if (updated == ns.value) return Nothing{};
    return decide_one(StatusUpdated{key, std::move(updated)}, {key, ns.revision});
  }

  Value finalized = ns.value;
  Value& finalizers = finalized.edit("spec").edit("finalizers");
  std::erase_if(finalizers.edit_items(), [](const Value& finalizer) { return finalizer.as_string() == "kubernetes"; });
  if (finalizers.size() == ns.value["spec"]["finalizers"].size()) return Nothing{};
  return decide_one(ObjectUpdated{key, std::move(finalized)}, {key, ns.revision});
}

}  // namespace shiplog::lifecycle
