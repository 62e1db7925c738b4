#include "services/api/insight/tenant_view.h"

#include <string>

#include "events/state/claim.h"
#include "projections/history/history_query.h"

namespace shiplog::api {
namespace {

void copy(const Value& from, std::initializer_list<const char*> members, Value& to) {
  for (const char* member : members) {
    if (from.contains(member)) to.set(member, from[member]);
  }
}

ObjectKey key_of(const Value& object) {
  return {object["type"].str(), object["namespace"].str(), object["name"].str()};
}

bool may_get(const InsightReader& reader, const Value& object) {
  return !object.is_null() && !object["type"].as_string().empty() && reader.may_get(key_of(object));
}

/// A step that led to a version: what it was about, if that may be read; else only that there was one.
Value shown_cause(const Value& cause, const InsightReader& reader) {
  Value shown = Value::object({{"revision", cause["revision"]}});
  if (may_get(reader, cause["object"])) {
    copy(cause, {"user", "service", "event", "object"}, shown);
  } else {
    shown.set("hidden", true);
  }
  return shown;
}

/// One version with its origin. The user is shown whose request was about this object, or about another one that may be
/// read; where the request came from is not.
Value shown_version(const Value& version, const Value& object, const InsightReader& reader) {
  Value shown = Value::object();
  copy(version, {"revision", "time", "operation", "verb", "trace", "changes", "previousDeleted"}, shown);
  const Value& why = version["why"];
  // Without `object`, the event was about the object itself.
  const bool own = why["object"].is_null() || why["object"] == object;
  const bool visible = own || may_get(reader, why["object"]);
  Value who = Value::object();
  copy(version["who"], {"service"}, who);
  if (visible) {
    copy(version["who"], {"user"}, who);
  } else {
    who.set("hidden", true);
  }
  shown.set("who", std::move(who));
  Value reason = Value::object();
  if (visible) copy(why, {"event", "object"}, reason);
  Value causes = Value::array();
  for (const Value& cause : why["causes"].items()) causes.push_back(shown_cause(cause, reader));
  reason.set("causes", std::move(causes));
  shown.set("why", std::move(reason));
  return shown;
}

bool is_shown(const Value& version, Revision oldest) {
  return version["revision"].as_int() >= static_cast<int64_t>(oldest.value);
}

Value shown_versions(const Value& versions, const Value& object, Revision oldest, const InsightReader& reader) {
  Value shown = Value::array();
  for (const Value& version : versions.items()) {
    if (is_shown(version, oldest)) shown.push_back(shown_version(version, object, reader));
  }
  return shown;
}

std::optional<ObjectKey> policy_of(const Value& binding) {
  const auto claim = claim_of(binding);
  if (!claim) return std::nullopt;
  if (claim->policy.ns.empty()) return ObjectKey{type::kClusterPropagationPolicy, "", claim->policy.name};
  return ObjectKey{type::kPropagationPolicy, claim->policy.ns, claim->policy.name};
}

/// The policy of the binding, by name if it may be read. How it won over others is not shown: that names these.
Value shown_policy(const Value& policy, const Value& binding, const InsightReader& reader) {
  Value shown = Value::object();
  copy(policy, {"since", "now", "released"}, shown);
  const auto key = policy_of(binding);
  if (key && reader.may_get(*key)) {
    Value object = Value::object({{"type", key->type}, {"name", key->name}});
    if (!key->ns.empty()) object.set("namespace", key->ns);
    shown.set("object", std::move(object));
    shown.set("summary",
              std::string{key->ns.empty() ? "ClusterPropagationPolicy " : "PropagationPolicy " + key->ns + "/"} +
                  key->name + " has it");
  } else {
    shown.set("hidden", true);
    shown.set("summary", "a policy that you may not get has it");
  }
  return shown;
}

/// Where it was placed, for those who may get its binding, which names the clusters.
Value shown_placement(const Value& placement, bool has_binding) {
  Value shown = Value::object();
  copy(placement, {"outcome", "made"}, shown);
  if (placement["outcome"].as_string() != "PlacementDecided") {
    shown.set("summary", "it could not be placed");
    return shown;
  }
  std::string summary = placement["changed"].is_null() ? "it was placed" : "its clusters were changed since: it is";
  if (has_binding) {
    copy(placement, {"targets"}, shown);
    std::string clusters;
    for (const Value& target : placement["targets"].items()) {
      clusters += (clusters.empty() ? " on " : ", ") + target["name"].str();
      if (target["replicas"].as_int() > 0) clusters += ":" + std::to_string(target["replicas"].as_int());
    }
    summary += clusters.empty() ? " on no cluster" : clusters;
  }
  shown.set("summary", summary);
  return shown;
}

/// The clusters that the workload is on, for those who may get its binding, which names them.
Value shown_members(const Value& members, const InsightReader& reader) {
  Value shown = Value::array();
  for (const Value& member : members.items()) {
    Value line = Value::object();
    copy(member, {"cluster", "conditions"}, line);
    if (reader.may_get({type::kCluster, "", member["cluster"].str()})) {
      copy(member, {"now", "rendered"}, line);
    } else {
      line.set("hidden", true);
    }
    shown.push_back(std::move(line));
  }
  return shown;
}

/// The verdicts on clusters that may be read, if the policy may be read, too: a verdict is about both.
Value shown_clusters(const Value& clusters, const InsightReader& reader, int64_t& hidden) {
  Value shown = Value::array();
  for (const Value& line : clusters.items()) {
    if (reader.may_get({type::kCluster, "", line["cluster"].str()})) {
      shown.push_back(line);
    } else {
      ++hidden;
    }
  }
  return shown;
}

}  // namespace

Result<Revision> oldest_shown(const View& view, const ObjectKey& object) {
  const SharedText& ns = object.type == type::kNamespace ? object.name : object.ns;
  if (ns.empty()) return Revision{};
  SHIPLOG_TRY(const auto versions, HistoryQuery{view}.versions({type::kNamespace, "", ns}));
  Revision oldest;
  for (const VersionRow& version : versions) {  // newest first
    oldest = version.revision;
    if (version.operation == VersionOperation::kCreated) break;
  }
  return oldest;
}

Result<void> check_shown(Revision oldest, std::optional<Revision> at) {
  if (!at || *at >= oldest) return ok();
  return Error{ErrorCode::kForbidden, "revision " + std::to_string(at->value) + " is before revision " +
                                          std::to_string(oldest.value) +
                                          ", at which the namespace was created: what was in a namespace of this name "
                                          "before is shown only to users with the permission for this path"};
}

Value tenant_history(const Value& answer, Revision oldest, const InsightReader& reader) {
  Value shown = Value::object({{"limited", true}});
  copy(answer, {"kind", "object", "revision", "more"}, shown);
  shown.set("items", shown_versions(answer["items"], answer["object"], oldest, reader));
  return shown;
}

Value tenant_blame(const Value& answer, Revision oldest, const InsightReader& reader) {
  Value shown = Value::object({{"limited", true}});
  copy(answer, {"kind", "object", "revision", "items", "examinedFrom", "olderDeleted"}, shown);
  Value origins = Value::array();
  for (const Value& origin : answer["origins"].items()) {
    // Items name origins by their number.
    origins.push_back(is_shown(origin, oldest) ? shown_version(origin, answer["object"], reader)
                                               : Value::object({{"hidden", true}}));
  }
  shown.set("origins", std::move(origins));
  return shown;
}

Value tenant_comparison(const Value& answer, Revision oldest, const InsightReader& reader) {
  Value shown = Value::object({{"limited", true}});
  copy(answer, {"kind", "from", "to", "more"}, shown);
  Value items = Value::array();
  for (const Value& item : answer["items"].items()) {
    Value line = Value::object();
    copy(item, {"object", "operation", "changes"}, line);
    line.set("versions", shown_versions(item["versions"], item["object"], oldest, reader));
    items.push_back(std::move(line));
  }
  shown.set("items", std::move(items));
  return shown;
}

Value tenant_why(const Value& answer, const Value& binding, const InsightReader& reader) {
  Value shown = Value::object({{"limited", true}});
  copy(answer, {"kind", "revision"}, shown);
  if (may_get(reader, answer["object"])) copy(answer, {"object"}, shown);
  if (answer["binding"].is_null()) {
    const bool is_namespace = answer["object"]["type"].as_string() == type::kNamespace;
    if (!answer["members"].is_null()) {
      shown.set("summary", "it has no binding any more: it is taken from the members that have it still");
      return shown;
    }
    shown.set("summary", is_namespace ? "namespaces need no policy: they are synchronized to members, unless an option "
                                        "of the control plane excludes them"
                                      : "it is in no member: no policy has it, or its policy has not been applied to "
                                        "it yet");
    return shown;
  }
  const bool has_binding = may_get(reader, answer["binding"]);
  if (has_binding) copy(answer, {"binding"}, shown);
  if (!answer["policy"].is_null()) shown.set("policy", shown_policy(answer["policy"], binding, reader));
  if (!answer["placement"].is_null()) shown.set("placement", shown_placement(answer["placement"], has_binding));
  if (has_binding && !answer["members"].is_null()) shown.set("members", shown_members(answer["members"], reader));
  const auto policy = policy_of(binding);
  int64_t hidden = 0;
  if (policy && reader.may_get(*policy)) {
    shown.set("clusters", shown_clusters(answer["clusters"], reader, hidden));
  } else {
    hidden = static_cast<int64_t>(answer["clusters"].size());
  }
  if (hidden > 0) {
    shown.set("hiddenClusters", hidden);
    shown.edit("notes").push_back(std::to_string(hidden) +
                                  " clusters are not shown: verdicts need the permission to get the cluster and the "
                                  "policy");
  }
  return shown;
}

}  // namespace shiplog::api
