#include "projections/sql/saved_queries.h"

#include <algorithm>

namespace shiplog {
namespace {

SavedParameter since(const char* fallback) {
  return {"since", fallback, "a time, or how long ago it was: 2026-11-20T03:12:00Z, 90m, 7d"};
}
SavedParameter optional_namespace() { return {"namespace", "", "only this namespace"}; }
SavedParameter type_of_object() { return {"type", "", "of the object: deployments.apps", true}; }
SavedParameter name_of_object() { return {"name", "", "of the object", true}; }

}  // namespace

const std::vector<SavedQuery>& saved_queries() {
  static const std::vector<SavedQuery> all = {
      {"touched",
       "Who touched an object, and what was refused",
       {type_of_object(),
        name_of_object(),
        {"namespace", "default", "of the object; empty: it is cluster-scoped"},
        since("30d")},
       R"(SELECT e.time, e.user, e.service, e.verb, e.result, e.event, e.summary, e.revision, e.trace
FROM entries e
WHERE e.offset IN (SELECT offset FROM touches WHERE type = :type AND namespace = :namespace AND name = :name)
  AND e.time_ms >= moment(:since)
ORDER BY e.offset DESC)"},
      {"refusals",
       "Everything that was refused or denied",
       {since("24h"), {"user", "", "only this user"}},
       R"(SELECT time, result, user, source_ip, verb, type, namespace, name, reason
FROM refusals
WHERE time_ms >= moment(:since) AND (:user = '' OR user = :user)
ORDER BY time_ms DESC, offset DESC)"},
      {"refusals-by-user",
       "Who is refused most often, and for what",
       {since("24h")},
       R"(SELECT user, result, verb, type, count(*) AS times, max(time) AS latest, max(reason) AS example
FROM refusals
WHERE time_ms >= moment(:since)
GROUP BY user, result, verb, type
ORDER BY times DESC)"},
      {"evictions",
       "What was evicted from a cluster, why, and when that ended",
       {since("7d"), {"cluster", "", "only from this cluster"}, optional_namespace()},
       R"(SELECT time, namespace, name, cluster, reason, producer, ended, (ended_ms - time_ms) / 1000 AS seconds, message
FROM evictions
WHERE unlikely(time_ms >= moment(:since)) AND (:cluster = '' OR cluster = :cluster)
  AND (:namespace = '' OR namespace = :namespace)
ORDER BY time_ms DESC, offset DESC)"},
      {"rescheduled",
       "Which workloads were placed most often",
       {since("7d"), optional_namespace()},
       R"(SELECT namespace, name, count(*) AS placements, count(DISTINCT placed) AS different, min(time) AS first,
  max(time) AS latest
FROM placements
WHERE unlikely(time_ms >= moment(:since)) AND (:namespace = '' OR namespace = :namespace)
GROUP BY type, namespace, name
HAVING count(*) > 1
ORDER BY placements DESC, latest DESC)"},
      {"placed-on",
       "Which workloads the scheduler has put on a cluster",
       {{"cluster", "", "the cluster", true}, since("24h")},
       R"(SELECT p.time, p.namespace, p.name, json_extract(c.value, '$.replicas') AS replicas, p.placed, p.cause_revision
FROM placements p, json_each(p.clusters) c
WHERE unlikely(p.time_ms >= moment(:since)) AND json_extract(c.value, '$.name') = :cluster
ORDER BY p.time_ms DESC)"},
      {"unplaced",
       "What could not be placed, and why",
       {since("24h")},
       R"(SELECT time, namespace, name, summary, cause_revision, trace
FROM decisions
WHERE unlikely(time_ms >= moment(:since)) AND decision IN ('PlacementRefused', 'QuotaRefused')
ORDER BY time_ms DESC, offset DESC)"},
      {"clusters",
       "What happened to the clusters: conditions, taints, joins",
       {since("24h"), {"cluster", "", "only this cluster"}},
       R"(SELECT time, name AS cluster, event, summary, service
FROM events
WHERE time_ms >= moment(:since) AND result = 'accepted' AND type = 'clusters.cluster.karmada.io'
  AND event IN ('ClusterJoined', 'ClusterConditionChanged', 'ClusterLeft', 'TaintAdded', 'TaintRemoved',
                'EvictionsPaused', 'EvictionsResumed')
  AND (:cluster = '' OR name = :cluster)
ORDER BY time_ms DESC, offset DESC)"},
      {"failed-applies",
       "What members have not applied, with their answers",
       {since("24h")},
       R"(SELECT time, namespace, name, count(*) AS times, summary
FROM events
WHERE time_ms >= moment(:since) AND event = 'WorkApplyFailed'
GROUP BY namespace, name, summary
ORDER BY max(offset) DESC)"},
      {"deleted",
       "What was deleted, and by whom",
       {since("24h"), {"type", "", "only this type: deployments.apps"}, optional_namespace()},
       R"(SELECT time, type, namespace, name, user, service, revision, trace
FROM changes
WHERE unlikely(time_ms >= moment(:since)) AND operation = 'removed' AND (:type = '' OR type = :type)
  AND (:namespace = '' OR namespace = :namespace)
ORDER BY time_ms DESC, revision DESC)"},
      {"writers",
       "Who changes most",
       {since("24h")},
       R"(SELECT user, service, count(*) AS changes, count(DISTINCT type || '/' || namespace || '/' || name) AS objects,
  max(time) AS latest
FROM changes
WHERE unlikely(time_ms >= moment(:since))
GROUP BY user, service
ORDER BY changes DESC)"},
      {"trace",
       "Everything that followed from one request, in order",
       {{"trace", "", "W3C trace id, as entries show it", true}, since("7d")},
       R"(SELECT time, user, service, event, type, namespace, name, summary, result, revision
FROM events
WHERE time_ms >= moment(:since) AND trace = :trace
ORDER BY time_ms, offset, event_index)"},
      {"hours",
       "How many entries there were in each hour, and how many were not accepted",
       {since("24h")},
       R"(SELECT substr(time, 1, 13) || ':00Z' AS hour, count(*) AS entries, sum(result <> 'accepted') AS not_accepted,
  count(DISTINCT user) AS users
FROM entries
WHERE time_ms >= moment(:since)
GROUP BY hour
ORDER BY hour)"},
      {"as-of",
       "An object as it was at a revision",
       {type_of_object(),
        name_of_object(),
        {"namespace", "default", "of the object; empty: it is cluster-scoped"},
        {"revision", "", "the revision", true, true}},
       R"(SELECT c.revision, c.time, c.operation, c.user, c.manifest
FROM changes c
WHERE c.offset IN (SELECT offset FROM touches WHERE type = :type AND namespace = :namespace AND name = :name)
  AND c.type = :type AND c.namespace = :namespace AND c.name = :name AND c.revision <= :revision
ORDER BY c.revision DESC LIMIT 1)"}};
  return all;
}

Result<const SavedQuery*> find_saved_query(std::string_view name) {
  const auto& all = saved_queries();
  const auto found = std::ranges::find(all, name, &SavedQuery::name);
  if (found != all.end()) return &*found;
  std::string names;
  for (const SavedQuery& query : all) names += (names.empty() ? "" : ", ") + query.name;
  return Error{ErrorCode::kNotFound, "there is no query \"" + std::string{name} + "\": there are " + names};
}

}  // namespace shiplog
