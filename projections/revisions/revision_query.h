#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "projections/store/reader.h"

namespace shiplog {

/// Deployments, StatefulSets and DaemonSets.
bool has_rollout_history(std::string_view type);
/// Whether an annotation of a workload describes its present state and not the revision: annotations of the control
/// plane, the Deployment controller and `kubectl apply`.
bool is_own_annotation(std::string_view key);

/// One past or present pod template of a workload.
struct TemplateRevision {
  ObjectKey workload;
  int64_t number = 0;        ///< from 1; the highest is the present template
  bool newest = false;       ///< the present template, unless the workload is paused
  int64_t generation = 0;    ///< of the workload when the template became the present one
  std::string created;       ///< when the workload first had the template; RFC 3339
  std::string hash;          ///< template_hash() of the template
  std::string pod_template;  ///< spec.template as JSON
  std::string annotations;   ///< the user's annotations of the workload when it last had the template; JSON object
};

/// A selection of revisions: of the workloads of a type, in one namespace (nullopt: all), with one name (nullopt: all).
struct RevisionList {
  std::string type;
  std::optional<std::string> ns = {};
  std::optional<std::string> name = {};  ///< only together with ns
};

/// The rollout histories as of the view's revision.
class RevisionQuery {
 public:
  explicit RevisionQuery(const View& view) : view_{view} {}

  /// Sorted by namespace, name and number, newest first, until `visit` returns false. `visit` may run other queries on
  /// the view.
  Result<void> visit(const RevisionList& which, const std::function<bool(const TemplateRevision&)>& visit) const;

 private:
  const View& view_;
};

}  // namespace shiplog
