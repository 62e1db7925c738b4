// What is collected of a request for the audit log.
#include "services/api/pipeline/request_audit.h"

#include <algorithm>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/yaml.h"
#include "services/api/pipeline/pipeline.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

class KeptEvents final : public AuditSink {
 public:
  explicit KeptEvents(std::vector<Value>& kept) : kept_{kept} {}
  Result<void> deliver(const std::vector<Value>& events) override {
    kept_.insert(kept_.end(), events.begin(), events.end());
    return ok();
  }

 private:
  std::vector<Value>& kept_;
};

TEST(RequestAudit, WhatPoliciesFindIsInTheEventOfTheResponse) {  // ADM-3
  std::vector<Value> events;
  {
    std::vector<std::unique_ptr<AuditBackend>> backends;
    backends.push_back(
        std::make_unique<AuditBackend>(AuditBackend::Options{.plugin = "log"}, std::make_unique<KeptEvents>(events)));
    Auditor auditor{parse_audit_policy("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n"
                                       "rules:\n- level: Metadata\n")
                        .value(),
                    std::move(backends)};
    ManualServer server;
    AdmissionPoliciesInForce policies{kValidatingTypes};
    server.server().options.auditor = &auditor;
    server.server().options.policies = &policies;
    server.put(ObjectCreated{
        {kAdmissionPolicies, "", "p"},
        parse_yaml(
            "{metadata: {name: p}, spec: {matchConstraints: {resourceRules: [{operations: ['*'], apiGroups: "
            "['*'], apiVersions: ['*'], resources: ['*']}]}, validations: [{expression: 'false', message: look}], "
            "auditAnnotations: [{key: who, valueExpression: request.userInfo.username}]}}")
            .value()});
    server.put(
        ObjectCreated{{kAdmissionPolicyBindings, "", "b"},
                      parse_yaml("{metadata: {name: b}, spec: {policyName: p, validationActions: [Audit]}}").value()});
    policies.load(server.state());
    Pipeline pipeline{server.shared(),
                      {[](const RequestContextPtr&) { return false; }, [](const RequestContextPtr&) {}},
                      server.executor()};
    HttpRequest request = ManualServer::request("POST", "/api/v1/namespaces/default/configmaps");
    request.body = R"({"metadata":{"name":"a"}})";
    const auto writer = std::make_shared<RecordingWriter>();
    pipeline.handle(std::move(request), writer);
    server.run();
    ASSERT_TRUE(writer->response);
    EXPECT_EQ(writer->response->status, 201);
  }  // delivers it
  ASSERT_EQ(events.size(), 1U);
  const Value& annotations = events[0]["annotations"];
  EXPECT_EQ(annotations["p/who"].str(), "admin");
  EXPECT_NE(annotations["validation.policy.admission.k8s.io/validation_failure"].str().find("\"message\":\"look\""),
            std::string::npos);
}

TEST(RequestAudit, CallsOfMutatingWebhooksAreInTheEvents) {
  AdmissionWebhook webhook;
  webhook.configuration = "c";
  webhook.name = "a.b.c";
  AdmissionResponse patches;
  patches.called = true;
  patches.patch = Value::array({Value::object({{"op", "add"}, {"path", "/data/token"}, {"value", "secret"}})});
  patches.annotations = {{"a.b.c/why", "so"}};
  AdmissionResponse fails;
  fails.called = fails.failed_open = true;
  for (const auto level : {AuditLevel::kMetadata, AuditLevel::kRequest}) {
    std::vector<Value> events;
    {
      std::vector<std::unique_ptr<AuditBackend>> backends;
      backends.push_back(
          std::make_unique<AuditBackend>(AuditBackend::Options{.plugin = "log"}, std::make_unique<KeptEvents>(events)));
      Auditor auditor{AuditPolicy{}, std::move(backends)};
      ManualServer server;
      server.server().options.auditor = &auditor;
      RequestAudit audit{server.server(),
                         ManualServer::request("POST", "/api/v1/namespaces/default/secrets"),
                         "id",
                         TraceContext{},
                         nullptr,
                         AuditDecision{.level = level, .omitted = {}}};
      audit.mutated_by(webhook, {.round = 0, .index = 2, .changed = true}, patches);
      audit.mutated_by(webhook, {.round = 1, .index = 0, .changed = false}, fails);
      audit.mutated_by(webhook, {.round = 1, .index = 1, .changed = false}, AdmissionResponse{});
      audit.record(AuditStage::kResponseComplete, 200, nullptr, nullptr);
    }  // delivers it
    ASSERT_EQ(events.size(), 1U);
    std::map<std::string, std::string> annotations;
    for (const auto& each : events[0]["annotations"].members()) annotations[std::string{each.key()}] = each.value.str();
    annotations.erase("shiplog.io/trace");
    std::map<std::string, std::string> wanted = {
        {"mutation.webhook.admission.k8s.io/round_0_index_2",
         R"({"configuration":"c","mutated":true,"webhook":"a.b.c"})"},
        {"mutation.webhook.admission.k8s.io/round_1_index_0",
         R"({"configuration":"c","mutated":false,"webhook":"a.b.c"})"},
        {"failed-open.mutation.webhook.admission.k8s.io/round_1_index_0", "a.b.c"},
        {"a.b.c/why", "so"}};
    if (level == AuditLevel::kRequest) {
      wanted["patch.webhook.admission.k8s.io/round_0_index_2"] =
          R"({"configuration":"c","patch":[{"op":"add","path":"/data/token","value":"<redacted>"}],"patchType":"JSONPatch","webhook":"a.b.c"})";
    }
    EXPECT_EQ(annotations, wanted);
  }
}

// The objects of a collection are deleted at the same time, each judged by the admission policies.
TEST(RequestAudit, AnnotationsMayBeAddedByThreadsAtTheSameTime) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2'000;  // the backend waits a few seconds for them, also under a sanitizer
  std::vector<Value> events;
  {
    std::vector<std::unique_ptr<AuditBackend>> backends;
    backends.push_back(
        std::make_unique<AuditBackend>(AuditBackend::Options{.plugin = "log"}, std::make_unique<KeptEvents>(events)));
    Auditor auditor{AuditPolicy{}, std::move(backends)};
    ManualServer server;
    server.server().options.auditor = &auditor;
    const AuditDecision decision{.level = AuditLevel::kMetadata, .omitted = {}};
    RequestAudit audit{server.server(),
                       ManualServer::request("DELETE", "/api/v1/namespaces/default/configmaps"),
                       "id",
                       TraceContext{},
                       nullptr,
                       decision};
    std::vector<std::thread> threads;
    std::latch start{kThreads};
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&audit, &start, thread] {
        start.arrive_and_wait();
        for (int i = 0; i < kEach; ++i) {
          audit.annotated("policy/" + std::to_string(i) + "-" + std::to_string(thread), "value");
        }
      });
    }
    std::ranges::for_each(threads, &std::thread::join);
    audit.record(AuditStage::kResponseComplete, 200, nullptr, nullptr);
  }  // delivers it
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["annotations"].size(), kThreads * kEach + 1U);
}

}  // namespace
}  // namespace shiplog::api
