#include "services/api/pipeline/pod_quotas.h"

#include "events/base/json.h"
#include "projections/objects/object_query.h"

namespace shiplog::api {
namespace {

constexpr const char* kQuotas = "resourcequotas";

}  // namespace

StageResult<void> charge_quotas(const Server& server, const RequestContext& context, const ObjectKey& pod,
                                WriteChanges& changes) {
  SHIPLOG_TRY(const auto rows, server.objects.record().read([&](const View& view) {
    return ObjectQuery{view}.list(ObjectList{.type = kQuotas, .ns = pod.ns.str()});
  }));
  std::vector<Value> quotas;
  for (const ObjectRow& row : rows) {
    SHIPLOG_TRY(Value quota, parse_stored_json(row.json));
    quotas.push_back(std::move(quota));
  }
  PodAdmission admission = server.options.admit_pod(changes.object, quotas);
  if (!admission.refusal.empty()) {
    Rejection rejection{Error{ErrorCode::kForbidden, std::move(admission.refusal)}};
    rejection.subject = context.subject(pod.name.str());
    rejection.denied = DeniedAction{context.verb, pod};
    return rejection;
  }
  for (Value& quota : admission.charged) {
    const ObjectKey key{kQuotas, pod.ns, quota["metadata"]["name"].str()};
    changes.expects.push_back({key, revision_of(quota)});
    changes.events.emplace_back(StatusUpdated{key, std::move(quota)});
  }
  return ok();
}

}  // namespace shiplog::api
