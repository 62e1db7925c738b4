#include "services/api/views/views.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "projections/objects/object_query.h"
#include "projections/revisions/revision_query.h"
#include "services/api/selector/selector.h"
#include "services/api/views/revision_view.h"

namespace shiplog::api {
namespace {

constexpr const char* kReplicaSets = "replicasets.apps";
constexpr const char* kControllerRevisions = "controllerrevisions.apps";

std::vector<std::string> workload_types(const Kind& kind) {
  if (kind.type() == kReplicaSets) return {"deployments.apps"};
  return {"statefulsets.apps", "daemonsets.apps"};
}

/// The views of one type of workload, until `take` returns false.
Result<void> visit_views(const StoredObjects& objects, const View& view, const RevisionList& which,
                         const std::function<bool(Value)>& take) {
  Value workload;
  ObjectKey read;
  size_t age = 0;
  std::optional<Error> failed;
  SHIPLOG_TRY(RevisionQuery{view}.visit(which, [&](const TemplateRevision& revision) {
    age = revision.newest ? 0 : age + 1;
    if (revision.workload != read) {
      auto row = ObjectQuery{view}.get(revision.workload);
      auto object = row && row.value() ? objects.load(row.value()->json) : Result<Value>{Value{}};
      if (!row || !object) {
        failed = row ? object.error() : row.error();
        return false;
      }
      workload = std::move(object).value();
      read = revision.workload;
    }
    if (workload.is_null()) return true;
    return take(which.type == "deployments.apps" ? replica_set_view(workload, revision, age)
                                                 : controller_revision_view(workload, revision));
  }));
  if (failed) return *failed;
  return ok();
}

}  // namespace

bool has_views(const Kind& kind) { return kind.type() == kReplicaSets || kind.type() == kControllerRevisions; }

bool lists_views(const Kind& kind, const ReadOptions& options) {
  if (!has_views(kind) || options.match == "Exact") return false;
  if (!options.revision) return true;
  return options.revision->value > 0 && (options.match == "NotOlderThan" || options.limit == 0);
}

Result<Value> view_of(const StoredObjects& objects, const Kind& kind, const ObjectKey& key) {
  const size_t dash = key.name.rfind('-');
  if (dash == std::string::npos) return Value{};
  return objects.store(kind).read([&](const View& view) -> Result<Value> {
    Value found;
    for (const std::string& type : workload_types(kind)) {
      const RevisionList which{.type = type, .ns = key.ns.str(), .name = std::string{key.name.substr(0, dash)}};
      SHIPLOG_TRY(visit_views(objects, view, which, [&](Value view_object) {
        if (view_object["metadata"]["name"].as_string() != key.name) return true;
        found = std::move(view_object);
        return false;
      }));
      if (!found.is_null()) break;
    }
    return found;
  });
}

Result<void> add_views(const StoredObjects& objects, const Kind& kind, const std::string& ns,
                       const ReadOptions& options, std::vector<Value>& items) {
  SHIPLOG_TRY(const auto labels, parse_label_selector(options.label_selector));
  SHIPLOG_TRY(const auto fields, parse_field_selector(options.field_selector, kind));
  const auto place = [](const Value& object) {
    return std::pair{object["metadata"]["namespace"].as_string(), object["metadata"]["name"].as_string()};
  };
  return objects.store(kind).read([&](const View& view) -> Result<void> {
    std::optional<Error> failed;
    for (const std::string& type : workload_types(kind)) {
      RevisionList which{.type = type};
      if (!ns.empty()) which.ns = ns;
      SHIPLOG_TRY(visit_views(objects, view, which, [&](Value view_object) {
        if (!labels.matches(view_object["metadata"]["labels"]) || !fields.matches(view_object)) return true;
        const auto [in_ns, name] = place(view_object);
        auto stored = ObjectQuery{view}.get({kind.type(), std::string{in_ns}, std::string{name}});
        if (!stored) {
          failed = stored.error();
          return false;
        }
        if (!stored.value()) items.push_back(std::move(view_object));
        return true;
      }));
      if (failed) return *failed;
    }
    std::ranges::stable_sort(items, {}, place);
    return ok();
  });
}

Error view_is_read_only(const StatusDetails& subject, const Value& view) {
  const Value& owner = view["metadata"]["ownerReferences"][0];
  return {ErrorCode::kMethodNotAllowed, subject.resource + " \"" + subject.name +
                                            "\" is a read-only view of the rollout history of " + owner["kind"].str() +
                                            " \"" + owner["name"].str() + "\": change or roll back the " +
                                            owner["kind"].str() + " instead"};
}

}  // namespace shiplog::api
