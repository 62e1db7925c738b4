#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

/// A stored pod with more in its spec.
Value whole_pod(const char* more) {
  Value object = json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}})");
  const Value members = json(more);
  for (const auto& member : members.members()) object.edit("spec").set(member.key(), member.value);
  return stored("pods", object);
}

Result<Value> changed_pod(const Value& old, const char* name, const Value& value) {
  Value now = old;
  if (value.is_null()) {
    now.edit("spec").erase(name);
  } else {
    now.edit("spec").set(name, value);
  }
  return update("pods", old, now);
}

TEST(WholePodAdmission, DeadlinesAreOnlyLowered) {  // CRU-8
  const Value old = whole_pod(R"({"activeDeadlineSeconds":10})");
  EXPECT_EQ(message_of(changed_pod(old, "activeDeadlineSeconds", 5)), "no error");
  EXPECT_NE(message_of(changed_pod(old, "activeDeadlineSeconds", 11)).find("must be less than or equal to previous"),
            std::string::npos);
  EXPECT_NE(message_of(changed_pod(old, "activeDeadlineSeconds", Value{}))
                .find("Invalid value: null: must not update from a positive integer to nil value"),
            std::string::npos);
  EXPECT_EQ(message_of(changed_pod(whole_pod("{}"), "activeDeadlineSeconds", 5)), "no error") << "it may be set";
}

TEST(WholePodAdmission, TolerationsAreOnlyAdded) {  // CRU-8
  const Value old = whole_pod(R"({"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute"}]})");
  EXPECT_EQ(message_of(changed_pod(old, "tolerations", json(R"([{"key":"b","operator":"Exists"},{"key":"a","operator":
                "Exists","effect":"NoExecute","tolerationSeconds":3}])"))),
            "no error");
  const auto refused = changed_pod(old, "tolerations", json(R"([{"key":"b","operator":"Exists"}])"));
  EXPECT_EQ(fields_of(refused), "spec.tolerations");
  EXPECT_NE(message_of(refused).find("existing toleration can not be modified except its tolerationSeconds"),
            std::string::npos);
}

TEST(WholePodAdmission, GracePeriodsStay) {  // CRU-8
  EXPECT_EQ(fields_of(changed_pod(whole_pod("{}"), "terminationGracePeriodSeconds", 5)), "spec");
  const Value negative = whole_pod(R"({"terminationGracePeriodSeconds":-3})");
  EXPECT_EQ(message_of(changed_pod(negative, "terminationGracePeriodSeconds", 1)), "no error");
  EXPECT_EQ(fields_of(changed_pod(negative, "terminationGracePeriodSeconds", 2)), "spec");
}

TEST(WholePodAdmission, SchedulingGatesAreOnlyRemoved) {  // CRU-8
  const Value old = whole_pod(R"({"schedulingGates":[{"name":"a"},{"name":"b"}],"nodeSelector":{"x":"y"}})");
  EXPECT_EQ(message_of(changed_pod(old, "schedulingGates", json(R"([{"name":"b"}])"))), "no error");
  EXPECT_EQ(message_of(changed_pod(old, "schedulingGates", Value{})), "no error");
  const auto refused = changed_pod(old, "schedulingGates", json(R"([{"name":"a"},{"name":"b"},{"name":"c"}])"));
  EXPECT_EQ(fields_of(refused), "spec.schedulingGates[2].name");
  EXPECT_NE(message_of(refused).find("only deletion is allowed, but found new scheduling gate 'c'"), std::string::npos);
  EXPECT_EQ(message_of(changed_pod(old, "nodeSelector", json(R"({"x":"y","z":"1"})"))), "no error")
      << "a gated pod may be limited to fewer nodes";
  EXPECT_EQ(fields_of(changed_pod(old, "nodeSelector", json(R"({"z":"1"})"))), "spec");
  EXPECT_EQ(fields_of(changed_pod(whole_pod("{}"), "nodeSelector", json(R"({"z":"1"})"))), "spec");
}

TEST(WholePodAdmission, ContainersAreNeitherAddedNorRemoved) {  // CRU-8
  const Value more = json(R"([{"name":"c","image":"i:1"},{"name":"d","image":"i:1"}])");
  const auto refused = changed_pod(whole_pod("{}"), "containers", more);
  EXPECT_EQ(fields_of(refused), "spec.containers");
  EXPECT_NE(message_of(refused).find("pod updates may not add or remove containers"), std::string::npos);
}

TEST(WholePodAdmission, PodsOfAnOlderBuildWithoutNewerDefaultsCanStillBeUpdated) {  // CRU-10
  Value old = whole_pod(R"({"hostNetwork":true,"volumes":[{"name":"t","projected":{"sources":[{"serviceAccountToken":
      {"path":"t"}}]}}]})");
  Value& source = old.edit("spec").edit("volumes").edit_items()[0].edit("projected").edit("sources").edit_items()[0];
  EXPECT_EQ(source["serviceAccountToken"]["expirationSeconds"].as_int(), 3600);
  source.edit("serviceAccountToken").erase("expirationSeconds");
  old.edit("spec").edit("containers").edit_items()[0].set("ports", json(R"([{"containerPort":80,"protocol":"TCP"}])"));
  Value labelled = old;
  labelled.edit("metadata").set("labels", json(R"({"a":"b"})"));
  const auto updated = update("pods", old, labelled);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_FALSE(updated.value()["spec"]["containers"][0]["ports"][0].contains("hostPort"));
}

struct RefusedStatus {
  const char* type;
  const char* status;
  const char* fields;
  const char* message;
};

TEST(StatusAdmission, StatusesThatNoControllerReportsAreRefused) {  // CRU-9
  const char* kTemplate = R"({"metadata":{"name":"x"},"spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}})";
  const char* kController = R"({"metadata":{"name":"x"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":
      {"containers":[{"name":"c","image":"i:1"}]}}}})";
  const char* kJob = R"({"metadata":{"name":"x"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":
      [{"name":"c","image":"i:1"}]}}}})";
  const char* kPod = R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i:1"}]}})";
  for (const RefusedStatus& each : std::vector<RefusedStatus>{
           {"deployments.apps", R"({"replicas":-1})",
            "status.replicas,status.updatedReplicas,status.readyReplicas,status.availableReplicas",
            "must be greater than or equal to 0"},
           {"deployments.apps", R"({"replicas":1,"readyReplicas":2})", "status.readyReplicas",
            "Invalid value: 2: cannot be greater than status.replicas"},
           {"deployments.apps", R"({"replicas":2,"readyReplicas":1,"availableReplicas":2})", "status.availableReplicas",
            "cannot be greater than readyReplicas"},
           {"deployments.apps", R"({"collisionCount":1})", "status.collisionCount",
            "Invalid value: 1: cannot be decremented"},
           {"statefulsets.apps", R"({"replicas":1,"currentReplicas":2})", "status.currentReplicas",
            "cannot be greater than status.replicas"},
           {"daemonsets.apps", R"({"numberReady":-1})", "status.numberReady", "must be greater than or equal to 0"},
           {"replicasets.apps", R"({"replicas":1,"fullyLabeledReplicas":2})", "status.fullyLabeledReplicas",
            "cannot be greater than status.replicas"},
           {"replicationcontrollers", R"({"availableReplicas":-2})", "status.availableReplicas",
            "must be greater than or equal to 0"},
           {"jobs.batch", R"({"active":-1})", "status.active", "must be greater than or equal to 0"},
           {"jobs.batch", R"({"uncountedTerminatedPods":{"succeeded":["a"],"failed":["a"]}})",
            "status.uncountedTerminatedPods.failed[0]", R"(Duplicate value: "a")"},
           {"pods", R"({"podIPs":[{"ip":"zz"}]})", "status.podIPs[0]", "must be a valid IP address"},
           {"pods", R"({"podIPs":[{"ip":"1.2.3.4"},{"ip":"1.2.3.5"}]})", "status.podIPs",
            "may specify no more than one IP for each IP family"},
           {"pods", R"({"hostIP":"1.2.3.4","hostIPs":[{"ip":"1.2.3.5"}]})", "status.hostIPs[0].ip",
            "must be equal to `hostIP`"},
           {"pods", R"({"qosClass":"Guaranteed"})", "status.qosClass", "field is immutable"},
       }) {
    const std::string type = each.type;
    Value old = stored(each.type, json(type == "pods"                     ? kPod
                                       : type == "jobs.batch"             ? kJob
                                       : type == "replicationcontrollers" ? kController
                                                                          : kTemplate));
    if (type == "deployments.apps") old.set("status", json(R"({"collisionCount":2})"));
    Value now = old;
    const Value members = json(each.status);
    for (const auto& member : members.members()) now.edit("status").set(member.key(), member.value);
    Admission admission = admission_for(each.type, "x");
    admission.subresource = "status";
    const auto refused = admit_status_update(admission, old, now);
    EXPECT_EQ(fields_of(refused), each.fields) << each.status;
    EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
  }
}

TEST(StatusAdmission, AStatusThatWasWrongBeforeMayStay) {
  Value old = whole_pod("{}");
  old.edit("status").set("podIPs", json(R"([{"ip":"zz"}])"));
  Value now = old;
  now.edit("status").set("phase", "Running");
  now.edit("status").erase("qosClass");
  Admission admission = admission_for("pods", "p");
  admission.subresource = "status";
  const auto written = admit_status_update(admission, old, now);
  ASSERT_TRUE(written.has_value()) << message_of(written);
  EXPECT_EQ(written.value()["status"]["qosClass"].as_string(), "BestEffort") << "it is the server's";
}

}  // namespace
}  // namespace shiplog::api
