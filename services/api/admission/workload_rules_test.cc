#include "services/api/admission/job_selector.h"
#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

Value deployment() {
  return json(R"({"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":
      {"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"nginx:1.27","ports":[{"containerPort":80}]}]}}}})");
}

Value job(std::string_view restart) {
  return json(R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":")" + std::string{restart} +
              R"(","containers":[{"name":"c","image":"i"}]}}}})");
}

TEST(WorkloadAdmission, DeploymentsGetTheirDefaults) {  // CRU-10
  const auto created = create("deployments.apps", deployment());
  ASSERT_TRUE(created.has_value()) << message_of(created);
  const Value& spec = created.value()["spec"];
  EXPECT_EQ(spec["replicas"].as_int(), 1);
  EXPECT_EQ(to_json(spec["strategy"]),
            R"({"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"})");
  EXPECT_EQ(spec["revisionHistoryLimit"].as_int(), 10);
  EXPECT_EQ(spec["progressDeadlineSeconds"].as_int(), 600);
  const Value& pod = spec["template"]["spec"];
  EXPECT_EQ(to_json(pod),
            R"({"containers":[{"image":"nginx:1.27","imagePullPolicy":"IfNotPresent","name":"c","ports":[)"
            R"({"containerPort":80,"protocol":"TCP"}],"resources":{},"terminationMessagePath":"/dev/termination-log",)"
            R"("terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always",)"
            R"("schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30})");
  EXPECT_EQ(created.value()["metadata"]["generation"].as_int(), 1);
}

TEST(WorkloadAdmission, CopiesOfViewsAreNotStored) {
  Value set = deployment();
  ASSERT_TRUE(create("replicasets.apps", set).has_value());
  set.edit("metadata").edit("labels").set("shiplog.io/view", "true");
  EXPECT_TRUE(message_of(create("replicasets.apps", set)).find("a copy of a read-only view") != std::string::npos);
  const Value revision =
      json(R"({"metadata":{"name":"a","labels":{"shiplog.io/view":"true"}},"data":{},"revision":1})");
  EXPECT_TRUE(message_of(create("controllerrevisions.apps", revision)).find("a copy of a read-only view") !=
              std::string::npos);
}

TEST(WorkloadAdmission, RecreateGetsNoRollingUpdate) {
  Value object = deployment();
  object.edit("spec").set("strategy", json(R"({"type":"Recreate"})"));
  EXPECT_EQ(to_json(create("deployments.apps", object).value()["spec"]["strategy"]), R"({"type":"Recreate"})");
  object.edit("spec").set("strategy", json(R"({"rollingUpdate":{"maxSurge":1}})"));
  EXPECT_EQ(to_json(create("deployments.apps", object).value()["spec"]["strategy"]),
            R"({"rollingUpdate":{"maxSurge":1,"maxUnavailable":"25%"},"type":"RollingUpdate"})");
}

TEST(WorkloadAdmission, ImagePullPolicyFollowsTheTag) {  // CRU-10
  for (const auto& [image, policy] :
       std::vector<std::pair<std::string, std::string>>{{"nginx", "Always"},
                                                        {"nginx:latest", "Always"},
                                                        {"nginx:1", "IfNotPresent"},
                                                        {"reg:5000/nginx", "Always"},
                                                        {"reg:5000/nginx:1", "IfNotPresent"},
                                                        {"nginx@sha256:0123", "IfNotPresent"}}) {
    Value object = deployment();
    Value& pod = object.edit("spec").edit("template").edit("spec");
    pod.edit("containers").edit_items()[0].set("image", image);
    const auto created = create("deployments.apps", object);
    ASSERT_TRUE(created.has_value());
    EXPECT_EQ(created.value()["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"].str(), policy) << image;
  }
}

TEST(WorkloadAdmission, AllThatIsWrongIsReportedAtOnce) {  // CRU-9
  const auto refused = create("deployments.apps", json(R"({"metadata":{"name":"web"},"spec":{"replicas":-1,"selector":
      {"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"other"}},"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","ports":[{"containerPort":70000}]},{"name":"c","image":"i","volumeMounts":[
      {"name":"v","mountPath":"/x"}]}]}}}})"));
  EXPECT_EQ(fields_of(refused),
            "spec.replicas,spec.template.metadata.labels,spec.template.spec.containers[0].image,"
            "spec.template.spec.containers[0].ports[0].containerPort,spec.template.spec.containers[1].name,"
            "spec.template.spec.containers[1].volumeMounts[0].name,spec.template.spec.restartPolicy");
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_NE(
      refused.error().message.find("Deployment.apps \"web\" is invalid: [spec.replicas: Invalid value: -1: must be "
                                   "greater than or equal to 0, "),
      std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("`selector` does not match template `labels`"), std::string::npos);
}

TEST(WorkloadAdmission, SelectorIsRequiredAndMustSelectSomething) {  // CRU-9
  EXPECT_EQ(fields_of(create("deployments.apps", json(R"({"metadata":{"name":"web"}})"))),
            "spec.selector,spec.template.metadata.labels,spec.template.spec.containers");
  Value object = deployment();
  object.edit("spec").erase("selector");
  EXPECT_EQ(fields_of(create("deployments.apps", object)), "spec.selector,spec.template.metadata.labels");
  object.edit("spec").set("selector", json("{}"));
  EXPECT_NE(message_of(create("deployments.apps", object)).find("empty selector is invalid for deployment"),
            std::string::npos);
  object.edit("spec").set("selector", json(R"({"matchExpressions":[{"key":"app","operator":"Near"}]})"));
  EXPECT_EQ(fields_of(create("deployments.apps", object)), "spec.selector.matchExpressions[0].operator");
}

TEST(WorkloadAdmission, SelectorIsImmutable) {  // CRU-8
  for (const char* type : {"deployments.apps", "replicasets.apps", "daemonsets.apps"}) {
    const Value old = stored(type, deployment());
    Value object = old;
    object.edit("spec").edit("selector").edit("matchLabels").set("app", "db");
    object.edit("spec").edit("template").edit("metadata").edit("labels").set("app", "db");
    const auto refused = update(type, old, object);
    EXPECT_EQ(fields_of(refused), "spec.selector") << type;
    EXPECT_NE(message_of(refused).find("field is immutable"), std::string::npos);
  }
}

TEST(WorkloadAdmission, RollingUpdateCannotStandStill) {
  Value object = deployment();
  object.edit("spec").set("strategy", json(R"({"rollingUpdate":{"maxSurge":0,"maxUnavailable":"0%"}})"));
  EXPECT_EQ(fields_of(create("deployments.apps", object)), "spec.strategy.rollingUpdate.maxUnavailable");
  object.edit("spec").set("strategy", json(R"({"rollingUpdate":{"maxSurge":"x"}})"));
  EXPECT_EQ(fields_of(create("deployments.apps", object)), "spec.strategy.rollingUpdate.maxSurge");
}

struct RefusedWorkload {
  const char* type;
  const char* part;
  const char* field;
  const char* message;
};

TEST(WorkloadAdmission, UpdatesThatNoControllerCanDoAreRefused) {  // CRU-9
  for (const RefusedWorkload& each : std::vector<RefusedWorkload>{
           {"deployments.apps", R"({"strategy":{"rollingUpdate":{"maxUnavailable":"200%"}}})",
            "spec.strategy.rollingUpdate.maxUnavailable", R"(Invalid value: "200%": must not be greater than 100%)"},
           {"daemonsets.apps", R"({"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}}})",
            "spec.updateStrategy.rollingUpdate.maxUnavailable", "Required value: cannot be 0 when maxSurge is 0"},
           {"daemonsets.apps", R"({"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":1}}})",
            "spec.updateStrategy.rollingUpdate.maxSurge",
            "Invalid value: 1: may not be set when maxUnavailable is non-zero"},
           {"statefulsets.apps", R"({"ordinals":{"start":-1}})", "spec.ordinals.start",
            "must be greater than or equal to 0"},
           {"statefulsets.apps", R"({"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Foo"}})",
            "spec.persistentVolumeClaimRetentionPolicy.whenDeleted",
            R"(Unsupported value: "Foo": supported values: "Retain", "Delete")"},
       }) {
    Value object = deployment();
    const Value members = json(each.part);
    for (const auto& member : members.members()) object.edit("spec").set(member.key(), member.value);
    const auto refused = create(each.type, object);
    EXPECT_EQ(fields_of(refused), each.field) << each.part;
    EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
  }
  for (const char* type : {"deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps"}) {
    Value object = deployment();
    object.edit("spec").edit("template").edit("spec").set("activeDeadlineSeconds", 5);
    EXPECT_EQ(fields_of(create(type, object)), "spec.template.spec.activeDeadlineSeconds") << type;
  }
}

TEST(WorkloadAdmission, TemplatesHaveTheMetadataOfPods) {  // CRU-9
  Value object = deployment();
  Value& pod = object.edit("spec").edit("template");
  pod.edit("metadata").set("annotations", json(R"({"a b":"c"})"));
  EXPECT_EQ(fields_of(create("deployments.apps", object)), "spec.template.annotations");
  pod.edit("metadata").set("annotations", json(R"({"controller.kubernetes.io/pod-deletion-cost":"x"})"));
  EXPECT_EQ(fields_of(create("deployments.apps", object)),
            "spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]");
  pod.edit("metadata").set("annotations", json(R"({"container.apparmor.security.beta.kubernetes.io/x":"y"})"));
  const auto refused = create("deployments.apps", object);
  EXPECT_NE(message_of(refused).find("Invalid value: \"x\": container not found"), std::string::npos);
  EXPECT_NE(message_of(refused).find("invalid AppArmor profile name: \"y\""), std::string::npos);
  pod.edit("metadata").erase("annotations");
  pod.edit("spec").set("ephemeralContainers", json(R"([{"name":"e","image":"i:1"}])"));
  EXPECT_EQ(fields_of(create("deployments.apps", object)), "spec.template.spec.ephemeralContainers");
}

TEST(WorkloadAdmission, MissingFieldsAreReportedAsUpstreamDoes) {  // ERR-5
  const auto causes_of = [](const char* type, const char* object) {
    std::string all;
    const auto refused = create(type, json(object));
    EXPECT_FALSE(refused.has_value());
    for (const FieldCause& cause : refused.error().causes) all += cause.field + ": " + cause.message + "\n";
    return all;
  };
  EXPECT_EQ(causes_of("deployments.apps", R"({"metadata":{"name":"x"}})"),
            "spec.selector: Required value\n"
            "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`\n"
            "spec.template.spec.containers: Required value\n");
  EXPECT_EQ(causes_of("horizontalpodautoscalers.autoscaling", R"({"metadata":{"name":"x"}})"),
            "spec.scaleTargetRef.kind: Required value\n"
            "spec.scaleTargetRef.name: Required value\n"
            "spec.maxReplicas: Required value: must be set and greater than 0\n"
            "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`\n"
            "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group\n");
  const std::string binding = causes_of("rolebindings.rbac.authorization.k8s.io", R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(binding.find("roleRef: Required value"), std::string::npos) << binding;
  EXPECT_NE(binding.find("roleRef.kind: Unsupported value: \"\""), std::string::npos) << binding;
  EXPECT_EQ(causes_of("ingresses.networking.k8s.io", R"({"metadata":{"name":"x"},"spec":{"rules":[{"http":{"paths":[
                {"path":"/","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}})"),
            "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified\n");
}

TEST(WorkloadAdmission, RevisionsHaveDataThatStays) {  // CRU-8, CRU-9
  EXPECT_EQ(fields_of(create("controllerrevisions.apps", json(R"({"metadata":{"name":"a"},"revision":-1})"))),
            "data,revision");
  const Value old =
      stored("controllerrevisions.apps", json(R"({"metadata":{"name":"a"},"data":{"a":1},"revision":1})"));
  Value now = old;
  now.set("data", json(R"({"a":2})"));
  EXPECT_EQ(fields_of(update("controllerrevisions.apps", old, now)), "data");
}

TEST(WorkloadAdmission, StatefulSetsAndDaemonSets) {  // CRU-8, CRU-10
  Value object = deployment();
  object.edit("spec").set("serviceName", "web");
  const Value set = stored("statefulsets.apps", object);
  EXPECT_EQ(to_json(set["spec"]["updateStrategy"]), R"({"rollingUpdate":{"partition":0},"type":"RollingUpdate"})");
  EXPECT_EQ(set["spec"]["podManagementPolicy"].as_string(), "OrderedReady");
  Value scaled = set;
  scaled.edit("spec").set("replicas", 3);
  EXPECT_TRUE(update("statefulsets.apps", set, scaled).has_value());
  Value renamed = set;
  renamed.edit("spec").set("serviceName", "other");
  EXPECT_EQ(fields_of(update("statefulsets.apps", set, renamed)), "spec");

  Value mounting = object;
  mounting.edit("spec")
      .edit("template")
      .edit("spec")
      .edit("containers")
      .edit_items()[0]
      .set("volumeMounts", json(R"([{"name":"data","mountPath":"/data"}])"));
  EXPECT_EQ(fields_of(create("statefulsets.apps", mounting)), "spec.template.spec.containers[0].volumeMounts[0].name");
  mounting.edit("spec").set("volumeClaimTemplates", json(R"([{"metadata":{"name":"data"},"spec":{"accessModes":
      ["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}])"));
  EXPECT_TRUE(create("statefulsets.apps", mounting).has_value()) << "claims are volumes of its pods";

  const Value daemon = stored("daemonsets.apps", deployment());
  EXPECT_EQ(to_json(daemon["spec"]["updateStrategy"]),
            R"({"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"})");
}

TEST(WorkloadAdmission, StatefulSetsThatNoControllerCanRunAreRefused) {  // CRU-9
  const auto set = [](const char* of_spec) {
    Value object = deployment();
    const Value members = json(of_spec);
    for (const auto& member : members.members()) object.edit("spec").set(member.key(), member.value);
    return object;
  };
  const auto fields = [&](const char* of_spec) { return fields_of(create("statefulsets.apps", set(of_spec))); };
  EXPECT_EQ(fields(R"({"serviceName":"A_b"})"), "spec.serviceName");
  EXPECT_EQ(fields(R"({"serviceName":""})"), "no error");
  EXPECT_EQ(fields(R"({"volumeClaimTemplates":[{"metadata":{"name":"a"},"spec":{"accessModes":["Foo"]}}]})"),
            "spec.volumeClaimTemplates[0].spec.resources[storage],spec.volumeClaimTemplates[0].spec.accessModes");
  EXPECT_EQ(fields(R"({"revisionHistoryLimit":-1})"), "no error") << "a warning";
  EXPECT_EQ(fields(R"({"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":0}}})"),
            "spec.updateStrategy.rollingUpdate.maxUnavailable");
  EXPECT_EQ(fields(R"({"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"101%"}}})"),
            "spec.updateStrategy.rollingUpdate.maxUnavailable");
  Value named = deployment();
  named.edit("spec").edit("template").edit("spec").set("hostname", "A_b");
  EXPECT_EQ(fields_of(create("statefulsets.apps", named)), "no error") << "its controller names the pods";
  EXPECT_EQ(fields_of(create("deployments.apps", named)), "spec.template.spec.hostname");
  Value old = stored("statefulsets.apps", set(R"({"serviceName":"web"})"));
  old.edit("spec").set("serviceName", "A_b");
  Value scaled = old;
  scaled.edit("spec").set("replicas", 3);
  EXPECT_EQ(message_of(update("statefulsets.apps", old, scaled)), "no error") << "an older build stored it";
}

TEST(WorkloadAdmission, JobsRunToCompletion) {  // CRU-8, CRU-10
  const Value made = stored("jobs.batch", job("Never"));
  EXPECT_EQ(made["spec"]["completions"].as_int(), 1);
  EXPECT_EQ(made["spec"]["parallelism"].as_int(), 1);
  EXPECT_EQ(made["spec"]["backoffLimit"].as_int(), 6);
  EXPECT_EQ(made["spec"]["podReplacementPolicy"].as_string(), "TerminatingOrFailed");
  EXPECT_EQ(fields_of(create("jobs.batch", job("Always"))), "spec.template.spec.restartPolicy");
  Value changed = made;
  changed.edit("spec").edit("template").edit("spec").edit("containers").edit_items()[0].set("image", "other");
  EXPECT_EQ(fields_of(update("jobs.batch", made, changed)), "spec.template");
  changed = made;
  changed.edit("spec").set("parallelism", 4);
  EXPECT_TRUE(update("jobs.batch", made, changed).has_value());
}

TEST(WorkloadAdmission, CronJobsHaveASchedule) {
  const auto cron = [](const char* schedule) {
    Value object = Value::object({{"metadata", Value::object({{"name", "c"}})}});
    object.edit("spec").set("schedule", schedule);
    object.edit("spec").edit("jobTemplate").set("spec", job("OnFailure")["spec"]);
    return create("cronjobs.batch", object);
  };
  const auto made = cron("*/5 * * * MON-FRI");
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["concurrencyPolicy"].as_string(), "Allow");
  EXPECT_EQ(made.value()["spec"]["successfulJobsHistoryLimit"].as_int(), 3);
  EXPECT_TRUE(cron("@daily").has_value());
  for (const char* bad : {"", "* * * *", "* * * * * *", "a;b * * * *", "@never"}) {
    EXPECT_EQ(fields_of(cron(bad)), "spec.schedule") << bad;
  }
}

Value cron_job(const Value& of_spec, const Value& of_job) {
  Value object = json(R"({"metadata":{"name":"c"},"spec":{"schedule":"@daily"}})");
  for (const auto& member : of_spec.members()) object.edit("spec").set(member.key(), member.value);
  Value& spec = object.edit("spec").edit("jobTemplate").edit("spec");
  spec = job("OnFailure")["spec"];
  for (const auto& member : of_job.members()) spec.set(member.key(), member.value);
  return object;
}

TEST(WorkloadAdmission, SchedulesThatNeverFireAreRefused) {
  for (const auto& [schedule, problem] : std::vector<std::pair<const char*, const char*>>{
           {"61 * * * *", "end of range (61) above maximum (59): 61"},
           {"*/0 * * * *", "step of range should be a positive number: */0"},
           {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
           {"* * * * 7", "end of range (7) above maximum (6): 7"},
           {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
           {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
           {"1/2/3 * * * *", "too many slashes: 1/2/3"},
           {"x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
           {"*/-1 * * * *", "negative number (-1) not allowed: -1"},
           {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
           {"@fortnightly", "unrecognized descriptor: @fortnightly"},
           {"@every soon", "failed to parse duration @every soon"},
           {"TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"},
       }) {
    const auto refused = create("cronjobs.batch", cron_job(Value::object({{"schedule", schedule}}), Value::object()));
    EXPECT_EQ(fields_of(refused), "spec.schedule") << schedule;
    EXPECT_NE(message_of(refused).find(problem), std::string::npos) << message_of(refused);
  }
  for (const char* schedule :
       {"0,30 */2 1-15 JAN-mar Mon", "5/10 ? ? * *", " 1,,2\t0 1 1 0 ", "+5 * * * *", "@every 1h30.5m", "@every -0"}) {
    EXPECT_EQ(message_of(create("cronjobs.batch", cron_job(Value::object({{"schedule", schedule}}), Value::object()))),
              "no error")
        << schedule;
  }
}

TEST(WorkloadAdmission, TimeZonesOfCronJobsExist) {
  const auto in_zone = [](const char* zone) {
    return create("cronjobs.batch", cron_job(Value::object({{"timeZone", zone}}), Value::object()));
  };
  for (const char* zone : {"Mars/X", "Europe/../x", "a b", "Local", "", "/UTC"}) {
    EXPECT_EQ(fields_of(in_zone(zone)), "spec.timeZone") << zone;
  }
  EXPECT_NE(message_of(in_zone("Mars/X")).find("Invalid value: \"Mars/X\": unknown time zone Mars/X"),
            std::string::npos);
  for (const char* zone : {"UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+1", "EST5EDT"}) {
    EXPECT_EQ(message_of(in_zone(zone)), "no error") << zone;
  }
}

TEST(WorkloadAdmission, SelectorsOfJobsAreGenerated) {
  const auto with = [](const char* more) {
    Value object = job("Never");
    object.edit("spec").edit("template").set("metadata", json(R"({"labels":{"app":"a"}})"));
    const Value changes = json(more);
    for (const auto& member : changes.members()) object.edit("spec").set(member.key(), member.value);
    return create("jobs.batch", object);
  };
  EXPECT_NE(message_of(with(R"({"selector":{"matchLabels":{"app":"a"}}})"))
                .find("spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"a\"}}: `selector` not auto-generated"),
            std::string::npos);
  EXPECT_EQ(fields_of(with(R"({"manualSelector":true})")), "spec.selector");
  EXPECT_EQ(fields_of(with(R"({"manualSelector":true,"selector":{"matchLabels":{"app":"b"}}})")),
            "spec.template.metadata.labels");
  EXPECT_EQ(message_of(with(R"({"manualSelector":true,"selector":{"matchLabels":{"app":"a"}}})")), "no error");
  EXPECT_EQ(message_of(with(R"({"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}}})")), "no error")
      << "a copy of a job of a cluster";
  EXPECT_EQ(fields_of(create("cronjobs.batch", cron_job(Value::object(), json(R"({"manualSelector":true,"selector":
                {"matchLabels":{"app":"a"}}})")))),
            "spec.jobTemplate.spec.selector,spec.jobTemplate.spec.manualSelector");
}

TEST(WorkloadAdmission, NamesOfJobsAreLabels) {
  Value named = job("Never");
  named.edit("metadata").set("name", std::string(64, 'a'));
  EXPECT_EQ(fields_of(create("jobs.batch", named)), "spec.template.labels");
  named.edit("metadata").set("name", std::string(63, 'a'));
  EXPECT_EQ(message_of(create("jobs.batch", named)), "no error");
}

TEST(WorkloadAdmission, SelectorsAndLabelsOfJobsCarryTheirUid_CRU_10) {
  const auto generated = [](const char* spec) {
    Value job = Value::object({{"metadata", json(R"({"name":"sum","uid":"u"})")}, {"spec", json(spec)}});
    generate_job_selector(job);
    return job["spec"];
  };
  EXPECT_EQ(generated(R"({"template":{"metadata":{"labels":{"app":"a"}}}})"),
            json(R"({"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}},
                "template":{"metadata":{"labels":{"app":"a","batch.kubernetes.io/controller-uid":"u",
                "batch.kubernetes.io/job-name":"sum","controller-uid":"u","job-name":"sum"}}}})"));
  const Value copied = json(R"({"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"v"}},
      "template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"v",
      "batch.kubernetes.io/job-name":"sum","controller-uid":"v","job-name":"sum"}}}})");
  EXPECT_EQ(generated(to_json(copied).c_str()), copied) << "a copy of a job of a cluster";
  const Value manual = json(R"({"manualSelector":true,"selector":{"matchLabels":{"app":"a"}},
      "template":{"metadata":{"labels":{"app":"a"}}}})");
  EXPECT_EQ(generated(to_json(manual).c_str()), manual);
}

TEST(WorkloadAdmission, IndexedJobsCountTheirCompletions) {
  const auto with = [](const char* more) { return create("cronjobs.batch", cron_job(Value::object(), json(more))); };
  EXPECT_EQ(fields_of(with(R"({"completionMode":"Indexed"})")), "spec.jobTemplate.spec.completions");
  EXPECT_EQ(fields_of(with(R"({"backoffLimitPerIndex":1})")), "spec.jobTemplate.spec.backoffLimitPerIndex");
  EXPECT_EQ(fields_of(with(R"({"completionMode":"Indexed","completions":2,"maxFailedIndexes":1})")),
            "spec.jobTemplate.spec.backoffLimitPerIndex");
  EXPECT_EQ(fields_of(with(R"({"podReplacementPolicy":"X"})")), "spec.jobTemplate.spec.podReplacementPolicy");
  EXPECT_EQ(fields_of(with(R"({"podFailurePolicy":{"rules":[]}})")),
            "spec.jobTemplate.spec.template.spec.restartPolicy");
  EXPECT_EQ(message_of(with(R"({"completionMode":"Indexed","completions":2,"backoffLimitPerIndex":1,
                "maxFailedIndexes":1})")),
            "no error");
}

TEST(WorkloadAdmission, CronJobsOfAnOlderBuildCanStillBeUpdated) {
  Value old = stored("cronjobs.batch", cron_job(Value::object(), Value::object()));
  Value& spec = old.edit("spec");
  spec.set("schedule", "61 * * * *");
  spec.set("timeZone", "Mars/X");
  spec.edit("jobTemplate").edit("spec").set("backoffLimitPerIndex", 1);
  spec.edit("jobTemplate").edit("spec").set("manualSelector", true);
  Value suspended = old;
  suspended.edit("spec").set("suspend", true);
  EXPECT_EQ(message_of(update("cronjobs.batch", old, suspended)), "no error");
  suspended.edit("spec").set("schedule", "62 * * * *");
  EXPECT_EQ(fields_of(update("cronjobs.batch", old, suspended)), "spec.schedule");
}

TEST(WorkloadAdmission, PodsKeepTheirSpec) {  // CRU-8, CRU-10
  const Value pod = stored("pods", json(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1",
      "resources":{"limits":{"cpu":"1"}}}],"volumes":[{"name":"v"}],"serviceAccountName":"sa"}})"));
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].as_string(), "1");
  EXPECT_EQ(to_json(pod["spec"]["volumes"]), R"([{"emptyDir":{},"name":"v"}])");
  EXPECT_TRUE(pod["spec"]["enableServiceLinks"].as_bool());
  EXPECT_EQ(pod["spec"]["serviceAccount"].as_string(), "sa");
  Value newer = pod;
  newer.edit("spec").edit("containers").edit_items()[0].set("image", "i:2");
  EXPECT_TRUE(update("pods", pod, newer).has_value());
  newer.edit("spec").set("hostNetwork", true);
  EXPECT_EQ(fields_of(update("pods", pod, newer)), "spec");
}

TEST(WorkloadAdmission, QuantitiesAreReadAndCompared) {  // CRU-9
  const auto with = [](const char* resources) {
    Value object = deployment();
    object.edit("spec")
        .edit("template")
        .edit("spec")
        .edit("containers")
        .edit_items()[0]
        .set("resources", json(resources));
    return create("deployments.apps", object);
  };
  EXPECT_TRUE(with(R"({"requests":{"cpu":"100m"},"limits":{"cpu":1}})").has_value());
  EXPECT_EQ(with(R"({"requests":{"cpu":"much"}})").error().code, ErrorCode::kBadRequest);
  EXPECT_EQ(fields_of(with(R"({"requests":{"cpu":"2"},"limits":{"cpu":"1"}})")),
            "spec.template.spec.containers[0].resources.requests");
  EXPECT_EQ(fields_of(with(R"({"limits":{"memory":"-1Gi"}})")),
            "spec.template.spec.containers[0].resources.limits[memory]");
}

}  // namespace
}  // namespace shiplog::api
