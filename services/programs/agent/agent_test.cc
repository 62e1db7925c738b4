#include <deque>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/quarantine.h"
#include "services/programs/agent/copies.h"
#include "services/programs/agent/fleet_copy.h"
#include "services/programs/agent/registration.h"
#include "services/programs/agent/rotation.h"
#include "services/programs/agent/secret_report.h"
#include "services/programs/agent/tunnel_keeper.h"
#include "services/runtime/manual_executor.h"
#include "tests/support/fake_members.h"

namespace shiplog::agent {
namespace {

using ::testing::HasSubstr;

constexpr UtcMillis kNow{1'767'225'600'000};

Value json_of(const std::string& text) { return parse_json(text).value(); }

Value work(const std::string& name, int64_t generation, const std::string& revision, const std::string& data = "1") {
  return json_of(R"({"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":")" + name +
                 R"(","namespace":"karmada-es-p1","uid":"uid-)" + name + R"(","generation":)" +
                 std::to_string(generation) + R"(,"resourceVersion":")" + revision +
                 R"(","finalizers":["karmada.io/execution-controller"]},"spec":{"workload":{"manifests":[{
                 "apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default","labels":{
                 "karmada.io/managed":"true","work.karmada.io/permanent-id":"w"},"annotations":{
                 "work.karmada.io/name":")" +
                 name + R"(","work.karmada.io/namespace":"karmada-es-p1"}},
                 "data":{"k":")" +
                 data + R"("}}]}}})");
}

Value cluster() {
  return json_of(R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"p1",
      "uid":"uid-p1","resourceVersion":"5","generation":1,"finalizers":["karmada.io/cluster-controller"]},
      "spec":{"syncMode":"Pull","apiEndpoint":"https://p1:6443"}})");
}

// --- copies ----------------------------------------------------------------------------------------------------------

const ObjectKey kWork{type::kWork, "karmada-es-p1", "w"};

TEST(Copies, ANewGenerationIsAnUpdateAndAGapIsANewObject) {
  const Value copy = work("w", 3, "10");
  EXPECT_EQ(take_in_work(kWork, nullptr, copy).size(), 1U);
  EXPECT_TRUE(take_in_work(kWork, &copy, work("w", 3, "11")).empty()) << "only the revision has moved";
  const Entries next = take_in_work(kWork, &copy, work("w", 4, "12", "2"));
  ASSERT_EQ(next.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<ObjectUpdated>(next[0][0]));
  EXPECT_EQ(take_in_work(kWork, &copy, work("w", 6, "20", "2")).size(), 2U) << "removed and made anew";
  Value other = work("w", 3, "30");
  other.edit("metadata").set("uid", "another");
  EXPECT_EQ(take_in_work(kWork, &copy, other).size(), 2U);
}

TEST(Copies, TheStatusOfTheCopyStaysWhenTheWorkChanges) {
  Value copy = work("w", 3, "10");
  set_condition(copy, "Applied", "True", "AppliedSuccessful", "", kNow);
  const Entries next = take_in_work(kWork, &copy, work("w", 4, "12", "2"));
  const auto& updated = std::get<ObjectUpdated>(next[0][0]);
  EXPECT_EQ(updated.value["status"], copy["status"]);
}

TEST(Copies, OfConditionsOnlyTheAgentsOwnAreSent) {
  Value remote = work("w", 3, "10");
  set_condition(remote, "Foreign", "True", "r", "", kNow);
  set_condition(remote, "Applied", "False", "r", "", kNow);
  Value copy = remote;
  EXPECT_FALSE(work_status_patch(copy, remote));
  set_condition(copy, "Applied", "True", "AppliedSuccessful", "done", kNow);
  remove_condition(copy.edit("status"), "Foreign");
  const auto patch = work_status_patch(copy, remote);
  ASSERT_TRUE(patch);
  EXPECT_EQ((*patch)["metadata"]["resourceVersion"], Value{"10"}) << "it fails if the Work has changed";
  EXPECT_EQ(condition_of(*patch, "Foreign")["status"], Value{"True"});
  EXPECT_EQ(condition_of(*patch, "Applied")["status"], Value{"True"});
  EXPECT_FALSE(patch->contains("spec"));
}

TEST(Copies, ReadyIsWrittenAgainWhereItWasSetToUnknown_1_15_4) {
  Value copy = cluster();
  set_condition(copy, "Ready", "True", "ClusterReady", "", kNow);
  Value remote = copy;
  const UtcMillis set{kNow.value + 60'000};
  const UtcMillis again{set.value + 60'000};
  EXPECT_FALSE(cluster_with_status(copy, remote, again));
  set_condition(remote, "Ready", "Unknown", "ClusterStatusUnknown", "", set);
  const auto put = cluster_with_status(copy, remote, again);
  ASSERT_TRUE(put);
  EXPECT_EQ(condition_of(*put, "Ready")["status"], Value{"True"});
  EXPECT_EQ(condition_of(*put, "Ready")["lastTransitionTime"], Value{rfc3339(again)}) << "it changes now";
  EXPECT_FALSE(cluster_with_status(copy, *put, UtcMillis{again.value + 1000})) << "and stays as it is";
}

TEST(Copies, AKindIsLearnedFromWhatTheMemberServes) {
  Value serving = cluster();
  serving.set("status", json_of(R"({"apiEnablements":[{"groupVersion":"x.io/v1","resources":[
      {"name":"foos","kind":"Foo"}]}]})"));
  const Value manifest = json_of(R"({"apiVersion":"x.io/v1","kind":"Foo","metadata":{"name":"f","namespace":"n"}})");
  const auto definition = definition_for(serving, manifest);
  ASSERT_TRUE(definition);
  EXPECT_EQ((*definition)["metadata"]["name"], Value{"foos.x.io"});
  EXPECT_EQ((*definition)["spec"]["scope"], Value{"Namespaced"});
  EXPECT_FALSE(definition_for(cluster(), manifest));
}

// --- the whole copy --------------------------------------------------------------------------------------------------

/// A control plane that a test answers for.
class RecordedControlPlane final : public Members {
 public:
  struct Asked {
    MemberRequest request;
    std::function<void(Result<MemberResponse>)> done;
  };
  void request(const std::string&, MemberRequest request, std::function<void(Result<MemberResponse>)> done) override {
    asked.push_back({std::move(request), std::move(done)});
  }
  std::unique_ptr<MemberWatch> watch(const std::string&, std::string, std::function<void(const Value&)>,
                                     std::function<void(Result<void>)>) override {
    return nullptr;
  }
  std::deque<Asked> asked;
};

/// A member whose lists and events take their time, while single objects are answered at once.
class SlowToList final : public Members {
 public:
  SlowToList(Members& member, Executor& executor) : member_{member}, executor_{executor} {}
  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override {
    if (request.path.find("labelSelector") == std::string::npos) {
      return member_.request(cluster, std::move(request), std::move(done));
    }
    member_.request(cluster, std::move(request), [this, done = std::move(done)](Result<MemberResponse> response) {
      executor_.post_after(Millis{100}, [done, response = std::move(response)] { done(response); });
    });
  }
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override {
    return member_.watch(
        cluster, std::move(path),
        [this, on_event = std::move(on_event)](const Value& event) {
          executor_.post_after(Millis{200}, [on_event, event] { on_event(event); });
        },
        std::move(on_end));
  }

 private:
  Members& member_;
  Executor& executor_;
};

class FleetCopyFixture : public ::testing::Test {
 protected:
  FleetCopyFixture() {
    member_.member("p1");
    make();
  }
  void make() { make(member_); }
  void make(Members& member) {
    copy_ = std::make_unique<FleetCopy>(FleetCopy::Options{.cluster = "p1",
                                                           .executor = &executor_,
                                                           .random = &random_,
                                                           .member = &member,
                                                           .control_plane = &plane_,
                                                           .control_plane_name = "plane",
                                                           .collector = {},
                                                           .works_at_once = 5,
                                                           .doubts_works = [this] { ++doubts_; }});
  }
  /// Runs, answering every request as an API server with this object would.
  void settle(Value& remote, int64_t seconds = 20) {
    for (int64_t step = 0; step < seconds * 10; ++step) {
      executor_.run(Millis{100});
      while (!plane_.asked.empty()) {
        const auto asked = std::move(plane_.asked.front());
        plane_.asked.pop_front();
        answer(asked, remote);
      }
    }
  }
  void answer(const RecordedControlPlane::Asked& asked, Value& remote) {
    writes_.push_back(asked.request.method + " " + asked.request.path);
    if (asked.request.path.find("/clusters/") != std::string::npos) {
      Value stored = asked.request.body;
      stored.edit("metadata").set("resourceVersion", std::to_string(++revision_));
      return asked.done(MemberResponse{200, stored});
    }
    remote.edit("metadata").set("resourceVersion", std::to_string(++revision_));
    if (asked.request.method == "PATCH") {
      for (const auto& field : asked.request.body["status"].members()) {
        remote.edit("status").set(field.key(), field.value);
      }
    } else {
      remote.edit("metadata").set("finalizers", asked.request.body["metadata"]["finalizers"]);
    }
    asked.done(MemberResponse{200, remote});
  }
  const Value& in_member() { return member_.member("p1").find({"configmaps", "default", "c"}); }

  ManualExecutor executor_;
  SeededRandom random_{7};
  testing::FakeMembers member_{
      [this](Millis delay, std::function<void()> run) { executor_.post_after(delay, std::move(run)); }};
  RecordedControlPlane plane_;
  int64_t revision_ = 100;
  int doubts_ = 0;
  std::vector<std::string> writes_;
  std::unique_ptr<FleetCopy> copy_;
};

TEST_F(FleetCopyFixture, AppliesAWorkAndReportsIt_1_11_3) {
  Value remote = work("w", 1, "50");
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  EXPECT_TRUE(copy_->ready());
  EXPECT_EQ(in_member()["data"]["k"], Value{"1"});
  EXPECT_EQ(in_member()["metadata"]["annotations"]["shiplog.io/revision"], Value{"50"}) << "the control plane's";
  EXPECT_EQ(condition_of(remote, "Applied")["status"], Value{"True"});
  EXPECT_EQ(remote["status"]["manifestStatuses"].size(), 1U);
  EXPECT_EQ(condition_of(remote, kStatusCollectedCondition)["observedGeneration"], Value{1});
  writes_.clear();
  settle(remote);
  EXPECT_EQ(writes_, std::vector<std::string>{}) << "at rest nothing is written";

  // After a restart: what was applied is known from the Work.
  const Value before = in_member();
  make();
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  EXPECT_EQ(in_member()["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
}

TEST_F(FleetCopyFixture, AtRestItWakesForWhatArrivesOnly) {
  Value remote = work("w", 1, "50");
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  int ran = 0;
  for (const UtcMillis until = executor_.now() + Millis{10'000}; executor_.run_next(until);) ++ran;
  EXPECT_LT(ran, 150) << "the requests of a probe, and a look every 2 s whether the watch still runs";

  Value altered = in_member();
  altered.edit("data").set("k", "drift");
  member_.member("p1").put({"configmaps", "default", "c"}, altered);
  settle(remote, 5);
  EXPECT_EQ(in_member()["data"]["k"], Value{"1"}) << "what arrives at rest is seen";
}

TEST_F(FleetCopyFixture, WhatWasChangedMeanwhileIsWrittenOnceThoughTheListShowsWhatWasBefore) {
  Value remote = work("w", 1, "50");
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  remote.edit("spec").set("workload", work("w", 2, "60", "2")["spec"]["workload"]);
  remote.edit("metadata").set("generation", 2);
  remote.edit("metadata").set("resourceVersion", std::to_string(++revision_));
  SlowToList slow{member_, executor_};
  member_.log.clear();
  make(slow);
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  EXPECT_EQ(in_member()["data"]["k"], Value{"2"});
  EXPECT_EQ(member_.count("p1 PUT "), 1U);
  copy_.reset();  // before the member that it refers to
}

TEST_F(FleetCopyFixture, GivesAWorkBackAndReleasesIt) {
  Value remote = work("w", 1, "50");
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  remote.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  remote.edit("metadata").set("generation", 2);
  remote.edit("metadata").set("resourceVersion", std::to_string(++revision_));
  writes_.clear();
  copy_->take_work(remote);
  settle(remote);
  EXPECT_TRUE(in_member().is_null());
  ASSERT_FALSE(writes_.empty());
  EXPECT_THAT(writes_[0], HasSubstr("PUT "));
  EXPECT_EQ(remote["metadata"]["finalizers"].size(), 0U);
}

TEST_F(FleetCopyFixture, AClusterThatIsGoneGivesNothingUp) {
  Value remote = work("w", 1, "50");
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  copy_->cluster_gone();
  settle(remote);
  EXPECT_FALSE(in_member().is_null());
}

TEST_F(FleetCopyFixture, ARestoredControlPlaneIsFollowedAfterAFreshList) {
  Value remote = work("w", 4, "5000");
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  ASSERT_EQ(in_member()["metadata"]["annotations"]["shiplog.io/revision"], Value{"5000"});
  // As of an earlier time: other content, and lower revisions.
  make();
  remote = work("w", 2, "40", "earlier");
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  settle(remote);
  EXPECT_EQ(in_member()["data"]["k"], Value{"1"}) << "the copy might be behind";
  EXPECT_GT(doubts_, 0);
  copy_->take_works({remote});
  settle(remote, 60);
  EXPECT_EQ(in_member()["data"]["k"], Value{"earlier"});
}

TEST_F(FleetCopyFixture, AKindOfADefinitionInAWorkIsKnownAtOnce) {
  Value remote = work("d", 1, "50");
  remote.edit("spec").edit("workload").set("manifests", json_of(R"([{"apiVersion":"apiextensions.k8s.io/v1",
      "kind":"CustomResourceDefinition","metadata":{"name":"foos.x.io"},"spec":{"group":"x.io","scope":"Namespaced",
      "names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true}]}}])"));
  copy_->take_cluster(cluster());
  copy_->take_works({remote});
  EXPECT_NE(copy_->state().find({type::kCustomResourceDefinition, "", "foos.x.io"}), nullptr);
}

TEST_F(FleetCopyFixture, AScriptThatOverranIsNotRunAgainUntilTheSpecChanges) {
  const std::string type = interpreter::kCustomizationType;
  const auto customization = [](int generation, const std::string& script, const std::string& marked = "") {
    return json_of(R"({"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterCustomization","metadata":{
        "name":"c","uid":"u","resourceVersion":"7","generation":)" +
                   std::to_string(generation) + R"(,"annotations":{"m":")" + marked +
                   R"("}},"spec":{"target":{"apiVersion":"apps/v1","kind":"Deployment"},
        "customizations":{"healthInterpretation":{"luaScript":")" +
                   script + R"("}}}})");
  };
  const auto stopped = [&] {
    return interpreter::quarantined(copy_->state().value_of({type, "", "c"}), "InterpretHealth", "default");
  };
  copy_->take_customizations(type, {customization(3, "a")});
  Question question;
  question.address = json_of(R"({"name":"c","uid":"u","generation":3})");
  const interpreter::Overrun overrun{"InterpretHealth", "default", "StepLimitExceeded", "too many steps"};
  copy_->quarantine(question, overrun);
  EXPECT_TRUE(stopped());
  copy_->take_customization(type, "MODIFIED", customization(3, "a", "x"));
  EXPECT_TRUE(stopped()) << "something else has changed";
  copy_->take_customizations(type, {customization(3, "a", "x")});
  EXPECT_TRUE(stopped()) << "it was read again";
  copy_->take_customization(type, "MODIFIED", customization(4, "b"));
  EXPECT_FALSE(stopped());
  copy_->quarantine(question, overrun);
  EXPECT_FALSE(stopped()) << "it was of the script before";
}

// --- the rest --------------------------------------------------------------------------------------------------------

TEST(Registration, DescribesThePullMember_1_11_2_1_11_4) {
  AgentOptions options;
  options.cluster = "p1";
  options.region = "eu";
  const MemberDescription member{.id = "id", .api_endpoint = "https://m", .has_impersonator = true};
  const Value made = new_cluster(options, member);
  EXPECT_EQ(made["spec"]["syncMode"], Value{"Pull"});
  EXPECT_EQ(made["spec"]["region"], Value{"eu"});
  EXPECT_EQ(made["spec"]["impersonatorSecretRef"]["name"], Value{"p1-impersonator"});
  EXPECT_FALSE(made["spec"].contains("secretRef")) << "not reported";
  EXPECT_FALSE(updated_cluster(made, options, member));
  options.region = "";
  EXPECT_FALSE(updated_cluster(made, options, member)) << "an empty flag leaves the field as it is";
}

TEST(Registration, TheLeaseIsRenewed_1_16_1) {
  AgentOptions options;
  options.cluster = "p1";
  const Value first = renewed_lease({}, cluster(), options, kNow);
  EXPECT_EQ(first["spec"]["leaseDurationSeconds"], Value{40});
  EXPECT_EQ(first["spec"]["renewTime"], Value{"2026-01-01T00:00:00.000000Z"});
  EXPECT_EQ(first["metadata"]["ownerReferences"][0]["uid"], Value{"uid-p1"});
  const Value next = renewed_lease(first, cluster(), options, kNow + Millis{10'000});
  EXPECT_EQ(next["spec"]["renewTime"], Value{"2026-01-01T00:00:10.000000Z"});
}

/// A member whose controller issues tokens at once, and its control plane.
class SecretReportFixture : public ::testing::Test {
 protected:
  SecretReportFixture() {
    options_.cluster = "p1";
    servers_.member("p1").on_write = [](Value& object) {
      if (object["type"].as_string() != "kubernetes.io/service-account-token") return;
      object.set("data", Value::object({{"token", "dA=="}, {"ca.crt", "Yw=="}}));
    };
    servers_.member("plane").put({type::kNamespace, "", "karmada-cluster"}, Value::object());
  }
  void report(const Value& owner) {
    std::optional<Error> error = Error{ErrorCode::kTimeout, "not done"};
    SecretReport::run({.agent = &options_,
                       .executor = &executor_,
                       .member = &servers_,
                       .control_plane = &servers_,
                       .control_plane_name = "plane",
                       .owner = owner,
                       .ca_pem = {},
                       .server_name = {},
                       .done = [&](const std::optional<Error>& end) { error = end; }});
    executor_.run(Millis{10'000});
    EXPECT_FALSE(error) << error->message;
  }
  const Value& secret(const std::string& name) {
    return servers_.member("plane").find({type::kSecret, "karmada-cluster", name});
  }

  AgentOptions options_;
  ManualExecutor executor_;
  testing::FakeMembers servers_{
      [this](Millis delay, std::function<void()> run) { executor_.post_after(delay, std::move(run)); }};
};

TEST_F(SecretReportFixture, TheClusterOwnsTheSecretsOnceItIsThere_1_4_2) {
  report({});
  EXPECT_EQ(secret("p1")["data"]["token"], Value{"dA=="});
  EXPECT_FALSE(secret("p1")["metadata"].contains("ownerReferences")) << "there is no Cluster yet";
  report(owner_of_secrets(cluster()));
  for (const char* name : {"p1", "p1-impersonator"}) {
    const Value& owners = secret(name)["metadata"]["ownerReferences"];
    ASSERT_EQ(owners.size(), 1U) << name;
    EXPECT_EQ(owners[0], json_of(R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","name":"p1",
                                     "uid":"uid-p1","controller":true,"blockOwnerDeletion":true})"));
    EXPECT_EQ(secret(name)["data"]["token"], Value{"dA=="}) << "the data stays";
  }
  const size_t written = servers_.count("plane PATCH");
  report(owner_of_secrets(cluster()));
  EXPECT_EQ(servers_.count("plane PATCH"), written) << "what is as it should be is not written again";
}

TEST_F(SecretReportFixture, ANewClusterOfTheNameTakesTheSecretsOver) {
  Value former = cluster();
  former.edit("metadata").set("uid", "uid-former");
  report(owner_of_secrets(former));
  EXPECT_EQ(secret("p1")["metadata"]["ownerReferences"][0]["uid"], Value{"uid-former"}) << "made with its owner";
  report(owner_of_secrets(cluster()));
  EXPECT_EQ(secret("p1")["metadata"]["ownerReferences"].size(), 1U);
  EXPECT_EQ(secret("p1")["metadata"]["ownerReferences"][0]["uid"], Value{"uid-p1"});
}

TEST(Rotation, IsDueWhenAPartOfTheLifetimeIsLeft_1_9_2) {
  EXPECT_FALSE(AgentOptions{}.rotates_certificate) << "1.9.1";
  CertificateInfo certificate;
  certificate.not_before = kNow;
  certificate.not_after = kNow + Millis{1'000'000};
  EXPECT_FALSE(rotation_due(certificate, 0.2, kNow + Millis{799'999}));
  EXPECT_TRUE(rotation_due(certificate, 0.2, kNow + Millis{800'000}));
}

TEST(Rotation, AnExpiredCertificateIsReportedWithTheCommandThatRenewsIt) {
  const auto made = make_authority("p1", {.not_before = kNow, .not_after = kNow + Millis{1'000'000}});
  ASSERT_TRUE(made) << made.error().message;
  const std::string& pem = made.value().certificate_pem;
  EXPECT_FALSE(expired(pem, "access.kubeconfig", kNow + Millis{999'000}));
  const auto error = expired(pem, "access.kubeconfig", kNow + Millis{1'000'000});
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, ::testing::HasSubstr("register --renew"));
  EXPECT_THAT(error->message, ::testing::HasSubstr("access.kubeconfig"));
  EXPECT_FALSE(expired("", "access.kubeconfig", kNow)) << "a token";
}

TEST(Rotation, RequestsTheSameSubjectForTheSameTime_1_9_3) {
  CertificateInfo certificate;
  certificate.common_name = "system:karmada:agent:p1";
  certificate.organizations = {"system:karmada:agents"};
  certificate.not_before = kNow;
  certificate.not_after = kNow + Millis{7'200'000};
  const auto made = new_request(certificate.common_name, certificate.organizations);
  ASSERT_TRUE(made) << made.error().message;
  const auto read = inspect_request(made.value().request_pem);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read.value().common_name, certificate.common_name);
  EXPECT_EQ(read.value().organizations, certificate.organizations);
  const Value request = signing_request(certificate, made.value().request_pem, "abcde");
  EXPECT_EQ(request["spec"]["expirationSeconds"], Value{7200});
  EXPECT_EQ(request["metadata"]["name"], Value{"system-karmada-agent-p1-abcde"});
}

TEST(Tunnels, LeadToTheMembersAddressAlone) {
  EXPECT_EQ(tunnel_target("https://10.0.0.1:6443/x").value().port, "6443");
  EXPECT_EQ(tunnel_target("https://[::1]:6443").value().host, "::1");
  EXPECT_EQ(tunnel_target("https://member").value().port, "443");
  EXPECT_FALSE(tunnel_target("ftp://member"));
}

}  // namespace
}  // namespace shiplog::agent
