#include "projections/revisions/revision_projection.h"

#include <algorithm>
#include <string_view>

#include "events/base/json.h"
#include "events/state/pod_template.h"
#include "projections/revisions/revision_query.h"
#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

constexpr const char* kOfWorkload = " WHERE object = ?1";

/// How many rows a workload has at most.
int64_t kept_templates(const Change& change) {
  constexpr int64_t kDefault = 10;
  constexpr int64_t kMost = 1000;
  return 1 + std::clamp<int64_t>(change.after["spec"]["revisionHistoryLimit"].as_int(kDefault), 0, kMost);
}

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

Result<RevisionProjection> RevisionProjection::create(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto rows, connection.prepare(std::string{"SELECT number, hash FROM template_revision"} + kOfWorkload));
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, store::template_revision_table()));
  return RevisionProjection{connection, std::move(rows), std::move(insert)};
}

Result<void> RevisionProjection::apply(const FoldedEntry& folded) {
  for (size_t index = 0; index < folded.folded.changes.size(); ++index) {
    const Change& change = folded.folded.changes[index];
    if (!has_rollout_history(change.object.type)) continue;
    SHIPLOG_TRY(follow(folded.object_ids[index], change, folded.entry.time));
  }
  return ok();
}

Result<void> RevisionProjection::follow(int64_t object, const Change& change, UtcMillis time) {
  if (change.removed()) {
    SHIPLOG_TRY(auto forget, connection_.prepare(std::string{"DELETE FROM template_revision"} + kOfWorkload));
    return forget.run(object);
  }
  const Value& before = change.before["spec"];
  const Value& after = change.after["spec"];
  if (after["paused"].as_bool()) return ok();  // its changes become one revision when it is resumed
  if (change.created() || before["paused"].as_bool() || before["template"] != after["template"]) {
    SHIPLOG_TRY(const int64_t rows, number(object, change, time));
    return rows > kept_templates(change) ? trim(object, change) : ok();
  }
  if (change.before["metadata"]["annotations"] != change.after["metadata"]["annotations"]) {
    SHIPLOG_TRY(
        auto annotate,
        connection_.prepare("UPDATE template_revision SET annotations = ?2, " +
                            store::template_revision_table().set_checksum({{"annotations", "?2"}}) + kOfWorkload +
                            " AND number = (SELECT max(number) FROM "
                            "template_revision" +
                            kOfWorkload + ")"));
    SHIPLOG_TRY(annotate.run(object, kept_annotations(change.after)));
  }
  if (before["revisionHistoryLimit"] != after["revisionHistoryLimit"]) return trim(object, change);
  return ok();
}

Result<void> RevisionProjection::repeat(int64_t object, const std::vector<std::pair<Change, UtcMillis>>& changes) {
  for (const auto& [change, time] : changes) {
    SHIPLOG_TRY(follow(object, change, time));
  }
  return ok();
}

Result<int64_t> RevisionProjection::number(int64_t object, const Change& change, UtcMillis time) {
  const Value& pod_template = change.after["spec"]["template"];
  const std::string json = to_json(pod_template);
  const std::string hash = template_hash_of_json(json);
  int64_t newest = 0;
  int64_t same = 0;
  int64_t rows = 0;
  rows_.bind_all(object);
  // A new workload has none: those of an earlier one of its name went with it.
  while (!change.created()) {
    SHIPLOG_TRY(const bool found, rows_.next());
    if (!found) break;
    ++rows;
    newest = std::max(newest, rows_.integer(0));
    if (rows_.text(1) == hash) same = rows_.integer(0);
  }
  const int64_t generation = change.after["metadata"]["generation"].as_int();
  const std::string annotations = kept_annotations(change.after);
  if (same != 0) {
    // Resumed with an unchanged template: the number stays. A template that is used again becomes the newest.
    const int64_t next = same == newest ? same : newest + 1;
    SHIPLOG_TRY(auto renumber,
                connection_.prepare("UPDATE template_revision SET number = ?3, generation = ?4, annotations = ?5, " +
                                    store::template_revision_table().set_checksum(
                                        {{"number", "?3"}, {"generation", "?4"}, {"annotations", "?5"}}) +
                                    kOfWorkload + " AND number = ?2"));
    SHIPLOG_TRY(renumber.run(object, same, next, generation, annotations));
    return rows;
  }
  const std::string created = rfc3339(time);
  insert_.begin().add(object).add(newest + 1).add(generation).add(created);
  SHIPLOG_TRY(insert_.add(hash).add(json).add(annotations).run());
  return rows + 1;
}

Result<void> RevisionProjection::trim(int64_t object, const Change& change) {
  SHIPLOG_TRY(auto forget, connection_.prepare(std::string{"DELETE FROM template_revision"} + kOfWorkload +
                                               " AND number <= (SELECT number FROM template_revision" + kOfWorkload +
                                               " ORDER BY number DESC LIMIT 1 OFFSET ?2)"));
  return forget.run(object, kept_templates(change));
}

}  // namespace shiplog
