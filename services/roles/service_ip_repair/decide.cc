#include "services/roles/service_ip_repair/decide.h"

#include <utility>

#include "events/state/object.h"

namespace shiplog::service_ip_repair {

bool lacks_cluster_ip(const Value& service) {
  return service["spec"]["type"].as_string() != "ExternalName" && service["spec"]["clusterIP"].is_empty();
}

Result<Decided> decide(const State& state, const ObjectKey& key, const AllocateAddresses& allocate) {
  const Object* service = key.type == type::kService ? state.find(key) : nullptr;
  if (service == nullptr || deleting(service->value) || !lacks_cluster_ip(service->value)) return Nothing{};
  SHIPLOG_TRY(Value allocated, allocate(key, service->value));
  return decide_one(ObjectUpdated{key, std::move(allocated)}, {key, service->revision});
}

}  // namespace shiplog::service_ip_repair
