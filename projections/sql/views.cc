#include "projections/sql/views.h"

#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

constexpr const char* kInteger = "INTEGER";
constexpr const char* kText = "TEXT";

// The first terms of every WHERE, see events/sqlite/row_checksum.h. SQLite must not put constants in the place of
// columns there: UntrustedReader turns that off.
std::string intact_entry() { return store::entry_table().intact("e") + " AND " + store::actor_table().intact("a"); }
std::string intact_version(const char* alias) { return store::version_table().intact(alias); }

// Denied requests are entries whose events are all of kind RequestDenied or RequestsDenied.
const std::string kResult =
    "CASE WHEN e.duplicate THEN 'duplicate' WHEN e.refusal IS NOT NULL THEN 'refused' "
    "WHEN substr(e.events, 1, 10) = '[[\"Request' THEN 'denied' ELSE 'accepted' END";
const std::string kTime = "e.offset AS offset, utc(e.time) AS time, e.time AS time_ms, ";
const std::string kTrace = "substr(e.trace_id, 1, 32) AS trace";
/// Of an event in the list of its entry: kind, family, type, namespace, name, summary.
std::string part(const std::string& list, const std::string& event, int index) {
  return "json_extract(" + list + ", '$" + event + "[" + std::to_string(index) + "]')";
}

const std::vector<SqlColumn> kTimeColumns = {
    {"offset", kInteger, "place of the entry in the journal"},
    {"time", kText, "when it was appended, UTC: `2026-11-20T03:12:00.000Z`"},
    {"time_ms", kInteger, "the same in milliseconds since 1970, for comparisons: `time_ms >= moment('1h')`"}};

std::vector<SqlColumn> with_time(std::vector<SqlColumn> columns) {
  columns.insert(columns.begin(), kTimeColumns.begin(), kTimeColumns.end());
  return columns;
}

const SqlColumn kTypeColumn{"type", kText, "of the object: `deployments.apps`"};
const SqlColumn kNamespaceColumn{"namespace", kText, "of the object; empty: it is cluster-scoped"};
const SqlColumn kNameColumn{"name", kText, "of the object"};
const SqlColumn kUserColumn{"user", kText, "who asked for it"};
const SqlColumn kServiceColumn{"service", kText, "role of shiplogd that appended it: `api`, `scheduler`, ..."};
const SqlColumn kResultColumn{"result", kText,
                              "`accepted`, `refused` by the fold, `denied` by an API server, or `duplicate`"};
const SqlColumn kTraceColumn{"trace", kText, "W3C trace id of the request that it follows from"};

SqlView entries() {
  return {"entries", "one row for each entry of the journal, accepted or not",
          with_time({{"id", kText, "id of the entry, 32 hexadecimal digits"},
                     kUserColumn,
                     {"groups", kText, "groups of the user, JSON array"},
                     kServiceColumn,
                     {"source_ip", kText, "address of the client"},
                     {"user_agent", kText, "what the client calls itself"},
                     {"verb", kText, "`create`, `update`, `patch`, `delete`; `decide` or `observe` of a role"},
                     {"path", kText, "of the request"},
                     kResultColumn,
                     {"refusal", kText, "error code of a refused entry: `conflict`, `already_exists`, ..."},
                     {"reason", kText, "why it was refused"},
                     {"revision", kInteger, "of the state afterwards"},
                     {"as_of", kInteger, "revision that a decision was made from; 0: none"},
                     {"cause_revision", kInteger, "revision of the entry that caused this one; 0: none"},
                     {"cause_entry", kText, "id of that entry"},
                     kTraceColumn,
                     {"event_count", kInteger, "number of its events; the next columns are about the first one"},
                     {"event", kText,
                      "kind of the event: `ObjectUpdated`, `PlacementDecided`, ... (see [events](../events.md))"},
                     kTypeColumn,
                     kNamespaceColumn,
                     kNameColumn,
                     {"summary", kText, "the event in one line"}}),
          "SELECT " + kTime +
              "lower(hex(e.id)) AS id, a.user AS user, a.groups AS groups, a.service AS service, "
              "a.source_ip AS source_ip, a.user_agent AS user_agent, e.verb AS verb, e.path AS path, " +
              kResult +
              " AS result, e.refusal AS refusal, e.reason AS reason, e.revision AS revision, e.as_of AS as_of, "
              "e.cause_revision AS cause_revision, CASE WHEN length(e.cause_id) > 0 THEN lower(hex(e.cause_id)) END AS "
              "cause_entry, " +
              kTrace + ", json_array_length(e.events) AS event_count, " + part("e.events", "[0]", 0) + " AS event, " +
              part("e.events", "[0]", 2) + " AS type, " + part("e.events", "[0]", 3) + " AS namespace, " +
              part("e.events", "[0]", 4) + " AS name, " + part("e.events", "[0]", 5) +
              " AS summary FROM entry e CROSS JOIN actor a ON a.id = e.actor WHERE " + intact_entry()};
}

SqlView events() {
  return {"events", "one row for each event of each entry",
          with_time({{"event_index", kInteger, "place of the event in its entry, from 0"},
                     kUserColumn,
                     kServiceColumn,
                     {"verb", kText, "verb of the entry"},
                     kResultColumn,
                     {"family", kText, "`api`, `scheduling`, `dispatch`, `taint`, `quota`, `cluster` or `control`"},
                     {"event", kText, "kind of the event"},
                     kTypeColumn,
                     kNamespaceColumn,
                     kNameColumn,
                     {"summary", kText, "the event in one line"},
                     {"revision", kInteger, "of the state after the entry"},
                     {"cause_revision", kInteger, "revision of the entry that caused this one; 0: none"},
                     kTraceColumn}),
          "SELECT " + kTime + "j.key AS event_index, a.user AS user, a.service AS service, e.verb AS verb, " + kResult +
              " AS result, " + part("j.value", "", 1) + " AS family, " + part("j.value", "", 0) + " AS event, " +
              part("j.value", "", 2) + " AS type, " + part("j.value", "", 3) + " AS namespace, " +
              part("j.value", "", 4) + " AS name, " + part("j.value", "", 5) +
              " AS summary, e.revision AS revision, e.cause_revision AS cause_revision, " + kTrace +
              " FROM entry e CROSS JOIN actor a ON a.id = e.actor CROSS JOIN json_each(e.events) j WHERE " +
              intact_entry()};
}

SqlView refusals() {
  return {"refusals", "what was refused by the fold or denied by an API server",
          with_time({{"result", kText, "`refused` or `denied`"},
                     {"code", kText, "error code of the fold; NULL: denied by an API server"},
                     {"reason", kText, "why, as the client was answered"},
                     kUserColumn,
                     kServiceColumn,
                     {"source_ip", kText, "address of the client"},
                     {"user_agent", kText, "what the client calls itself"},
                     {"verb", kText, "what was tried"},
                     {"path", kText, "of the request"},
                     {"event", kText, "kind of the first event"},
                     kTypeColumn,
                     kNamespaceColumn,
                     kNameColumn,
                     kTraceColumn}),
          "SELECT " + kTime +
              "CASE WHEN e.refusal IS NULL THEN 'denied' ELSE 'refused' END AS result, e.refusal AS code, "
              "coalesce(e.reason, " +
              part("e.events", "[0]", 5) +
              ") AS reason, a.user AS user, a.service AS service, a.source_ip AS source_ip, a.user_agent AS "
              "user_agent, e.verb AS verb, e.path AS path, " +
              part("e.events", "[0]", 0) + " AS event, " + part("e.events", "[0]", 2) + " AS type, " +
              part("e.events", "[0]", 3) + " AS namespace, " + part("e.events", "[0]", 4) + " AS name, " + kTrace +
              " FROM entry e CROSS JOIN actor a ON a.id = e.actor WHERE " + store::entry_table().intact("e") +
              " AND (e.refusal IS NOT NULL OR substr(e.events, 1, 10) = '[[\"Request') AND " +
              store::actor_table().intact("a")};
}

// Of an entry, its versions are those after the entry before it: both directions can be searched. SQLite takes such a
// range for a sixteenth of the table, and would rather read all of it: likelihood() tells it how few they are. The plus
// sign keeps it from beginning with the type, whose versions may be most of the table.
const std::string kVersionsOfEntry =
    "v.offset = e.offset AND likelihood(v.revision <= e.revision, 0.001) AND likelihood(v.revision > "
    "coalesce((SELECT p.revision FROM entry p WHERE p.offset < e.offset ORDER BY p.offset DESC LIMIT 1), 0), 0.001)";

SqlView changes() {
  return {
      "changes", "one row for each version of each object, also of deleted ones",
      with_time({{"revision", kInteger, "resourceVersion of the object afterwards"},
                 {"operation", kText, "`created`, `updated` or `removed`"},
                 kTypeColumn,
                 kNamespaceColumn,
                 kNameColumn,
                 {"previous", kInteger, "revision of the version before; 0: it was created"},
                 kUserColumn,
                 kServiceColumn,
                 {"verb", kText, "verb of the entry"},
                 {"summary", kText, "the event that made it; NULL: an event about another object did"},
                 {"cause_revision", kInteger, "revision of the entry that caused it; 0: none"},
                 kTraceColumn,
                 {"manifest", kText, "the object as JSON, without payloads of Secrets; of a removal: the last state"}}),
      "SELECT " + kTime +
          "v.revision AS revision, CASE v.operation WHEN 0 THEN 'created' WHEN 1 THEN 'updated' ELSE 'removed' END "
          "AS operation, t.name AS type, v.ns AS namespace, v.name AS name, v.previous AS previous, a.user AS user, "
          "a.service AS service, e.verb AS verb, CASE WHEN v.event_index >= 0 THEN json_extract(e.events, '$[' || "
          "v.event_index || '][5]') END AS summary, e.cause_revision AS cause_revision, " +
          kTrace + ", without_secrets(t.name, " + store::version_json("v") +
          ") AS manifest FROM entry e JOIN version v ON " + kVersionsOfEntry +
          " JOIN actor a ON a.id = e.actor JOIN type t ON t.id = +v.type WHERE " + intact_entry() + " AND " +
          intact_version("v") + " AND " + store::type_table().intact("t")};
}

SqlView objects() {
  return {
      "objects",
      "one row for each object that there is now",
      {kTypeColumn,
       kNamespaceColumn,
       kNameColumn,
       {"uid", kText, "metadata.uid"},
       {"revision", kInteger, "resourceVersion"},
       {"created", kText, "metadata.creationTimestamp"},
       {"changed", kText, "when its latest version was made, UTC"},
       {"changed_ms", kInteger, "the same in milliseconds since 1970"},
       {"manifest", kText, "the object as JSON, without payloads of Secrets"}},
      "SELECT t.name AS type, o.ns AS namespace, o.name AS name, json_extract(" + store::version_json("v") +
          ", '$.metadata.uid') AS uid, "
          "v.revision AS revision, json_extract(" +
          store::version_json("v") +
          ", '$.metadata.creationTimestamp') AS created, utc(e.time) AS "
          "changed, e.time AS changed_ms, without_secrets(t.name, " +
          store::version_json("v") +
          ") AS manifest FROM type t CROSS JOIN object o "
          "ON o.type = t.id CROSS JOIN version v ON v.revision = (SELECT max(n.revision) FROM version n WHERE n.object "
          "= o.id) CROSS JOIN entry e ON e.offset = v.offset WHERE " +
          store::type_table().intact("t") + " AND " + store::object_table().intact("o") + " AND o.live AND " +
          intact_version("v") + " AND " + store::entry_table().intact("e")};
}

SqlView touches() {
  const std::string select = "SELECT t.name AS type, k.ns AS namespace, k.name AS name, ";
  return {"touches",
          "which entries are about an object: the quick way from an object to its entries",
          {kTypeColumn, kNamespaceColumn, kNameColumn, kTimeColumns.front()},
          select +
              "v.offset AS offset FROM type t CROSS JOIN object k ON k.type = t.id CROSS JOIN version v ON "
              "v.object = k.id WHERE " +
              store::type_table().intact("t") + " AND " + store::object_table().intact("k") + " AND " +
              intact_version("v") + " UNION ALL " + select +
              "k.offset AS offset FROM type t CROSS JOIN subject k ON k.type = t.id WHERE " +
              store::type_table().intact("t")};
}

// From an entry to its decisions, by their ids. In this order, as conditions are on times; the entries about an object
// are found through `touches`.
const std::string kDecisionsOfEntry =
    " FROM entry e CROSS JOIN decision d ON d.id >= e.offset << 20 AND d.id < (e.offset + 1) << 20";

SqlView decisions() {
  return {"decisions", "one row for each decision of a service",
          with_time({{"event_index", kInteger, "place of the event in its entry, from 0"},
                     kServiceColumn,
                     {"decision", kText, "kind of the event: `PlacementDecided`, `EvictionStarted`, ..."},
                     {"type", kText, "of the object that was decided on: `resourcebindings.work.karmada.io`"},
                     kNamespaceColumn,
                     kNameColumn,
                     {"summary", kText, "the decision in one line"},
                     kResultColumn,
                     {"reason", kText, "why it was refused"},
                     {"as_of", kInteger, "revision that it was made from"},
                     {"cause_revision", kInteger, "revision of the entry that caused it; 0: none"},
                     {"revision", kInteger, "of the state after the entry"},
                     kTraceColumn,
                     {"explanation", kText, "verdicts, scores and arithmetic, JSON; as `shiplogctl why` shows them"}}),
          "SELECT " + kTime +
              "d.id & 1048575 AS event_index, a.service AS service, +d.kind AS decision, t.name AS type, d.ns AS "
              "namespace, d.name AS name, d.summary AS summary, " +
              kResult +
              " AS result, e.reason AS reason, e.as_of AS as_of, e.cause_revision AS cause_revision, e.revision AS "
              "revision, " +
              kTrace + ", without_secrets('', unpacked(d.explanation)) AS explanation" + kDecisionsOfEntry +
              " JOIN actor a ON a.id = e.actor JOIN type t ON t.id = d.type WHERE " + intact_entry() + " AND " +
              store::decision_table().intact("d") + " AND " + store::type_table().intact("t")};
}

// The binding as the entry left it.
const std::string kBindingAfter =
    " JOIN object o ON o.type = d.type AND o.ns = d.ns AND o.name = d.name JOIN version v ON v.revision = (SELECT "
    "max(n.revision) FROM version n WHERE n.object = o.id AND n.revision <= e.revision)";

SqlView placements() {
  return {"placements", "one row for each placement that the scheduler decided and the fold accepted",
          with_time({{"type", kText, "of the binding"},
                     {"namespace", kText, "of the binding; empty: it is cluster-scoped"},
                     {"name", kText, "of the binding: `nginx-deployment`"},
                     {"placed", kText, "clusters with replicas: `m1:3 m2:2`"},
                     {"clusters", kText, "the same as a JSON array of {name, replicas}"},
                     {"replicas", kInteger, "on all clusters together"},
                     {"as_of", kInteger, "revision that it was decided from"},
                     {"cause_revision", kInteger, "revision of the entry that caused it; 0: none"},
                     {"revision", kInteger, "of the binding afterwards"},
                     kTraceColumn}),
          "SELECT " + kTime + "t.name AS type, d.ns AS namespace, d.name AS name, d.summary AS placed, json_extract(" +
              store::version_json("v") +
              ", '$.spec.clusters') AS clusters, (SELECT sum(json_extract(c.value, '$.replicas')) FROM json_each(" +
              store::version_json("v") +
              ", "
              "'$.spec.clusters') c) AS replicas, e.as_of AS as_of, e.cause_revision AS cause_revision, v.revision AS "
              "revision, " +
              kTrace + kDecisionsOfEntry + " JOIN type t ON t.id = d.type" + kBindingAfter + " WHERE " +
              store::entry_table().intact("e") +
              " AND e.refusal IS NULL AND NOT e.duplicate AND e.families & 2 != 0 AND " +
              store::decision_table().intact("d") + " AND +d.kind = 'PlacementDecided' AND " +
              store::type_table().intact("t") + " AND " + intact_version("v")};
}

/// A task that is among those of the version `alias`.
std::string same_task(const char* alias) {
  const std::string other = std::string{alias} + "t";
  return "(SELECT 1 FROM json_each(" + store::version_json(alias) + ", '$.spec.gracefulEvictionTasks') " + other +
         " WHERE json_extract(" + other + ".value, '$.fromCluster') = json_extract(k.value, '$.fromCluster') AND " +
         "json_extract(" + other + ".value, '$.creationTimestamp') IS json_extract(k.value, '$.creationTimestamp'))";
}

SqlView evictions() {
  const std::string ended = "(SELECT w.revision FROM version w WHERE w.object = o.id AND w.revision > v.revision AND " +
                            intact_version("w") + " AND (w.operation = 2 OR NOT EXISTS " + same_task("w") +
                            ") ORDER BY w.revision LIMIT 1)";
  const std::string ended_ms =
      "(SELECT f.time FROM version x JOIN entry f ON f.offset = x.offset WHERE x.revision = " + ended + ")";
  return {
      "evictions", "one row for each eviction of a workload from a cluster",
      with_time({{"type", kText, "of the binding"},
                 {"namespace", kText, "of the binding; empty: it is cluster-scoped"},
                 {"name", kText, "of the binding: `nginx-deployment`"},
                 {"cluster", kText, "the cluster that it leaves"},
                 {"reason", kText, "`TaintUntolerated`, `ApplicationFailure`, ..."},
                 {"producer", kText, "what evicts: `TaintManager`, ..."},
                 {"message", kText, "text for people"},
                 {"replicas", kInteger, "that were on the cluster, if that is known"},
                 {"ended", kText, "when the eviction ended, UTC; NULL: it has not"},
                 {"ended_ms", kInteger, "the same in milliseconds since 1970"},
                 {"revision", kInteger, "of the binding when it began"},
                 {"cause_revision", kInteger, "revision of the entry that caused it; 0: none"},
                 kTraceColumn}),
      "SELECT " + kTime +
          "t.name AS type, d.ns AS namespace, d.name AS name, json_extract(k.value, '$.fromCluster') AS cluster, "
          "json_extract(k.value, '$.reason') AS reason, json_extract(k.value, '$.producer') AS producer, "
          "json_extract(k.value, '$.message') AS message, json_extract(k.value, '$.replicas') AS replicas, utc(" +
          ended_ms + ") AS ended, " + ended_ms +
          " AS ended_ms, v.revision AS revision, e.cause_revision AS cause_revision, " + kTrace + kDecisionsOfEntry +
          " JOIN type t ON t.id = d.type" + kBindingAfter + " JOIN json_each(" + store::version_json("v") +
          ", '$.spec.gracefulEvictionTasks') k WHERE " + store::entry_table().intact("e") +
          " AND e.refusal IS NULL AND NOT e.duplicate AND e.families & 8 != 0 AND " +
          store::decision_table().intact("d") + " AND +d.kind = 'EvictionStarted' AND " +
          store::type_table().intact("t") + " AND " + intact_version("v") +
          // A binding that is evicted from two clusters in one entry has two decisions, and each of them both tasks.
          " AND NOT EXISTS (SELECT 1 FROM decision b WHERE b.id >= e.offset << 20 AND b.id < d.id AND b.type = "
          "d.type AND b.ns = d.ns AND b.name = d.name AND b.kind = d.kind) AND NOT EXISTS (SELECT 1 FROM version q "
          "WHERE q.revision = v.previous AND EXISTS " +
          same_task("q") + ")"};
}

}  // namespace

const std::vector<SqlView>& sql_views() {
  static const std::vector<SqlView> all = {entries(),   events(),     refusals(),  changes(), objects(),
                                           decisions(), placements(), evictions(), touches()};
  return all;
}

}  // namespace shiplog
