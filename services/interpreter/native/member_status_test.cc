// A member that reports a status of wrong types or sizes (a hostile one, or a broken one) does not reach templates.
#include "services/interpreter/native/member_status.h"

#include <string>
#include <vector>

#include "events/base/json.h"
#include "services/interpreter/native/native.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::kNoon;
using testing::yaml;

Value object_with(const std::string& api_version, const std::string& kind, const std::string& status) {
  return yaml("{apiVersion: " + api_version + ", kind: " + kind +
              ", metadata: {name: x, generation: 4, annotations: {resourcetemplate.karmada.io/generation: '3'}},"
              " spec: {type: LoadBalancer}, status: " +
              status + "}");
}

/// A kind, what a member reports of it, and what is wrong with that.
struct WrongStatus {
  std::string api_version, kind, status, problem;
};

const std::vector<WrongStatus> kWrong = {
    {"apps/v1", "Deployment", "{replicas: 1, availableReplicas: 9223372036854775807}",
     "status.availableReplicas is 9223372036854775807, not a whole number of 32 bits"},
    {"apps/v1", "Deployment", "{replicas: '3'}", "status.replicas is \"3\", not a whole number of 32 bits"},
    {"apps/v1", "Deployment", "{replicas: 1.5}", "status.replicas is 1.5, not a whole number of 32 bits"},
    {"apps/v1", "Deployment", "{observedGeneration: {a: 1}}",
     "status.observedGeneration is an object, not a whole number"},
    {"apps/v1", "Deployment", "[1]", "status is a list, not an object"},
    {"apps/v1", "ReplicaSet", "{readyReplicas: 2147483648}",
     "status.readyReplicas is 2147483648, not a whole number of 32 bits"},
    {"apps/v1", "DaemonSet", "{numberReady: 99999999999, desiredNumberScheduled: -1}",
     "status.numberReady is 99999999999, not a whole number of 32 bits"},
    {"apps/v1", "StatefulSet", "{currentReplicas: -2147483649}",
     "status.currentReplicas is -2147483649, not a whole number of 32 bits"},
    {"v1", "Service", "{loadBalancer: {ingress: [5]}}", "status.loadBalancer.ingress[0] is 5, not an object"},
    {"v1", "Service", "{loadBalancer: {ingress: [{ip: 1.1.1.1, ports: x}]}}",
     "status.loadBalancer.ingress[0].ports is \"x\", not a list"},
    {"networking.k8s.io/v1", "Ingress", "{loadBalancer: {ingress: [{ip: 7}]}}",
     "status.loadBalancer.ingress[0].ip is 7, not a string"},
    {"batch/v1", "Job", "{startTime: notatime}", "status.startTime is \"notatime\", not a time"},
    {"batch/v1", "Job", "{succeeded: 3000000000}", "status.succeeded is 3000000000, not a whole number of 32 bits"},
    {"batch/v1", "Job", "{conditions: [{type: Complete, status: true}]}",
     "status.conditions[0].status is true, not a string"},
    {"batch/v1", "CronJob", "{active: [null]}", "status.active[0] is null, not an object"},
    {"batch/v1", "CronJob", "{active: [{name: 7}]}", "status.active[0].name is 7, not a string"},
    {"batch/v1", "CronJob", "{lastScheduleTime: zzz}", "status.lastScheduleTime is \"zzz\", not a time"},
    {"v1", "Pod", "{containerStatuses: [{state: {running: {startedAt: 5}}}]}",
     "status.containerStatuses[0].state.running.startedAt is 5, not a string"},
    {"v1", "Pod", "{initContainerStatuses: [{ready: 'true'}]}",
     "status.initContainerStatuses[0].ready is \"true\", not a boolean"},
    {"v1", "PersistentVolume", "{phase: 5}", "status.phase is 5, not a string"},
    {"v1", "PersistentVolumeClaim", "{phase: []}", "status.phase is a list, not a string"},
    {"policy/v1", "PodDisruptionBudget", "{currentHealthy: -1000000000000000000}",
     "status.currentHealthy is -1000000000000000000, not a whole number of 32 bits"},
    {"policy/v1", "PodDisruptionBudget", "{disruptedPods: {a: notatime}}",
     "status.disruptedPods.a is \"notatime\", not a time"},
    {"autoscaling/v2", "HorizontalPodAutoscaler", "{desiredReplicas: x}",
     "status.desiredReplicas is \"x\", not a whole number of 32 bits"},
};

TEST(InterpreterMemberStatus, WhatCouldNotBeTheKindsStatusIsNotAggregated_T_11) {
  for (const WrongStatus& wrong : kWrong) {
    const Value items = Value::array({yaml("{clusterName: m1}"), yaml("{clusterName: m2, status: {}}"),
                                      yaml("{clusterName: m3, status: " + wrong.status + "}")});
    const auto status = native::aggregate_status(object_with(wrong.api_version, wrong.kind, "{}"), items, kNoon,
                                                 native::Conditions::kOfMembers);
    ASSERT_FALSE(status) << wrong.kind << " " << wrong.status;
    EXPECT_EQ(status.error().message, "member cluster m3: " + wrong.problem);
  }
}

TEST(InterpreterMemberStatus, NorIsItCollected_T_3) {
  for (const WrongStatus& wrong : kWrong) {
    const auto status = native::reflect_status(object_with(wrong.api_version, wrong.kind, wrong.status));
    ASSERT_FALSE(status) << wrong.kind << " " << wrong.status;
    EXPECT_EQ(status.error().message, wrong.problem);
  }
}

TEST(InterpreterMemberStatus, FieldsMayBeMissingNullOrUnknown) {
  for (const WrongStatus& wrong : kWrong) {
    const std::string kind = wrong.api_version + "/" + wrong.kind;
    EXPECT_TRUE(native::check_member_status(kind, {})) << kind;
    EXPECT_TRUE(native::check_member_status(
        kind, yaml("{replicas: null, loadBalancer: null, active: null, disruptedPods: null, containerStatuses: null,"
                   " startTime: null, phase: null, currentReplicas: null, other: [1, {a: b}]}")))
        << kind;
  }
  EXPECT_TRUE(native::check_member_status(
      "batch/v1/Job", yaml("{conditions: [{type: Complete, status: 'True', lastProbeTime: null, weight: 5}]}")));
  EXPECT_TRUE(native::check_member_status("v1/Pod", yaml("{containerStatuses: [{state: {running: {x: []}}}]}")));
  EXPECT_TRUE(native::check_member_status("example.com/v1/Thing", yaml("[1]"))) << "its types are not known";
}

TEST(InterpreterMemberStatus, ANumberThatIsCopiedIsWrittenAsAnInteger) {
  const auto checked = [](const char* port) {
    return native::check_member_status(
        "v1/Service",
        parse_json(R"({"loadBalancer":{"ingress":[{"ip":"1.1.1.1","ports":[{"port":)" + std::string{port} + "}]}]}}")
            .value());
  };
  EXPECT_TRUE(checked("80"));
  ASSERT_FALSE(checked("80.0"));
  EXPECT_EQ(checked("80.0").error().message,
            "status.loadBalancer.ingress[0].ports[0].port is 80.0, not a whole number of 32 bits");
  EXPECT_TRUE(native::check_member_status("apps/v1/Deployment", parse_json(R"({"replicas":2.0})").value()))
      << "it is summed up";
}

TEST(InterpreterMemberStatus, WhatIsNotReadIsNotChecked_T_18) {
  const Value items = Value::array({yaml("{clusterName: m1, status: {loadBalancer: 5, succeeded: x}}")});
  const auto status_of = [&](const char* object) {
    return native::aggregate_status(yaml(object), items, kNoon, native::Conditions::kOfMembers);
  };
  EXPECT_EQ(status_of("{apiVersion: v1, kind: Service}").value(), std::nullopt);
  EXPECT_EQ(
      status_of("{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed, status: 'True'}]}}").value(),
      yaml("{conditions: [{type: Failed, status: 'True'}]}"));
  EXPECT_TRUE(native::reflect_status(yaml("{apiVersion: v1, kind: Service, status: {loadBalancer: 5}}")));
}

TEST(InterpreterMemberStatus, SumsStayWithin32Bits) {
  const auto summed = [](const std::string& first, const std::string& second) {
    const Value items =
        Value::array({yaml("{clusterName: m1, status: {replicas: " + first + "}}"),
                      yaml("{clusterName: m2, status: {replicas: " + second + "}}"), yaml("{clusterName: m3}")});
    return native::aggregate_status(object_with("apps/v1", "Deployment", "{}"), items, kNoon, native::Conditions::kNone)
        .value()
        .value()["replicas"];
  };
  EXPECT_EQ(summed("2147483647", "2"), Value{2147483647});
  EXPECT_EQ(summed("-2147483648", "-2"), Value{int64_t{-2147483648}});
  EXPECT_EQ(summed("2147483647", "-1"), Value{2147483646});
  EXPECT_EQ(summed("2.0", "1"), Value{3}) << "a whole number";
}

TEST(InterpreterMemberStatus, ATemplateTakesNoMoreThanItCanHold) {
  const auto items_of = [](size_t clusters, size_t bytes, const char* field) {
    Value items = Value::array();
    for (size_t number = 0; number < clusters; ++number) {
      const Value point = Value::object({{field, std::string(bytes, 'a')}});
      items.push_back(Value::object(
          {{"clusterName", "m" + std::to_string(number)},
           {"status", Value::object({{"loadBalancer", Value::object({{"ingress", Value::array({point})}})}})}}));
    }
    return items;
  };
  for (const char* field : {"hostname", "unknown"}) {
    EXPECT_TRUE(native::check_member_items("v1/Service", items_of(1000, 253, field))) << field;
    const auto checked = native::check_member_items("v1/Service", items_of(5, 300'000, field));
    ASSERT_FALSE(checked) << field;
    EXPECT_EQ(checked.error().message,
              "member cluster m3: status.loadBalancer.ingress[0]." + std::string{field} +
                  " makes the status larger than 1048576 bytes, more than a template can have");
  }
}

}  // namespace
}  // namespace shiplog::interpreter
