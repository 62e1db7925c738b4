// Requests about pods in namespaces with labels of Pod Security (ADM-5), through the pipeline, without network.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/pipeline/pipeline.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

constexpr const char* kNamespacePods = "/api/v1/namespaces/shop/pods";

class PodSecurityTest : public ::testing::Test {
 protected:
  PodSecurityTest() { server_.server().options.secured_namespaces = &secured_; }

  /// The namespace shop, with these labels of Pod Security.
  void secure(const std::string& labels) {
    std::string all;
    const Value modes = parse_yaml("{" + labels + "}").value();
    for (const auto& member : modes.members()) {
      all += "pod-security.kubernetes.io/" + std::string{member.key()} + ": " + member.value.str() + ", ";
    }
    server_.put(ObjectCreated{{type::kNamespace, "", "shop"},
                              parse_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {" + all +
                                         "a: b}}, spec: {finalizers: [kubernetes]}}")
                                  .value()});
    secured_.load(server_.state());
  }
  HttpResponse write_yaml(const std::string& method, const std::string& target, const std::string& body,
                          const std::string& content_type = "application/json") {
    HttpRequest request = ManualServer::request(method, target, content_type);
    request.body = to_json(parse_yaml(body).value());
    auto writer = std::make_shared<RecordingWriter>();
    pipeline_.handle(std::move(request), writer);
    server_.run();
    EXPECT_TRUE(writer->response) << "no answer";
    return writer->response.value_or(HttpResponse{});
  }
  static std::string pod(const std::string& name, const std::string& spec = "") {
    return "{metadata: {name: " + name + "}, spec: {" + (spec.empty() ? "" : spec + ", ") +
           "containers: [{name: c, image: 'i:1'}]}}";
  }
  static std::string deployment(const std::string& spec) {
    return "{metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
           "spec: {" +
           spec + ", containers: [{name: c, image: 'i:1'}]}}}}";
  }
  /// Warning headers, one a line, without the code.
  static std::string warnings(const HttpResponse& response) {
    std::string all;
    for (const auto& [name, value] : response.headers.all()) {
      if (name == "Warning") all += value.substr(6) + "\n";
    }
    return all;
  }
  static std::string message(const HttpResponse& response) {
    const auto body = parse_json(response.body);
    return body ? body.value()["message"].str() : response.body;
  }

  ManualServer server_;
  SecuredNamespaces secured_;
  Pipeline pipeline_{server_.shared(),
                     {[](const RequestContextPtr&) { return false; }, [](const RequestContextPtr&) {}},
                     server_.executor()};
};

TEST_F(PodSecurityTest, APodThatViolatesWhatIsEnforcedIsForbidden) {
  secure("enforce: baseline");
  const HttpResponse refused = write_yaml("POST", kNamespacePods, pod("a", "hostNetwork: true"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(message(refused),
            "pods \"a\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)");
  EXPECT_EQ(warnings(refused), "");
  EXPECT_EQ(write_yaml("POST", kNamespacePods, pod("b")).status, 201);
  EXPECT_EQ(server_.state().find({"pods", "shop", "a"}), nullptr);
}

TEST_F(PodSecurityTest, OtherNamespacesAreFree) {
  secure("enforce: restricted");
  EXPECT_EQ(write_yaml("POST", "/api/v1/namespaces/default/pods", pod("a", "hostNetwork: true")).status, 201);
}

TEST_F(PodSecurityTest, AWorkloadIsWarnedAboutAndStored) {
  secure("enforce: baseline");
  const HttpResponse made =
      write_yaml("POST", "/apis/apps/v1/namespaces/shop/deployments", deployment("hostPID: true"));
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(warnings(made), "\"would violate PodSecurity \\\"baseline:latest\\\": host namespaces (hostPID=true)\"\n");
  EXPECT_EQ(warnings(write_yaml("PATCH", "/apis/apps/v1/namespaces/shop/deployments/web/scale", "{spec: {replicas: 2}}",
                                "application/merge-patch+json")),
            "");
  const HttpResponse job =
      write_yaml("POST", "/apis/batch/v1/namespaces/shop/cronjobs",
                 "{metadata: {name: j}, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: "
                 "{spec: {hostIPC: true, restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}");
  EXPECT_EQ(warnings(job), "\"would violate PodSecurity \\\"baseline:latest\\\": host namespaces (hostIPC=true)\"\n");
}

TEST_F(PodSecurityTest, APodCanBeWarnedAboutByAnotherStandard) {
  secure("enforce: privileged, warn: baseline, warn-version: v1.30");
  const HttpResponse made = write_yaml("POST", kNamespacePods, pod("a", "hostNetwork: true"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(warnings(made),
            "\"would violate PodSecurity \\\"baseline:v1.30\\\": host namespaces (hostNetwork=true)\"\n");
}

TEST_F(PodSecurityTest, AnUpdateOfAStoredPodIsJudgedOnlyIfItsContainersChange) {
  EXPECT_EQ(write_yaml("POST", "/api/v1/namespaces", "{metadata: {name: shop}}").status, 201);
  EXPECT_EQ(write_yaml("POST", kNamespacePods, pod("a", "hostNetwork: true")).status, 201);
  const HttpResponse labelled = write_yaml("PATCH", "/api/v1/namespaces/shop",
                                           "{metadata: {labels: {pod-security.kubernetes.io/enforce: baseline}}}",
                                           "application/merge-patch+json");
  EXPECT_EQ(labelled.status, 200) << labelled.body;
  secured_.load(server_.state());
  const std::string one = std::string{kNamespacePods} + "/a";
  const auto patch = [&](const std::string& body) {
    const HttpResponse answered = write_yaml("PATCH", one, body, "application/strategic-merge-patch+json");
    return std::to_string(answered.status) + (answered.status == 422 ? answered.body : "");
  };
  EXPECT_EQ(patch("{metadata: {labels: {x: z}}}"), "200");
  EXPECT_EQ(patch("{spec: {containers: [{name: c, image: 'i:2'}]}}"), "403");
  EXPECT_EQ(write_yaml("PATCH", one + "/ephemeralcontainers", "{spec: {ephemeralContainers: [{name: e, image: i}]}}",
                       "application/strategic-merge-patch+json")
                .status,
            403);
}

TEST_F(PodSecurityTest, TheUserIsToldWhichPodsViolateWhatANamespaceEnforcesFromNowOn) {
  EXPECT_EQ(write_yaml("POST", "/api/v1/namespaces", "{metadata: {name: shop}}").status, 201);
  for (const char* name : {"b", "a", "c"}) {
    EXPECT_EQ(write_yaml("POST", kNamespacePods, pod(name, "hostNetwork: true")).status, 201);
  }
  EXPECT_EQ(write_yaml("POST", kNamespacePods, pod("d", "volumes: [{name: v, hostPath: {path: /}}]")).status, 201);
  EXPECT_EQ(write_yaml("POST", kNamespacePods, pod("fine")).status, 201);
  const auto label = [&](const std::string& labels) {
    return warnings(write_yaml("PATCH", "/api/v1/namespaces/shop", "{metadata: {labels: {" + labels + "}}}",
                               "application/merge-patch+json"));
  };
  EXPECT_EQ(label("pod-security.kubernetes.io/warn: restricted"), "");
  EXPECT_EQ(
      label("pod-security.kubernetes.io/enforce: baseline"),
      "\"existing pods in namespace \\\"shop\\\" violate the new PodSecurity enforce level \\\"baseline:latest\\\"\"\n"
      "\"a (and 2 other pods): host namespaces\"\n\"d: hostPath volumes\"\n");
}

TEST_F(PodSecurityTest, LabelsThatCannotBeReadAreRefusedUnlessTheyWereThere) {
  const HttpResponse refused = write_yaml(
      "POST", "/api/v1/namespaces", "{metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: strict}}}");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(message(refused),
            "Namespace \"shop\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "
            "\"strict\": must be one of privileged, baseline, restricted");
  secure("enforce: strict");  // of an earlier build
  const auto patch = [&](const std::string& labels) {
    return write_yaml("PATCH", "/api/v1/namespaces/shop", "{metadata: {labels: {" + labels + "}}}",
                      "application/merge-patch+json")
        .status;
  };
  EXPECT_EQ(patch("other: label"), 200);
  EXPECT_EQ(patch("pod-security.kubernetes.io/warn: strict"), 422);
  EXPECT_EQ(write_yaml("POST", kNamespacePods, pod("a")).status, 403) << "what cannot be read is restricted";
}

}  // namespace
}  // namespace shiplog::api
