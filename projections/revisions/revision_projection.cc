#include "projections/revisions/revision_projection.h"

#include <algorithm>
#include <string_view>

#include "events/base/json.h"
#include "events/state/pod_template.h"
#include "projections/revisions/revision_query.h"
#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

constexpr const char* kOfWorkload = " WHERE type = ?1 AND ns = ?2 AND name = ?3";

/// The annotations that `kubectl rollout undo` restores on the workload: without the control plane's own, which
/// describe the present state, and without those that kubectl skips.
std::string kept_annotations(const Value& workload) {
  Value kept = Value::object();
  for (const auto& annotation : workload["metadata"]["annotations"].members()) {
    if (!is_own_annotation(annotation.key())) kept.set(annotation.key(), annotation.value);
  }
  return to_json(kept);
}

}  // namespace

Result<RevisionProjection> RevisionProjection::create(sqlite::Connection& connection, store::TypeIds& types) {
  return RevisionProjection{connection, types};
}

Result<void> RevisionProjection::apply(const FoldedEntry& folded) {
  for (const Change& change : folded.folded.changes) {
    if (!has_rollout_history(change.object.type)) continue;
    SHIPLOG_TRY(const int64_t type, types_.id(change.object.type));
    SHIPLOG_TRY(follow(type, change, folded.entry.time));
  }
  return ok();
}

Result<void> RevisionProjection::follow(int64_t type, const Change& change, UtcMillis time) {
  const auto& [_, ns, name] = change.object;
  if (change.removed()) {
    SHIPLOG_TRY(auto forget, connection_.prepare(std::string{"DELETE FROM template_revision"} + kOfWorkload));
    return forget.run(type, ns, name);
  }
  const Value& before = change.before["spec"];
  const Value& after = change.after["spec"];
  if (after["paused"].as_bool()) return ok();  // its changes become one revision when it is resumed
  if (change.created() || before["paused"].as_bool() || before["template"] != after["template"]) {
    SHIPLOG_TRY(number(type, change, time));
    return trim(type, change);
  }
  if (change.before["metadata"]["annotations"] != change.after["metadata"]["annotations"]) {
    SHIPLOG_TRY(
        auto annotate,
        connection_.prepare("UPDATE template_revision SET annotations = ?4, " +
                            store::template_revision_table().set_checksum({{"annotations", "?4"}}) + kOfWorkload +
                            " AND number = (SELECT max(number) FROM "
                            "template_revision" +
                            kOfWorkload + ")"));
    SHIPLOG_TRY(annotate.run(type, ns, name, kept_annotations(change.after)));
  }
  if (before["revisionHistoryLimit"] != after["revisionHistoryLimit"]) return trim(type, change);
  return ok();
}

Result<void> RevisionProjection::repeat(int64_t type, const std::vector<std::pair<Change, UtcMillis>>& changes) {
  for (const auto& [change, time] : changes) {
    SHIPLOG_TRY(follow(type, change, time));
  }
  return ok();
}

Result<void> RevisionProjection::number(int64_t type, const Change& change, UtcMillis time) {
  const auto& [_, ns, name] = change.object;
  const Value& pod_template = change.after["spec"]["template"];
  const std::string hash = template_hash(pod_template);
  int64_t newest = 0;
  int64_t same = 0;
  {
    SHIPLOG_TRY(auto row, connection_.prepare(std::string{"SELECT number, hash FROM template_revision"} + kOfWorkload));
    row.bind_all(type, ns, name);
    while (true) {
      SHIPLOG_TRY(const bool found, row.next());
      if (!found) break;
      newest = std::max(newest, row.integer(0));
      if (row.text(1) == hash) same = row.integer(0);
    }
  }
  const int64_t generation = change.after["metadata"]["generation"].as_int();
  const std::string annotations = kept_annotations(change.after);
  if (same != 0) {
    // Resumed with an unchanged template: the number stays. A template that is used again becomes the newest.
    const int64_t next = same == newest ? same : newest + 1;
    SHIPLOG_TRY(auto renumber,
                connection_.prepare("UPDATE template_revision SET number = ?5, generation = ?6, annotations = ?7, " +
                                    store::template_revision_table().set_checksum(
                                        {{"number", "?5"}, {"generation", "?6"}, {"annotations", "?7"}}) +
                                    kOfWorkload + " AND number = ?4"));
    return renumber.run(type, ns, name, same, next, generation, annotations);
  }
  SHIPLOG_TRY(auto insert, connection_.prepare(store::template_revision_table().insert()));
  return insert.run(type, ns, name, newest + 1, generation, rfc3339(time), hash, to_json(pod_template), annotations);
}

Result<void> RevisionProjection::trim(int64_t type, const Change& change) {
  constexpr int64_t kDefault = 10;
  constexpr int64_t kMost = 1000;
  const auto& [_, ns, name] = change.object;
  const int64_t limit = std::clamp<int64_t>(change.after["spec"]["revisionHistoryLimit"].as_int(kDefault), 0, kMost);
  SHIPLOG_TRY(auto forget, connection_.prepare(std::string{"DELETE FROM template_revision"} + kOfWorkload +
                                               " AND number <= (SELECT number FROM template_revision" + kOfWorkload +
                                               " ORDER BY number DESC LIMIT 1 OFFSET ?4)"));
  return forget.run(type, ns, name, limit + 1);
}

}  // namespace shiplog
