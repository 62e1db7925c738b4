#include "projections/revisions/revision_query.h"

#include <algorithm>
#include <array>

#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"
#include "projections/store/checkpoint.h"

namespace shiplog {

bool has_rollout_history(std::string_view type) {
  return type == "deployments.apps" || type == "statefulsets.apps" || type == "daemonsets.apps";
}

bool is_own_annotation(std::string_view key) {
  // Source: annotationsToSkip of kubectl's rollback.
  constexpr std::array<std::string_view, 6> kSkipped = {"kubectl.kubernetes.io/last-applied-configuration",
                                                        "deployment.kubernetes.io/revision",
                                                        "deployment.kubernetes.io/revision-history",
                                                        "deployment.kubernetes.io/desired-replicas",
                                                        "deployment.kubernetes.io/max-replicas",
                                                        "deprecated.deployment.rollback.to"};
  if (std::ranges::find(kSkipped, key) != kSkipped.end()) return true;
  const std::string_view domain = key.substr(0, key.find('/'));
  return domain.size() < key.size() && (domain == "karmada.io" || domain.ends_with(".karmada.io") ||
                                        domain == "shiplog.io" || domain.ends_with(".shiplog.io"));
}

Result<void> RevisionQuery::visit(const RevisionList& which,
                                  const std::function<bool(const TemplateRevision&)>& visit) const {
  SHIPLOG_TRY(const auto type, store::find_type(view_.connection(), which.type));
  if (!type) return ok();
  std::string sql =
      "SELECT o.ns, o.name, r.number, r.generation, r.created, r.hash, r.template, r.annotations FROM object o CROSS "
      "JOIN template_revision r ON r.object = o.id WHERE o.type = ?1 AND " +
      store::object_table().intact("o") + " AND " + store::template_revision_table().intact("r");
  if (which.ns) sql += " AND o.ns = ?2";
  if (which.name) sql += " AND o.name = ?3";
  sql += " ORDER BY o.ns DESC, o.name DESC, r.number DESC";
  SHIPLOG_TRY(auto row, view_.connection().prepare(sql));
  row.bind(1, *type);
  if (which.ns) row.bind(2, *which.ns);
  if (which.name) row.bind(3, *which.name);
  TemplateRevision revision;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return ok();
    ObjectKey workload{which.type, std::string{row.text(0)}, std::string{row.text(1)}};
    revision.newest = workload != revision.workload;
    revision.workload = std::move(workload);
    revision.number = row.integer(2);
    revision.generation = row.integer(3);
    revision.created = row.text(4);
    revision.hash = row.text(5);
    revision.pod_template = row.text(6);
    revision.annotations = row.text(7);
    if (!visit(revision)) return ok();
  }
}

}  // namespace shiplog
