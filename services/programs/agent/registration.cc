#include "services/programs/agent/registration.h"

#include <utility>

namespace shiplog::agent {
namespace {

void describe(Value& spec, const AgentOptions& options, const MemberDescription& member) {
  spec.set("syncMode", "Pull");
  if (!member.id.empty()) spec.set("id", member.id);
  if (!member.api_endpoint.empty()) spec.set("apiEndpoint", member.api_endpoint);
  if (member.insecure) spec.set("insecureSkipTLSVerification", true);
  if (!options.proxy_address.empty()) spec.set("proxyURL", options.proxy_address);
  if (!options.provider.empty()) spec.set("provider", options.provider);
  if (!options.region.empty()) spec.set("region", options.region);
  if (!options.zones.empty()) {
    Value zones = Value::array();
    for (const std::string& zone : options.zones) zones.push_back(zone);
    spec.set("zones", std::move(zones));
  }
  const auto refer = [&](const char* field, const std::string& name) {
    spec.set(field, Value::object({{"namespace", options.cluster_namespace}, {"name", name}}));
  };
  if (member.has_secret) refer("secretRef", options.cluster);
  if (member.has_impersonator) refer("impersonatorSecretRef", options.cluster + "-impersonator");
}

}  // namespace

Value new_cluster(const AgentOptions& options, const MemberDescription& member) {
  Value cluster = Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"}, {"kind", "Cluster"}});
  cluster.edit("metadata").set("name", options.cluster);
  describe(cluster.edit("spec"), options, member);
  return cluster;
}

std::optional<Value> updated_cluster(const Value& cluster, const AgentOptions& options,
                                     const MemberDescription& member) {
  Value updated = cluster;
  describe(updated.edit("spec"), options, member);
  if (updated == cluster) return std::nullopt;
  return updated;
}

Value owner_of_secrets(const Value& cluster) {
  return Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                        {"kind", "Cluster"},
                        {"name", cluster["metadata"]["name"]},
                        {"uid", cluster["metadata"]["uid"]},
                        {"controller", true},
                        {"blockOwnerDeletion", true}});
}

Value renewed_lease(const Value& before, const Value& cluster, const AgentOptions& options, UtcMillis now) {
  Value lease = before;
  if (lease.is_null()) {
    lease = Value::object({{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}});
    Value& metadata = lease.edit("metadata");
    metadata.set("name", options.cluster);
    metadata.set("namespace", options.cluster_namespace);
  }
  if (!cluster["metadata"]["uid"].is_empty()) {
    lease.edit("metadata")
        .set("ownerReferences", Value::array({Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                                             {"kind", "Cluster"},
                                                             {"name", options.cluster},
                                                             {"uid", cluster["metadata"]["uid"]}})}));
  }
  Value& spec = lease.edit("spec");
  spec.set("holderIdentity", options.cluster);
  spec.set("leaseDurationSeconds", options.lease_duration.value / 1000);
  // A MicroTime.
  std::string time = rfc3339_millis(now);
  time.insert(time.size() - 1, "000");
  spec.set("renewTime", time);
  return lease;
}

}  // namespace shiplog::agent
