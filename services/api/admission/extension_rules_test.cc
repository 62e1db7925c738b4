#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

Value extension(const char* name, std::string_view spec) {
  return Value::object({{"metadata", Value::object({{"name", name}})}, {"spec", json(spec)}});
}

TEST(ExtensionAdmission, AutoscalersGetTheirDefaults) {  // KIND-11
  const char* type = "federatedhpas.autoscaling.karmada.io";
  const auto made = create(type, extension("a", R"({"scaleTargetRef":{"kind":"Deployment","name":"web"},"maxReplicas":3,
      "behavior":{}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  const Value& spec = made.value()["spec"];
  EXPECT_EQ(spec["minReplicas"].as_int(), 1);
  EXPECT_EQ(to_json(spec["metrics"]), R"([{"resource":{"name":"cpu","target":{"averageUtilization":80,)"
                                      R"("type":"Utilization"}},"type":"Resource"}])");
  EXPECT_EQ(spec["behavior"]["scaleUp"]["policies"].size(), 2U);
  EXPECT_EQ(
      fields_of(create(type, extension("a", R"({"scaleTargetRef":{"kind":"Deployment","name":"web"},"minReplicas":5,
      "maxReplicas":3,"metrics":[{"type":"External"},{"type":"Pods"}]})"))),
      "spec.maxReplicas,spec.metrics[0].type,spec.metrics[1].pods");
}

TEST(ExtensionAdmission, WholeNumbersInAutoscalersAreQuantities) {  // KIND-11
  for (const char* type : {"federatedhpas.autoscaling.karmada.io", "horizontalpodautoscalers.autoscaling"}) {
    const auto with = [&](const std::string& target, const std::string& tolerance) {
      return create(type, extension("a", R"({"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},
          "maxReplicas":3,"behavior":{"scaleUp":{"tolerance":)" +
                                             tolerance + R"(}},"metrics":[
          {"type":"Pods","pods":{"metric":{"name":"queue"},"target":)" +
                                             target + R"(}},
          {"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"web"},
             "metric":{"name":"hits"},"target":{"type":"Value","value":2000}}}]})"));
    };
    const auto made = with(R"({"type":"AverageValue","averageValue":30})", "0");
    ASSERT_TRUE(made.has_value()) << message_of(made);
    const Value& spec = made.value()["spec"];
    EXPECT_EQ(spec["metrics"][0]["pods"]["target"]["averageValue"], Value{"30"}) << type;
    EXPECT_EQ(spec["metrics"][1]["object"]["target"]["value"], Value{"2k"}) << type;
    EXPECT_EQ(spec["behavior"]["scaleUp"]["tolerance"], Value{"0"}) << type;
    for (const char* amount : {"0", "-5", R"("0")"}) {
      EXPECT_EQ(fields_of(with(R"({"type":"AverageValue","averageValue":)" + std::string{amount} + "}", "\"100m\"")),
                "spec.metrics[0].pods.target.averageValue")
          << type << " " << amount;
    }
  }
}

TEST(ExtensionAdmission, FederatedHpasHaveFewMetrics) {  // KIND-11
  const auto with = [](const char* type, int count) {
    std::string metrics;
    for (int i = 0; i < count; ++i) {
      metrics += std::string{i == 0 ? "" : ","} + R"({"type":"Resource","resource":{"name":"cpu",
          "target":{"type":"Utilization","averageUtilization":80}}})";
    }
    return fields_of(create(type, extension("a", R"({"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment",
        "name":"web"},"maxReplicas":3,"metrics":[)" + metrics +
                                                     "]}")));
  };
  EXPECT_EQ(with("federatedhpas.autoscaling.karmada.io", 16), "no error");
  EXPECT_EQ(with("federatedhpas.autoscaling.karmada.io", 17), "spec.metrics") << "each costs time for each pod";
  EXPECT_EQ(with("horizontalpodautoscalers.autoscaling", 17), "no error");
}

TEST(ExtensionAdmission, CronAutoscalers) {  // KIND-12
  const char* type = "cronfederatedhpas.autoscaling.karmada.io";
  EXPECT_EQ(fields_of(create(type, extension("c", R"({"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment",
      "name":"web"},"rules":[{"name":"a","schedule":"* * * * *","targetReplicas":1},
      {"name":"a","schedule":"never"}]})"))),
            "spec.rules[1].name,spec.rules[1].schedule,spec.rules[1]");
  EXPECT_EQ(fields_of(create(type, extension("c", R"({"scaleTargetRef":{"apiVersion":"autoscaling.karmada.io/v1alpha1",
      "kind":"FederatedHPA","name":"web"},"rules":[{"name":"a","schedule":"@daily","targetMinReplicas":3,
      "targetMaxReplicas":2}]})"))),
            "spec.rules[0].targetMinReplicas");
  const auto with = [&](const std::string& rules) {
    return fields_of(create(type, extension("c", R"({"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment",
        "name":"web"},"rules":[)" + rules + "]}")));
  };
  const auto rule = [](const std::string& schedule, const std::string& zone) {
    return R"({"name":"a","targetReplicas":1,"schedule":")" + schedule + R"(","timeZone":")" + zone + "\"}";
  };
  EXPECT_EQ(with(rule("30 7 * * mon-fri", "Europe/Berlin")), "no error");
  EXPECT_EQ(with(rule("30 7 * * 7", "")), "spec.rules[0].schedule");
  EXPECT_EQ(with(rule("TZ=UTC 30 7 * * 1", "../passwd")), "spec.rules[0].schedule,spec.rules[0].timeZone");
  EXPECT_EQ(with(rule("@every 1m", "")), "no error");
  EXPECT_EQ(with(rule("@every 59s", "")), "spec.rules[0].schedule") << "each run is an entry of the journal";
  std::string many;
  for (int i = 0; i < 257; ++i) {
    many += std::string{i == 0 ? "" : ","} + R"({"name":"r)" + std::to_string(i) +
            R"(","targetReplicas":1,"schedule":"0 0 30 2 *"})";
  }
  EXPECT_EQ(with(many), "spec.rules");
}

TEST(ExtensionAdmission, MultiClusterServices) {  // KIND-13
  const char* type = "multiclusterservices.networking.karmada.io";
  const Value old = stored(type, extension("web", R"({"types":["CrossCluster"]})"));
  Value object = old;
  object.edit("spec").set("types", Value::array({"LoadBalancer"}));
  EXPECT_EQ(fields_of(update(type, old, object)), "spec.types");
  EXPECT_EQ(fields_of(create(type, extension("web", R"({"types":["CrossCluster"],"ports":[{"port":0}],
      "providerClusters":[{"name":"M_1"}]})"))),
            "spec.ports[0].port,spec.range.providerClusters[0]");
}

TEST(ExtensionAdmission, MultiClusterServicesNameAtMostAThousandClusters) {  // KIND-13
  const auto with = [](const char* list, int count) {
    std::string names;
    for (int i = 0; i < count; ++i) names += (i == 0 ? "" : ",") + (R"({"name":"c)" + std::to_string(i) + R"("})");
    return fields_of(
        create("multiclusterservices.networking.karmada.io",
               extension("web", R"({"types":["CrossCluster"],")" + std::string{list} + "\":[" + names + "]}")));
  };
  EXPECT_EQ(with("consumerClusters", 1000), "no error");
  EXPECT_EQ(with("consumerClusters", 1001), "spec.consumerClusters");
  EXPECT_EQ(with("providerClusters", 1001), "spec.providerClusters");
}

TEST(ExtensionAdmission, MultiClusterIngressesAreIngresses) {  // KIND-14
  EXPECT_EQ(fields_of(create("multiclusteringresses.networking.karmada.io", extension("web", R"({"rules":[{"host":"a.b",
      "http":{"paths":[{"path":"x","pathType":"Exact","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]})"))),
            "spec.rules[0].http.paths[0].path");
}

TEST(ExtensionAdmission, InterpreterWebhooks) {  // KIND-10
  const char* type = "resourceinterpreterwebhookconfigurations.config.karmada.io";
  const auto with = [&](const std::string& hook) {
    return create(type, json(R"({"metadata":{"name":"w"},"webhooks":[)" + hook + "]}"));
  };
  EXPECT_EQ(
      fields_of(with(R"({"name":"a.b","clientConfig":{"url":"https://x"},"interpreterContextVersions":["v1alpha1"],
      "rules":[]})")),
      "no error");
  EXPECT_EQ(
      fields_of(with(R"({"name":"a.b","clientConfig":{"url":"https://x"},"interpreterContextVersions":["v1alpha1"],
      "rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"kinds":["Pod"]}]})")),
      "no error");
  EXPECT_EQ(
      fields_of(with(R"({"name":"a.b","clientConfig":{"url":"https://x"},"interpreterContextVersions":["v1alpha1"],
      "rules":[{"operations":["Retain"],"apiGroups":["*"],"apiVersions":["v1"],"kinds":["ConfigMap","Secret"]}]})")),
      "webhooks[0].rules[0].kinds")
      << "no webhook is called for Secrets";
  EXPECT_EQ(fields_of(with(R"({"name":"a.b","clientConfig":{"service":{"namespace":"n","name":"s","path":"a","port":0}},
      "interpreterContextVersions":["v1alpha1","v1alpha1","V2"]})")),
            "webhooks[0].clientConfig.service.port,webhooks[0].clientConfig.service.path,"
            "webhooks[0].clientConfig.service.path,"
            "webhooks[0].interpreterContextVersions[1],webhooks[0].interpreterContextVersions[2]");
  for (const char* url : {"http://x", "https://", "https://:1/a", "https://u@x", "https://x/a?b", "https://x#c"}) {
    EXPECT_EQ(fields_of(with(R"({"name":"a.b","interpreterContextVersions":["v1alpha1"],"clientConfig":{"url":")" +
                             std::string{url} + "\"}}")),
              "webhooks[0].clientConfig.url")
        << url;
  }
  EXPECT_EQ(fields_of(with(R"({"name":"a","clientConfig":{"url":"http://x"},"interpreterContextVersions":["v2"],
      "rules":[{"operations":["Prune"],"apiGroups":["*","b"],"apiVersions":["v1"],"kinds":["Pod"]}]})")),
            "webhooks[0].name,webhooks[0].clientConfig.url,webhooks[0].rules[0].apiGroups,"
            "webhooks[0].rules[0].operations[0],webhooks[0].interpreterContextVersions");
}

TEST(ExtensionAdmission, InterpreterScriptsHaveToParse_L_17) {
  const auto with = [](const char* script) {
    return create("resourceinterpretercustomizations.config.karmada.io",
                  json(R"({"metadata":{"name":"c"},"spec":{"target":{"apiVersion":"v1","kind":"Pod"},
                      "customizations":{"retention":{"luaScript":")" +
                       std::string{script} + "\"}}}}"));
  };
  EXPECT_EQ(fields_of(with("function Retain(a, b) return a end")), "no error");
  EXPECT_EQ(fields_of(with("function Retain(a, b) return")), "spec.customizations.retention.luaScript");
}

}  // namespace
}  // namespace shiplog::api
