#include "tests/support/stage.h"

#include "events/base/ascii.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"

namespace shiplog::testing {

Stage::Stage()
    : members_{std::make_unique<FakeMembers>(
          [this](Millis delay, std::function<void()> run) { after(delay, std::move(run)); })},
      loop_{{.state = &state_, .executor = &executor_, .on_folded = [this](const Entry& entry, const Folded& folded) {
               if (keeps_history) history_.push_back({entry, folded});
             }}} {
  for (const char* ns : {"default", "kube-system", "karmada-system", "karmada-cluster"}) {
    put({type::kNamespace, "", ns}, namespace_object(ns));
  }
}

Stage::~Stage() = default;

Folded Stage::write(std::vector<Event> events, std::vector<Expect> expects) {
  Entry entry;
  entry.actor.user = "tester";
  entry.events = std::move(events);
  entry.expects = std::move(expects);
  return loop_.write(std::move(entry));
}

Folded Stage::put(const ObjectKey& key, Value value) {
  if (state_.find(key) == nullptr) return write({ObjectCreated{key, std::move(value)}});
  return write({ObjectUpdated{key, std::move(value)}});
}

ObjectKey cluster_key(const std::string& name) { return {type::kCluster, "", name}; }

Value cluster_object(const std::string& name) {
  return Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                        {"kind", "Cluster"},
                        {"metadata", Value::object({{"name", name}, {"generation", 1}})},
                        {"spec", Value::object({{"syncMode", "Push"}, {"apiEndpoint", "https://" + name}})}});
}

Value namespace_object(const std::string& name) {
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Namespace"},
                        {"metadata", Value::object({{"name", name}})},
                        {"spec", Value::object({{"finalizers", Value::array({"kubernetes"})}})},
                        {"status", Value::object({{"phase", "Active"}})}});
}

Value deployment(const std::string& ns, const std::string& name, int64_t replicas) {
  const Value labels = Value::object({{"app", name}});
  const Value container = Value::object({{"name", "web"}, {"image", "nginx:1"}});
  const Value pod = Value::object({{"metadata", Value::object({{"labels", labels}})},
                                   {"spec", Value::object({{"containers", Value::array({container})}})}});
  return Value::object({{"apiVersion", "apps/v1"},
                        {"kind", "Deployment"},
                        {"metadata", Value::object({{"name", name}, {"namespace", ns}, {"generation", 1}})},
                        {"spec", Value::object({{"replicas", replicas},
                                                {"selector", Value::object({{"matchLabels", labels}})},
                                                {"template", pod}})}});
}

Value config_map(const std::string& ns, const std::string& name, const std::string& text) {
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", Value::object({{"name", name}, {"namespace", ns}})},
                        {"data", Value::object({{"text", text}})}});
}

Value binding(const Value& object, const std::vector<Target>& targets) {
  const std::string ns = object["metadata"]["namespace"].str();
  const std::string name = object["metadata"]["name"].str();
  const std::string kind = object["kind"].str();
  const std::string lower = lower_case(kind);
  const bool cluster_scoped = ns.empty();
  Value clusters = Value::array();
  for (const Target& target : targets) {
    Value one = Value::object({{"name", target.cluster}});
    if (target.replicas > 0) one.set("replicas", target.replicas);
    clusters.push_back(one);
  }
  Value resource = Value::object({{"apiVersion", object["apiVersion"]}, {"kind", kind}, {"name", name}});
  if (!cluster_scoped) resource.set("namespace", ns);
  Value metadata = Value::object(
      {{"name", name + "-" + lower},
       {"generation", 1},
       {"labels", Value::object({{cluster_scoped ? label::kClusterBindingId : label::kBindingId, "id-" + ns + name},
                                 {label::kPolicyId, "policy"}})},
       {"finalizers", Value::array({cluster_scoped ? finalizer::kClusterBinding : finalizer::kBinding})}});
  if (!cluster_scoped) metadata.set("namespace", ns);
  Value spec = Value::object({{"resource", resource}, {"clusters", clusters}});
  if (object["spec"].contains("replicas")) spec.set("replicas", object["spec"]["replicas"]);
  return Value::object({{"apiVersion", "work.karmada.io/v1alpha2"},
                        {"kind", cluster_scoped ? "ClusterResourceBinding" : "ResourceBinding"},
                        {"metadata", metadata},
                        {"spec", spec},
                        {"status", Value::object({{"lastScheduledTime", "2026-01-01T00:00:00Z"}})}});
}

ObjectKey binding_key(const Value& binding) {
  const bool cluster_scoped = binding["kind"].as_string() == "ClusterResourceBinding";
  return {cluster_scoped ? type::kClusterResourceBinding : type::kResourceBinding,
          binding["metadata"]["namespace"].str(), binding["metadata"]["name"].str()};
}

ObjectKey work_key(const std::string& cluster, const Value& object) {
  return {type::kWork, execution_space(cluster),
          work_name(object["kind"].as_string(), object["metadata"]["namespace"].as_string(),
                    object["metadata"]["name"].as_string())};
}

}  // namespace shiplog::testing
