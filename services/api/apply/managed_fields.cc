#include "services/api/apply/managed_fields.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "events/base/json.h"
#include "events/base/valid_utf8.h"
#include "events/kinds/status_metadata.h"
#include "services/api/apply/fields.h"

// SSA-1 to SSA-16.

namespace shiplog::api {
namespace {

constexpr const char* kApply = "Apply";
constexpr const char* kUpdate = "Update";
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/// SSA-7: more entries of updates than this are folded into one.
constexpr size_t kMostUpdates = 10;
constexpr const char* kAncient = "ancient-changes";

struct Manager {
  std::string name;
  std::string operation;
  std::string api_version;
  std::string subresource;
  std::string time;
  FieldSet fields;

  /// SSA-4: an Apply is known by its manager, an Update also by the version of its request.
  bool is(const FieldWriter& writer, const char* its_operation) const {
    return name == writer.manager && operation == its_operation && subresource == writer.subresource &&
           (operation == kApply || api_version == writer.api_version);
  }
  bool is(const Manager& other) const {
    return std::tie(name, operation, subresource) == std::tie(other.name, other.operation, other.subresource) &&
           (operation == kApply || api_version == other.api_version);
  }
};
using Managers = std::vector<Manager>;

Result<Managers> read_managers(const Value& list) {
  Managers managers;
  for (const Value& entry : list.items()) {
    if (entry["fieldsType"].as_string() != "FieldsV1") {
      return Error{ErrorCode::kBadRequest, "metadata.managedFields: fieldsType must be FieldsV1"};
    }
    SHIPLOG_TRY(auto fields, from_fields_v1(entry["fieldsV1"]));
    fields.owned = false;
    Manager manager{entry["manager"].str(),     entry["operation"].str(), entry["apiVersion"].str(),
                    entry["subresource"].str(), entry["time"].str(),      std::move(fields)};
    // A client that has renamed managers may have made two of them one: the last entry counts.
    std::erase_if(managers, [&](const Manager& earlier) { return earlier.is(manager); });
    managers.push_back(std::move(manager));
  }
  return managers;
}

Value written(Managers managers) {
  std::erase_if(managers, [](const Manager& manager) { return manager.fields.empty(); });
  std::ranges::sort(managers, {}, [](const Manager& manager) {
    return std::tie(manager.operation, manager.time, manager.name, manager.api_version, manager.subresource);
  });
  Value list = Value::array();
  for (const Manager& manager : managers) {
    Value::Object entry;
    entry.reserve(7);
    entry.push_back({"apiVersion", manager.api_version});
    entry.push_back({"fieldsType", "FieldsV1"});
    entry.push_back({"fieldsV1", to_fields_v1(manager.fields)});
    entry.push_back({"manager", manager.name});
    entry.push_back({"operation", manager.operation});
    if (!manager.subresource.empty()) entry.push_back({"subresource", manager.subresource});
    if (!manager.time.empty()) entry.push_back({"time", manager.time});
    list.push_back(Value::object(std::move(entry)));
  }
  return list;
}

/// META-15: what a client sends back counts, except to a subresource; nothing, or what cannot be read, means what is
/// stored.
Managers managers_of(const FieldWriter& writer, const Value& before, const Value& after) {
  const Value& given = after["metadata"]["managedFields"];
  if (given.is_array() && writer.subresource.empty()) {
    const bool reset = given.size() == 0 || (given.size() == 1 && given[0].size() == 0);
    if (reset) return {};
    if (auto managers = read_managers(given)) return std::move(managers).value();
  }
  auto stored = read_managers(before["metadata"]["managedFields"]);
  return stored ? std::move(stored).value() : Managers{};
}

void with_managers(Value& object, Managers managers) {
  Value list = written(std::move(managers));
  if (list.size() == 0) {
    object.edit("metadata").erase("managedFields");
  } else {
    object.edit("metadata").set("managedFields", std::move(list));
  }
}

/// SUB-1.
FieldSet written_with_status(const FieldSet& fields, const Kind& kind) {
  FieldSet written;
  const FieldSet* metadata = fields.find("f:metadata");
  for (const std::string_view name : status_metadata(kind)) {
    const std::string step = "f:" + std::string{name};
    const FieldSet* found = metadata == nullptr ? nullptr : metadata->find(step);
    if (found != nullptr) written.edit("f:metadata").put(step, *found);
  }
  if (const FieldSet* status = fields.find("f:status")) written.put("f:status", *status);
  return written;
}

/// SSA-6.
FieldSet ownable(FieldSet fields, const Kind& kind, const std::string& subresource) {
  FieldSet result = std::move(fields);
  result.owned = false;
  if (subresource == "status" || subresource == "approval") return written_with_status(result, kind);
  for (const char* step : {"f:apiVersion", "f:kind"}) result.put(step, {});
  if (kind.has_status) result.put("f:status", {});
  if (result.find("f:metadata") != nullptr) {
    FieldSet metadata = std::move(result.edit("f:metadata"));
    metadata.owned = false;
    constexpr std::array<std::string_view, 9> kServers = {"f:name",       "f:namespace",     "f:creationTimestamp",
                                                          "f:selfLink",   "f:uid",           "f:clusterName",
                                                          "f:generation", "f:managedFields", "f:resourceVersion"};
    std::erase_if(metadata.children, [&](const FieldSet::Child& child) {
      return std::ranges::find(kServers, child.key) != kServers.end();
    });
    result.put("f:metadata", std::move(metadata));
  }
  return result;
}

/// The oldest updates of each version and subresource become one entry.
void fold_oldest(Managers& managers) {
  const auto updates = static_cast<size_t>(std::ranges::count(managers, std::string{kUpdate}, &Manager::operation));
  if (updates <= kMostUpdates) return;
  // Folding the first one of a version and subresource makes an entry, folding another one removes one.
  std::vector<Manager*> oldest_first;
  std::map<std::pair<std::string, std::string>, std::vector<Manager*>> ancient;
  for (Manager& each : managers) {
    if (each.operation != kUpdate) continue;
    if (each.name == kAncient) {
      ancient[{each.api_version, each.subresource}].push_back(&each);
    } else {
      oldest_first.push_back(&each);
    }
  }
  std::ranges::stable_sort(oldest_first, {}, &Manager::time);
  const size_t folds = std::min(updates - kMostUpdates, oldest_first.size());
  for (size_t i = 0; i < folds; ++i) {
    ancient[{oldest_first[i]->api_version, oldest_first[i]->subresource}].push_back(oldest_first[i]);
  }
  for (auto& [about, entries] : ancient) {
    std::vector<FieldSet> fields;
    for (Manager* each : entries) {
      fields.push_back(std::exchange(each->fields, FieldSet{}));
      entries.front()->time = std::max(entries.front()->time, each->time);
    }
    entries.front()->name = kAncient;
    entries.front()->fields = unite(std::move(fields));
  }
  std::erase_if(managers, [](const Manager& manager) { return manager.fields.empty(); });
}

/// What kubectl applied on the client's side and is still so: those fields were kubectl's (SSA-12).
FieldSet last_applied_by_client(const Value& live, const Schema& schema) {
  const Value& text = live["metadata"]["annotations"][kLastApplied];
  if (!text.is_string()) return {};
  const auto last = parse_json(text.as_string());
  if (!last) return {};
  auto fields = fields_of(last.value(), schema);
  if (!fields) return {};
  return subtract(fields.value(), compare_fields(live, last.value(), schema).changed);
}

/// SSA-12: for a client that goes back to applying on its side. The annotation stays with its owners: by the Update
/// that owns it, kubectl finds which manager's fields it is to take over.
void set_last_applied(Value& object, Value patch) {
  constexpr size_t kMostAnnotationBytes = 256U << 10U;
  if (!patch["metadata"]["annotations"].is_null()) patch.edit("metadata").edit("annotations").erase(kLastApplied);
  Value& annotations = object.edit("metadata").edit("annotations");
  annotations.set(kLastApplied, to_json(patch) + "\n");
  size_t bytes = 0;
  for (const auto& annotation : annotations.members())
    bytes += annotation.key().size() + annotation.value.as_string().size();
  if (bytes > kMostAnnotationBytes) annotations.erase(kLastApplied);
}

Value without_managers(const Value& object) {
  Value rest = object;
  rest.edit("metadata").erase("managedFields");
  return rest;
}

Value without_time(const Value& entry) {
  Value rest = entry;
  rest.erase("time");
  return rest;
}

/// The managers of the live object. What it has without any belongs to "before-first-apply".
Managers live_managers(const FieldWriter& writer, const Kind& kind, const Value& live, const Schema& schema) {
  auto stored = read_managers(live["metadata"]["managedFields"]);
  Managers managers = stored ? std::move(stored).value() : Managers{};
  if (!live.is_null() && managers.empty()) {
    managers.push_back({"before-first-apply", kUpdate, live["apiVersion"].str(), writer.subresource,
                        rfc3339(writer.now),
                        ownable(compare_fields(Value::object(), live, schema).changed, kind, writer.subresource)});
  }
  return managers;
}

/// Takes the changed and removed fields from the managers other than the applier. Returns the conflicts: fields that
/// one of them owns and that it has not given up.
std::vector<FieldConflict> take_from_others(Managers& managers, const FieldWriter& writer, const FieldSet& changed,
                                            const FieldSet& removed, const FieldSet& given_up) {
  std::vector<FieldConflict> conflicts;
  for (Manager& manager : managers) {
    if (manager.is(writer, kApply)) continue;
    const FieldSet disputed = intersect(manager.fields, changed);
    if (disputed.empty() && removed.empty()) continue;
    for (const std::string& field : paths_of(subtract(disputed, given_up))) {
      std::string who = '"' + manager.name + '"';
      if (!manager.subresource.empty()) who += " with subresource \"" + manager.subresource + '"';
      if (manager.operation == kUpdate) who += " using " + manager.api_version;
      conflicts.push_back({std::move(who), field});
    }
    manager.fields = subtract(subtract(manager.fields, disputed), removed);
  }
  return conflicts;
}

}  // namespace

const Schema& applied_schema(const Kind& kind, std::optional<Schema>& made) {
  if (kind.builtin && kind.schema != nullptr) return *kind.schema;
  made.emplace();
  if (kind.schema != nullptr) {  // of the root, what takes a value apart
    made->properties = kind.schema->properties;
    made->additional = kind.schema->additional;
    made->atomic_map = kind.schema->atomic_map;
  }
  if (!kind.builtin) {
    static const std::shared_ptr<const Schema> kMetadata =
        Kinds::compiled().find_type("configmaps")->schema->properties.at("metadata");
    made->properties["metadata"] = kMetadata;
  }
  return *made;
}

Value track_update(const FieldWriter& writer, const Kind& kind, const Value& before, Value after) {
  std::optional<Schema> made;
  const Schema& schema = applied_schema(kind, made);
  Managers managers = managers_of(writer, before, after);
  if (managers.empty() && !before.is_null()) {  // tracked from the first apply on
    after.edit("metadata").erase("managedFields");
    return after;
  }
  FieldChanges changes = compare_fields(before.is_null() ? Value::object() : before, after, schema);
  const FieldSet changed = ownable(std::move(changes.changed), kind, writer.subresource);
  const FieldSet removed = ownable(std::move(changes.removed), kind, writer.subresource);
  auto own = managers.end();
  for (auto each = managers.begin(); each != managers.end(); ++each) {
    if (each->is(writer, kUpdate)) {
      own = each;
    } else {
      each->fields = subtract(each->fields, changed);
    }
    each->fields = subtract(each->fields, removed);
  }
  if (!changed.empty()) {
    if (own == managers.end()) {
      own = managers.insert(managers.end(),
                            {writer.manager, kUpdate, writer.api_version, writer.subresource, "", FieldSet{}});
    }
    own->fields = unite(own->fields, changed);
    own->time = rfc3339(writer.now);
  }
  fold_oldest(managers);
  with_managers(after, std::move(managers));
  return after;
}

Result<void> check_managed_fields(const Value& managed_fields) {
  const auto wrong = [](const std::string& why) { return Error{ErrorCode::kBadRequest, why}; };
  for (const Value& entry : managed_fields.items()) {
    const std::string_view operation = entry["operation"].as_string();
    if (operation != kApply && operation != kUpdate) return wrong("operation must be `Apply` or `Update`");
    if (entry["apiVersion"].is_empty()) return wrong("apiVersion must not be empty");
  }
  SHIPLOG_TRY(read_managers(managed_fields));
  return ok();
}

bool same_but_for_times(const Value& before, const Value& after) {
  if (before.is_null() || after.is_null()) return before == after;
  const auto same_entry = [](const Value& one, const Value& other) { return without_time(one) == without_time(other); };
  return std::ranges::is_permutation(before["metadata"]["managedFields"].items(),
                                     after["metadata"]["managedFields"].items(), same_entry) &&
         without_managers(before) == without_managers(after);
}

Result<Applied> apply_fields(const FieldWriter& writer, const Kind& kind, const Value& live, const Value& patch,
                             bool force) {
  if (!patch["metadata"]["managedFields"].is_empty()) {
    return Error{ErrorCode::kBadRequest, "metadata.managedFields must be nil"};
  }
  std::optional<Schema> made;
  const Schema& schema = applied_schema(kind, made);
  auto all = fields_of(patch, schema);
  if (!all) {
    const Value& metadata = patch["metadata"];
    return all.error().context("failed to create typed patch object (" + metadata["namespace"].str() + "/" +
                               metadata["name"].str() + "; " + kind.group + "/" + kind.version + ", Kind=" + kind.kind +
                               ")");
  }
  const FieldSet wanted = ownable(std::move(all).value(), kind, writer.subresource);
  Managers managers = live_managers(writer, kind, live, schema);

  const auto mine = [&](const Manager& manager) { return manager.is(writer, kApply); };
  std::vector<FieldSet> owned_by_others;
  for (const Manager& manager : managers) {
    if (!mine(manager)) owned_by_others.push_back(manager.fields);
  }
  const FieldSet of_others = unite(std::move(owned_by_others));
  auto own = std::ranges::find_if(managers, mine);
  Applied applied;
  applied.object = live.is_null() ? patch : merge_fields(live, patch, schema);
  if (own != managers.end()) {
    const FieldSet kept = unite(wanted, of_others);
    applied.object = without_fields(applied.object, subtract(own->fields, kept), kept, schema);
  }

  FieldChanges changes = compare_fields(live.is_null() ? Value::object() : live, applied.object, schema);
  const FieldSet changed = ownable(std::move(changes.changed), kind, writer.subresource);
  const FieldSet removed = ownable(std::move(changes.removed), kind, writer.subresource);
  const bool by_kubectl = writer.manager == "kubectl";
  const FieldSet given_up = by_kubectl ? last_applied_by_client(live, schema) : FieldSet{};
  auto conflicts = take_from_others(managers, writer, changed, removed, given_up);
  if (!force && !conflicts.empty()) {
    applied.conflicts = std::move(conflicts);
    return applied;
  }

  if (by_kubectl && !applied.object["metadata"]["annotations"][kLastApplied].is_empty()) {
    set_last_applied(applied.object, patch);
  }
  const bool same_fields = own != managers.end() && own->fields == wanted && own->api_version == writer.api_version;
  if (same_fields && without_managers(applied.object) == without_managers(live)) {
    applied.object = live;  // SSA-10: no write, whatever the time is
    return applied;
  }
  if (own == managers.end()) {
    own = managers.insert(managers.end(), {writer.manager, kApply, "", writer.subresource, "", FieldSet{}});
  }
  own->fields = wanted;
  own->api_version = writer.api_version;
  own->time = rfc3339(writer.now);
  with_managers(applied.object, std::move(managers));
  return applied;
}

Error conflict_error(const std::vector<FieldConflict>& conflicts) {
  std::map<std::string, std::vector<std::string>> by_manager;
  Error error{ErrorCode::kConflict, "", {}};
  for (const FieldConflict& conflict : conflicts) {
    by_manager[conflict.manager].push_back(conflict.field);
    error.causes.push_back({conflict.field, "FieldManagerConflict", "conflict with " + conflict.manager});
  }
  const bool single = conflicts.size() == 1;
  error.message = "Apply failed with " + std::to_string(conflicts.size()) + (single ? " conflict: " : " conflicts: ");
  bool first = true;
  for (const auto& [manager, fields] : by_manager) {
    error.message += std::string{first ? "" : "\n"} + (single ? "conflict" : "conflicts") + " with " + manager + ":";
    first = false;
    if (single) error.message += " " + fields.front();
    for (const std::string& field : fields) {
      if (!single) error.message += "\n- " + field;
    }
  }
  return error;
}

std::string manager_of(std::string_view field_manager, std::string_view user_agent) {
  if (!field_manager.empty()) return std::string{field_manager};
  const std::string_view name = user_agent.substr(0, user_agent.find('/'));
  return name.empty() ? "unknown" : valid_utf8(name.substr(0, 128));
}

}  // namespace shiplog::api
