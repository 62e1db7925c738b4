#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

Value plain_job(const std::string& more = "{}") {
  Value object = json(R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":
      [{"name":"c","image":"i:1"}]}}}})");
  const Value members = json(more);
  for (const auto& member : members.members()) object.edit("spec").set(member.key(), member.value);
  return object;
}

struct RefusedJob {
  const char* part;
  const char* field;
  const char* message;
};

TEST(JobAdmission, PoliciesThatNoControllerCanFollowAreRefused) {  // CRU-9
  for (const RefusedJob& each : std::vector<RefusedJob>{
           {R"({"podFailurePolicy":{"rules":[{"action":"Foo","onPodConditions":[{"type":"A","status":"True"}]}]}})",
            "spec.podFailurePolicy.rules[0].action",
            R"(Unsupported value: "Foo": supported values: "Count", "FailIndex", "FailJob", "Ignore")"},
           {R"({"podFailurePolicy":{"rules":[{"action":"FailIndex","onPodConditions":[{"type":"A","status":
               "True"}]}]}})",
            "spec.podFailurePolicy.rules[0].action", "requires the backoffLimitPerIndex to be set"},
           {R"({"podFailurePolicy":{"rules":[{"action":"Count"}]}})", "spec.podFailurePolicy.rules[0]",
            "Invalid value: specifying one of OnExitCodes and OnPodConditions is required"},
           {R"({"podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[0]}}]}})",
            "spec.podFailurePolicy.rules[0].onExitCodes.values[0]",
            "Invalid value: 0: must not be 0 for the In operator"},
           {R"({"podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[2,1]}}]}})",
            "spec.podFailurePolicy.rules[0].onExitCodes.values", "Invalid value: [2,1]: must be ordered"},
           {R"({"podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[1],
               "containerName":"x"}}]}})",
            "spec.podFailurePolicy.rules[0].onExitCodes.containerName",
            "must be one of the container or initContainer names in the pod template"},
           {R"({"podFailurePolicy":{"rules":[{"action":"Count","onPodConditions":[{"type":"A","status":"Foo"}]}]}})",
            "spec.podFailurePolicy.rules[0].onPodConditions[0].status",
            R"(Unsupported value: "Foo": supported values: "False", "True", "Unknown")"},
           {R"({"managedBy":"foo"})", "spec.managedBy",
            R"(Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo"))"},
           {R"({"successPolicy":{"rules":[{"succeededCount":1}]}})", "spec.successPolicy",
            "requires indexed completion mode"},
           {R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[]}})", "spec.successPolicy.rules",
            "at least one rules must be specified when the successPolicy is specified"},
           {R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"1,0"}]}})",
            "spec.successPolicy.rules[0].succeededIndexes",
            "error parsing succeededIndexes: non-increasing order, previous: 1, current: 0"},
           {R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-5"}]}})",
            "spec.successPolicy.rules[0].succeededIndexes", R"(too large index: "5")"},
           {R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"2-1"}]}})",
            "spec.successPolicy.rules[0].succeededIndexes", "non-increasing order, previous: 2, current: 1"},
           {R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-1-2"}]}})",
            "spec.successPolicy.rules[0].succeededIndexes", "an index interval can have at most two parts"},
           {R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0,a"}]}})",
            "spec.successPolicy.rules[0].succeededIndexes", R"(cannot convert string to integer for index: "a")"},
           {R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-1",
               "succeededCount":3}]}})",
            "spec.successPolicy.rules[0].succeededCount",
            "must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)"},
           {R"({"template":{"spec":{"containers":[{"name":"c","image":"i:1"}]}}})", "spec.template.spec.restartPolicy",
            R"(Required value: valid values: "OnFailure", "Never")"},
       }) {
    const auto refused = create("jobs.batch", plain_job(each.part));
    EXPECT_EQ(fields_of(refused), each.field) << each.part;
    EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
  }
  for (const char* accepted :
       {R"({"podFailurePolicy":{"rules":[]}})", R"({"managedBy":"a.io/b"})",
        R"({"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"NotIn","values":[0,1]}}]}})",
        R"({"completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0,1-2",
            "succeededCount":3}]}})"}) {
    EXPECT_EQ(message_of(create("jobs.batch", plain_job(accepted))), "no error") << accepted;
  }
}

TEST(JobAdmission, ManagersAndPoliciesStay) {  // CRU-8
  const Value old = stored("jobs.batch", plain_job(R"({"managedBy":"a.io/b","podFailurePolicy":{"rules":[]}})"));
  Value now = old;
  now.edit("spec").set("managedBy", "a.io/c");
  EXPECT_EQ(fields_of(update("jobs.batch", old, now)), "spec.managedBy");
  now = old;
  now.edit("spec").set("podFailurePolicy", json(R"({"rules":[{"action":"Ignore","onPodConditions":[{"type":"A",
      "status":"True"}]}]})"));
  EXPECT_EQ(fields_of(update("jobs.batch", old, now)), "spec.podFailurePolicy");
}

TEST(JobAdmission, TheJobInACronJobGetsTheDefaultsOfItsPodOnly) {  // CRU-10
  Value object = json(R"({"metadata":{"name":"c"},"spec":{"schedule":"@daily"}})");
  object.edit("spec").edit("jobTemplate").set("spec", plain_job()["spec"]);
  const Value cron = stored("cronjobs.batch", object)["spec"]["jobTemplate"]["spec"];
  EXPECT_EQ(cron.size(), 1U) << to_json(cron);
  EXPECT_EQ(cron["template"]["spec"]["dnsPolicy"].as_string(), "ClusterFirst");
  const Value made = stored("jobs.batch", plain_job())["spec"];
  EXPECT_EQ(made["backoffLimit"].as_int(), 6);
  EXPECT_EQ(made["completionMode"].as_string(), "NonIndexed");
  EXPECT_TRUE(made["suspend"].is_bool());
}

TEST(JobAdmission, APatternOfAConditionStandsForOneThatHolds) {  // CRU-10
  const Value job =
      stored("jobs.batch",
             plain_job(R"({"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A"}]}]}})"));
  EXPECT_EQ(job["spec"]["podFailurePolicy"]["rules"][0]["onPodConditions"][0]["status"].as_string(), "True");
}

TEST(JobAdmission, LongNamesOfCronJobsAreRefusedOnlyAtFirst) {
  Value object = json(R"({"metadata":{"name":"c"},"spec":{"schedule":"@daily"}})");
  object.edit("spec").edit("jobTemplate").set("spec", plain_job()["spec"]);
  object.edit("metadata").set("name", std::string(53, 'a'));
  EXPECT_EQ(fields_of(create("cronjobs.batch", object)), "metadata.name");
  EXPECT_EQ(message_of(update("cronjobs.batch", object, object)), "no error");
}

TEST(JobAdmission, WhereASuspendedJobRunsMayChange) {  // CRU-9
  const auto change = [](const Value& old, const char* where, const char* value) {
    Value object = old;
    Value& pod = object.edit("spec").edit("template").edit("spec");
    if (std::string_view{where} == "image" || std::string_view{where} == "resources") {
      pod.edit("containers").edit_items()[0].set(where, json(value));
    } else {
      pod.set(where, json(value));
    }
    return fields_of(update("jobs.batch", old, object));
  };
  const Value suspended = stored("jobs.batch", plain_job(R"({"suspend":true})"));
  constexpr const char* kSelector = R"({"a":"b"})";
  EXPECT_EQ(change(suspended, "nodeSelector", kSelector), "no error");
  EXPECT_EQ(change(suspended, "affinity", R"({"nodeAffinity":{}})"), "no error");
  EXPECT_EQ(change(suspended, "affinity", R"({"podAffinity":{}})"), "spec.template.spec");
  EXPECT_EQ(change(suspended, "tolerations", R"([{"operator":"Exists"}])"), "no error");
  EXPECT_EQ(change(suspended, "resources", R"({"requests":{"cpu":"2"}})"), "no error");
  EXPECT_EQ(change(suspended, "image", R"("i:2")"), "spec.template.spec");
  Value labelled = suspended;
  labelled.edit("spec").edit("template").edit("metadata").set("annotations", json(kSelector));
  EXPECT_EQ(fields_of(update("jobs.batch", suspended, labelled)), "no error");
  EXPECT_EQ(change(stored("jobs.batch", plain_job()), "nodeSelector", kSelector), "spec.template");
}

}  // namespace
}  // namespace shiplog::api
