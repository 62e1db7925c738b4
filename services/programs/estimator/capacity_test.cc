#include "services/programs/estimator/capacity.h"

#include <gtest/gtest.h>

#include "events/base/yaml.h"

namespace shiplog::estimator {
namespace {

Value yaml(const std::string& text) {
  const auto parsed = parse_yaml(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message) << "\n" << text;
  return parsed ? parsed.value() : Value{};
}

Value node(const std::string& name, const std::string& spec = "{}", const std::string& labels = "{}") {
  return yaml("{metadata: {name: " + name + ", labels: " + labels + "}, spec: " + spec +
              ", status: {allocatable: {cpu: '4', memory: 8Gi, pods: '10', example.com/gpu: '2'}}}");
}

Value pod(const std::string& node, const std::string& cpu, const std::string& phase = "Running") {
  return yaml("{spec: {nodeName: " + node + ", containers: [{resources: {requests: {cpu: " + cpu +
              "}}}]}, status: {phase: " + phase + "}}");
}

/// Objects as they are listed, without names that would matter.
struct ListedMember {
  std::vector<Value> nodes, pods, deployments, replica_sets, resource_quotas;

  operator MemberObjects() const {
    MemberObjects objects{{}, named(pods), named(deployments), named(replica_sets), named(resource_quotas)};
    NodeRooms rooms;
    for (const auto& [name, node] : named(nodes)) rooms.put_node(name, node);
    for (const auto& [name, pod] : objects.pods) rooms.put_pod(name, pod);
    rooms.update(objects.nodes);
    return objects;
  }

 private:
  static MemberObjects::Objects named(const std::vector<Value>& listed) {
    MemberObjects::Objects named;
    for (const Value& object : listed) named[std::to_string(named.size())] = object;
    return named;
  }
};

int32_t most(const MemberObjects& member, const std::string& requirements) {
  const auto found = max_replicas(member, yaml(requirements));
  EXPECT_TRUE(found) << (found ? "" : found.error().message);
  return found ? found.value() : -1;
}

TEST(Capacity, SumsUpTheCapacityOfEachNode_S_73) {
  ListedMember member;
  EXPECT_EQ(most(member, "{resourceRequest: {cpu: '1'}}"), 0) << "no nodes";
  member.nodes = {node("a"), node("b")};
  EXPECT_EQ(most(member, "{}"), 20) << "pods alone";
  EXPECT_EQ(most(member, "{resourceRequest: {cpu: 1500m}}"), 4) << "two on each, not five of eight cores";
  EXPECT_EQ(most(member, "{resourceRequest: {cpu: '1', memory: 3Gi}}"), 4);
  EXPECT_EQ(most(member, "{resourceRequest: {example.com/gpu: '1'}}"), 4);
  EXPECT_EQ(most(member, "{resourceRequest: {example.com/fpga: '1'}}"), 0) << "no node has one";
  EXPECT_EQ(most(member, "{resourceRequest: {example.com/fpga: '0'}}"), 20);

  member.pods = {pod("a", "3"), pod("a", "1", "Succeeded"), pod("c", "4"), pod("''", "4"), pod("b", "9")};
  EXPECT_EQ(most(member, "{resourceRequest: {cpu: 500m}}"), 2)
      << "b is overcommitted: that does not reduce the capacity of a";
  EXPECT_EQ(most(member, "{}"), 18);
  EXPECT_EQ(max_replicas(member, yaml("{resourceRequest: {cpu: much}}")).error().code, ErrorCode::kBadRequest);
}

TEST(Capacity, OnlyNodesThatAdmitThePod_S_73) {
  ListedMember member;
  member.nodes = {node("a", "{}", "{zone: x, rank: '5'}"), node("b", "{unschedulable: true}", "{zone: y, rank: '7'}"),
                  node("c", "{taints: [{key: k, value: v, effect: NoExecute}]}", "{zone: y}"),
                  node("d", "{taints: [{key: k, effect: PreferNoSchedule}]}")};
  const auto with = [&](const std::string& claim) { return most(member, "{nodeClaim: " + claim + "}"); };
  EXPECT_EQ(with("{}"), 20) << "a and d";
  EXPECT_EQ(with("{tolerations: [{key: k, operator: Exists}]}"), 30);
  EXPECT_EQ(with("{tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}]}"), 30);
  EXPECT_EQ(with("{tolerations: [{operator: Exists}]}"), 40);
  EXPECT_EQ(with("{nodeSelector: {zone: y}, tolerations: [{operator: Exists}]}"), 20);
  const auto affinity = [&](const std::string& term) {
    return with("{tolerations: [{operator: Exists}], hardNodeAffinity: {nodeSelectorTerms: [" + term + "]}}");
  };
  EXPECT_EQ(affinity("{matchExpressions: [{key: zone, operator: In, values: [x, z]}]}"), 10);
  EXPECT_EQ(affinity("{matchExpressions: [{key: zone, operator: NotIn, values: [x]}]}"), 30)
      << "also without the label";
  EXPECT_EQ(affinity("{matchExpressions: [{key: zone, operator: Exists}, {key: rank, operator: DoesNotExist}]}"), 10);
  EXPECT_EQ(affinity("{matchExpressions: [{key: rank, operator: Gt, values: ['5']}]}"), 10);
  EXPECT_EQ(affinity("{matchExpressions: [{key: rank, operator: Lt, values: ['6']}]}"), 10);
  EXPECT_EQ(affinity("{matchFields: [{key: metadata.name, operator: In, values: [d]}]}, "
                     "{matchExpressions: [{key: zone, operator: In, values: [x]}]}"),
            20)
      << "any of the terms";
  EXPECT_EQ(affinity("{}"), 0) << "a term without requirements selects nothing";
  EXPECT_EQ(
      max_replicas(member, yaml("{nodeClaim: {hardNodeAffinity: {nodeSelectorTerms: [{matchExpressions: [{key: a, "
                                "operator: Like}]}]}}}"))
          .error()
          .code,
      ErrorCode::kBadRequest);
}

TEST(Capacity, WholeSetsOfComponents_S_73) {
  ListedMember member;
  member.nodes = {node("a"), node("b")};
  const auto sets = [&](const std::string& components) { return max_component_sets(member, yaml(components)).value(); };
  EXPECT_EQ(sets("[{name: m, replicas: 1, replicaRequirements: {resourceRequest: {cpu: '2'}}}, "
                 "{name: w, replicas: 2, replicaRequirements: {resourceRequest: {cpu: '1'}}}]"),
            2);
  EXPECT_EQ(sets("[{name: m, replicas: 1, replicaRequirements: {resourceRequest: {cpu: '3'}}}, "
                 "{name: w, replicas: 1, replicaRequirements: {resourceRequest: {cpu: '2'}}}]"),
            1)
      << "five cores of eight, but no node has 3 cores for the second set";
  EXPECT_EQ(sets("[{name: w, replicas: 7}]"), 2) << "the number of pods limits it";
  EXPECT_EQ(sets("[]"), 2147483647);
}

Value quota(const std::string& ns, const std::string& hard, const std::string& used, const std::string& spec = "{}") {
  return yaml("{metadata: {namespace: " + ns + "}, spec: " + spec + ", status: {hard: {" + hard + "}, used: {" + used +
              "}}}");
}

TEST(Capacity, TheResourceQuotasOfTheNamespaceLimitIt_S_73_5_5_5) {
  ListedMember member;
  member.nodes = {node("a"), node("b")};
  const auto cores = [&](const std::string& more) { return most(member, "{resourceRequest: {cpu: '1'}" + more + "}"); };
  member.resource_quotas = {quota("shop", "requests.cpu: '5', memory: 1Gi", "requests.cpu: '2', memory: 1Gi")};
  EXPECT_EQ(cores(", namespace: shop"), 3) << "memory is used up, but none is requested";
  EXPECT_EQ(cores(", namespace: other"), 8);
  EXPECT_EQ(cores(""), 8);
  EXPECT_EQ(most(member, "{namespace: shop, resourceRequest: {memory: 1Mi}}"), 0);
  EXPECT_EQ(most(member, "{namespace: shop, resourceRequest: {example.com/gpu: '1'}}"), 4) << "not limited";
  member.resource_quotas = {quota("shop", "cpu: '9', limits.cpu: '1', pods: '1', requests.example.com/gpu: '3'",
                                  "cpu: '0', limits.cpu: '1', pods: '1', requests.example.com/gpu: '2'"),
                            quota("shop", "cpu: '2'", "cpu: '0'")};
  EXPECT_EQ(cores(", namespace: shop"), 2) << "the smallest counts; limits and numbers of objects do not";
  EXPECT_EQ(most(member, "{namespace: shop, resourceRequest: {example.com/gpu: '1'}}"), 1);
  member.resource_quotas = {quota("shop", "cpu: '2'", "cpu: '7'"), quota("shop", "cpu: '1'", "")};
  EXPECT_EQ(cores(", namespace: shop"), 0) << "it is exceeded; one without a status yet does not count";
}

TEST(Capacity, AScopedQuotaIsForItsPriorityClassesAlone_S_73_5_5_5) {
  ListedMember member;
  member.nodes = {node("a")};
  const auto cores = [&](const std::string& spec, const std::string& priority) {
    member.resource_quotas = {quota("shop", "cpu: '1'", "cpu: '0'", spec)};
    return most(member, "{namespace: shop, resourceRequest: {cpu: '1'}" +
                            (priority.empty() ? "" : ", priorityClassName: " + priority) + "}");
  };
  const auto selector = [](const std::string& expression) {
    return "{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, " + expression + "}]}}";
  };
  EXPECT_EQ(cores(selector("operator: In, values: [high]"), "high"), 1);
  EXPECT_EQ(cores(selector("operator: In, values: [high]"), "low"), 4);
  EXPECT_EQ(cores(selector("operator: In, values: [high]"), ""), 4);
  EXPECT_EQ(cores(selector("operator: NotIn, values: [high]"), "low"), 1);
  EXPECT_EQ(cores(selector("operator: NotIn, values: [high]"), "high"), 4);
  EXPECT_EQ(cores(selector("operator: Exists"), "low"), 1);
  EXPECT_EQ(cores(selector("operator: Exists"), ""), 4);
  EXPECT_EQ(cores(selector("operator: DoesNotExist"), ""), 1);
  EXPECT_EQ(cores("{scopes: [PriorityClass]}", "low"), 1);
  EXPECT_EQ(cores("{scopes: [BestEffort]}", "low"), 4) << "nothing is known of limits";
}

TEST(Capacity, SetsOfComponentsShareTheQuota_S_73) {
  ListedMember member;
  member.nodes = {node("a"), node("b")};
  const Value set = yaml(
      "[{replicas: 1, replicaRequirements: {resourceRequest: {cpu: '1'}}}, "
      "{replicas: 2, replicaRequirements: {priorityClassName: high, resourceRequest: {cpu: 500m}}}]");
  EXPECT_EQ(max_component_sets(member, set, "shop").value(), 4);
  member.resource_quotas = {quota("shop", "cpu: '5'", "cpu: '0'")};
  EXPECT_EQ(max_component_sets(member, set, "shop").value(), 2) << "2 cores each, of 5";
  EXPECT_EQ(max_component_sets(member, set, "other").value(), 4);
  member.resource_quotas = {quota("shop", "cpu: '3'", "cpu: '0'", "{scopes: [PriorityClass]}")};
  EXPECT_EQ(max_component_sets(member, set, "shop").value(), 3) << "one core each is of the class";
}

TEST(Capacity, AssumedWorkloadsUseRoomFirst_M_9) {
  ListedMember member;
  member.nodes = {node("a"), node("b")};
  const Value assumed = yaml(
      "[{namespace: shop, components: [{replicas: 3, replicaRequirements: {resourceRequest: "
      "{cpu: '1'}}}]}]");
  const auto cores = [&](const std::string& ns) {
    return max_replicas(member, yaml("{namespace: " + ns + ", resourceRequest: {cpu: '1'}}"), assumed).value();
  };
  EXPECT_EQ(cores("shop"), 5);
  const Value set = yaml("[{replicas: 2, replicaRequirements: {resourceRequest: {cpu: '2'}}}]");
  EXPECT_EQ(max_component_sets(member, set, "shop").value(), 2);
  EXPECT_EQ(max_component_sets(member, set, "shop", assumed).value(), 1);
  member.resource_quotas = {quota("shop", "cpu: '4'", "cpu: '0'"), quota("other", "cpu: '4'", "cpu: '0'")};
  EXPECT_EQ(cores("shop"), 1) << "its quota has 3 of 4 taken";
  EXPECT_EQ(cores("other"), 4);
  const Value too_much = yaml(
      "[{namespace: shop, components: [{replicas: 900, replicaRequirements: {resourceRequest: "
      "{cpu: '1'}}}]}]");
  EXPECT_EQ(max_replicas(member, yaml("{resourceRequest: {cpu: '1'}}"), too_much).value(), 0);
  EXPECT_EQ(max_replicas(member, yaml("{}"),
                         yaml("[{components: [{replicas: 1, replicaRequirements: {resourceRequest: "
                              "{cpu: much}}}]}]"))
                .error()
                .code,
            ErrorCode::kBadRequest);
}

TEST(Capacity, UnschedulablePodsOfADeployment_S_74) {
  ListedMember member;
  member.deployments = {yaml("{metadata: {namespace: n, name: web, uid: d}}")};
  const auto set = [](const std::string& uid, const std::string& revision) {
    return yaml("{metadata: {uid: " + uid + ", annotations: {deployment.kubernetes.io/revision: '" + revision +
                "'}, ownerReferences: [{uid: d, controller: true}]}}");
  };
  member.replica_sets = {set("old", "9"), set("new", "10")};
  const auto waiting = [](const std::string& owner, const std::string& since,
                          const std::string& reason = "Unschedulable") {
    return yaml("{metadata: {ownerReferences: [{uid: " + owner +
                ", controller: true}]}, status: {conditions: [{type: PodScheduled, status: 'False', reason: " + reason +
                ", lastTransitionTime: '" + since + "'}]}}");
  };
  member.pods = {waiting("new", "2026-01-01T11:58:00Z"), waiting("new", "2026-01-01T11:59:30Z"),
                 waiting("old", "2026-01-01T11:00:00Z"), waiting("new", "2026-01-01T11:00:00Z", "SchedulingGated")};
  const UtcMillis noon{1'767'268'800'000};
  const Value web = yaml("{apiVersion: apps/v1, kind: Deployment, namespace: n, name: web}");
  EXPECT_EQ(unschedulable_replicas(member, web, Millis{60'000}, noon).value(), 1);
  EXPECT_EQ(unschedulable_replicas(member, web, Millis{0}, noon).value(), 2);
  EXPECT_EQ(unschedulable_replicas(member, yaml("{apiVersion: apps/v1, kind: Deployment, namespace: n, name: x}"),
                                   Millis{0}, noon)
                .error()
                .code,
            ErrorCode::kNotFound);
  EXPECT_EQ(unschedulable_replicas(member, yaml("{apiVersion: apps/v1, kind: StatefulSet, namespace: n, name: web}"),
                                   Millis{0}, noon)
                .error()
                .code,
            ErrorCode::kBadRequest);
}

}  // namespace
}  // namespace shiplog::estimator
