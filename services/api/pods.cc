#include "services/api/pods.h"

#include <array>
#include <utility>

#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/api/pipeline/responses.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
namespace {

/// "deployment/web" whose pods would match; empty: none is there.
Result<std::string> template_with_pods(const StoredObjects& objects, const std::string& ns,
                                       const ParsedLabelSelector& selector) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kTemplates = {
      {{"deployments.apps", "deployment"},
       {"statefulsets.apps", "statefulset"},
       {"daemonsets.apps", "daemonset"},
       {"jobs.batch", "job"},
       {"replicasets.apps", "replicaset"},
       {"replicationcontrollers", "replicationcontroller"}}};
  for (const auto& [type, word] : kTemplates) {
    SHIPLOG_TRY(const auto rows, objects.record().read([&, type = type](const View& view) {
      return ObjectQuery{view}.list(ObjectList{.type = type, .ns = ns});
    }));
    for (const ObjectRow& row : rows) {
      SHIPLOG_TRY(const Value object, parse_stored_json(row.json));
      if (!selector.matches(object["spec"]["template"]["metadata"]["labels"])) continue;
      return std::string{word} + "/" + object["metadata"]["name"].str();
    }
  }
  return std::string{};
}

}  // namespace

bool answer_wait_for_pods(const ServerPtr& server, const RequestContextPtr& context, const ReadOptions& watch,
                          std::function<void()> serve) {
  // Where views stand in for what controllers make, no controller makes pods either.
  if (!server->options.control_plane || context->kind->type() != "pods") return false;
  // Informers request bookmarks, `kubectl get -w` for a Table.
  const bool waits = !context->path.ns.empty() && context->path.name.empty() && !watch.label_selector.empty() &&
                     watch.field_selector.empty() && !watch.bookmarks && !watch.send_initial_events &&
                     context->accept.form == Accept::Form::kObject;
  if (!waits) return false;
  auto selector = parse_label_selector(watch.label_selector);
  if (!selector) return false;  // refused with a reason where watches begin
  when_current(server, context, [server, context, selector = std::move(selector).value(), serve = std::move(serve)] {
    const auto found = template_with_pods(server->objects, context->path.ns, selector);
    if (!found) return fail(*context, found.error());
    if (found.value().empty()) return serve();
    fail(*context, Error{ErrorCode::kNotFound,
                         "the pods of " + found.value() +
                             " run in member clusters, and this server has no nodes; ask the member cluster that "
                             "runs the pod (`shiplogctl why " +
                             found.value() + " -n " + context->path.ns + "` names it)"});
  });
  return true;
}

}  // namespace shiplog::api
