// Cached objects, and the changes that watches are made of.
#include "services/api/search/cached_collection.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const CachedScope kPodScope{"m1", "", "v1", "pods", "Pod", "", true};

class CachedCollectionTest : public ::testing::Test {
 protected:
  Result<CachedObject::Ptr> make(const CachedScope& scope, const std::string& text) {
    return CachedObject::make(scope, json(text), compressor_, budget_);
  }
  CachedObject::Ptr pod(const std::string& name, const std::string& version) {
    return make(kPodScope, R"({"metadata":{"namespace":"default","name":")" + name + R"(","resourceVersion":")" +
                               version + R"("}})")
        .value();
  }
  CachedObjects pods(std::initializer_list<std::pair<const char*, const char*>> all) {
    CachedObjects objects;
    for (const auto& [name, version] : all) objects.insert(pod(name, version));
    return objects;
  }
  /// "ADDED web 7" of each change that a watch from the version gets; "too old".
  std::vector<std::string> changes_from(const std::string& version) {
    const auto mark = collection_.mark_of(version);
    if (!mark) return {"too old"};
    return changes_of(*mark);
  }
  std::vector<std::string> changes_of(CachedCollection::Mark mark) {
    static const char* const kWords[] = {"ADDED", "MODIFIED", "DELETED"};
    const auto changes = collection_.changes(mark, 10'000);
    if (!changes) return {"too old"};
    std::vector<std::string> words;
    for (const CachedChange& change : *changes) {
      words.push_back(std::string{kWords[static_cast<size_t>(change.what)]} + " " + std::string{change.object->name()} +
                      " " + change.version);
    }
    return words;
  }

  using Words = std::vector<std::string>;
  Compressor compressor_;
  std::shared_ptr<CacheBudget> budget_ = std::make_shared<CacheBudget>(size_t{1} << 20U);
  CachedCollection collection_{kPodScope};
};

TEST_F(CachedCollectionTest, AnObjectHasTheAnnotationAndItsKindAndNoManagedFields_6_1_5) {
  const auto object = make(kPodScope, R"({"metadata":{"namespace":"default","name":"web","resourceVersion":"7",
      "managedFields":[{"manager":"kubectl"}]},"spec":{"new":{"field":1}}})");
  ASSERT_TRUE(object);
  EXPECT_EQ(
      object.value()->value(compressor_).value(),
      json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"web","resourceVersion":"7",
      "annotations":{"resource.karmada.io/cached-from-cluster":"m1"}},"spec":{"new":{"field":1}}})"));
  EXPECT_EQ(object.value()->version(), "7");
}

TEST_F(CachedCollectionTest, RefusesObjectsThatTheMemberWasNotAskedFor) {
  CachedScope of_a = kPodScope;
  of_a.ns = "a";
  const std::string long_name(254, 'x');
  for (const std::string& metadata :
       {std::string{R"({"namespace":"b","name":"web","resourceVersion":"1"})"},
        std::string{R"({"name":"web","resourceVersion":"1"})"}, std::string{R"({"namespace":"a","name":"web"})"},
        std::string{R"({"namespace":"a","resourceVersion":"1"})"}, std::string{"1"},
        R"({"namespace":"a","name":")" + long_name + R"(","resourceVersion":"1"})",
        std::string{R"({"namespace":"a","name":"x/y","resourceVersion":"1"})"},
        std::string{R"({"namespace":"a","name":"x\ny","resourceVersion":"1"})"}}) {
    const auto made = make(of_a, R"({"metadata":)" + metadata + "}");
    ASSERT_FALSE(made) << metadata;
    EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(budget_->used(), 0U);
}

TEST_F(CachedCollectionTest, TheBudgetIsTakenAndGivenBack) {
  const auto total = std::make_shared<CacheBudget>(2000);
  budget_ = std::make_shared<CacheBudget>(700, total);
  std::vector<CachedObject::Ptr> held;
  Error full;
  for (int i = 0; i < 10; ++i) {
    auto made = make(kPodScope, R"({"metadata":{"namespace":"default","name":"web-)" + std::to_string(i) +
                                    R"(","resourceVersion":"1"}})");
    if (made) {
      held.push_back(std::move(made).value());
    } else {
      full = made.error();
    }
  }
  EXPECT_GT(held.size(), 0U);
  EXPECT_LT(held.size(), 10U);
  EXPECT_EQ(full.code, ErrorCode::kTooLarge);
  EXPECT_LE(total->used(), 700U);
  held.clear();
  EXPECT_EQ(total->used(), 0U);
}

TEST_F(CachedCollectionTest, WatchesGetWhatFollowsTheirVersion) {
  EXPECT_EQ(changes_from("1"), Words{"too old"}) << "nothing is listed";
  collection_.replace(pods({{"a", "3"}, {"b", "4"}}), "10");
  EXPECT_EQ(changes_from("10"), Words{});
  EXPECT_EQ(changes_from("9"), Words{"too old"});
  EXPECT_EQ(changes_from("99"), Words{}) << "another server is ahead";
  collection_.put(pod("c", "11"));
  collection_.put(pod("a", "12"));
  collection_.remove(pod("b", "15"));
  EXPECT_EQ(changes_from("10"), (Words{"ADDED c 11", "MODIFIED a 12", "DELETED b 15"}));
  EXPECT_EQ(changes_from("11"), (Words{"MODIFIED a 12", "DELETED b 15"}));
  EXPECT_EQ(changes_from("13"), (Words{"DELETED b 15"}));
  EXPECT_EQ(changes_from("15"), Words{});
  collection_.advance("20");
  EXPECT_EQ(collection_.version(), "20");
  EXPECT_EQ(changes_from("15"), Words{}) << "a bookmark makes no older version too old";
  EXPECT_EQ(changes_from("20"), Words{});
  EXPECT_EQ(changes_from("text"), Words{"too old"});
}

TEST_F(CachedCollectionTest, AnotherListBecomesChangesThatAreRepeatedAsAWhole) {
  collection_.replace(pods({{"a", "3"}, {"b", "4"}, {"same", "5"}}), "10");
  collection_.put(pod("c", "11"));
  collection_.replace(pods({{"a", "13"}, {"c", "11"}, {"d", "14"}, {"same", "5"}}), "20");
  const Words block{"DELETED b 11", "MODIFIED a 11", "ADDED d 20"};
  EXPECT_EQ(changes_from("11"), block);
  EXPECT_EQ(changes_from("15"), block) << "a version of another server: what was deleted may have been there then";
  EXPECT_EQ(changes_from("20"), Words{});
}

TEST_F(CachedCollectionTest, ChangesThatAreForgottenInTheMiddleOfAListAreNotServedInPart) {
  collection_.replace({}, "10");
  CachedObjects many;
  for (size_t i = 0; i < CachedCollection::kMostChanges + 5; ++i) many.insert(pod("p" + std::to_string(i), "11"));
  collection_.replace(std::move(many), "20");
  EXPECT_EQ(changes_from("10"), Words{"too old"});
  EXPECT_EQ(changes_from("15"), Words{"too old"});
  EXPECT_EQ(changes_from("20"), Words{});
}

TEST_F(CachedCollectionTest, ABookmarkBeforeAListHidesNoneOfItsChanges) {
  collection_.replace(pods({{"a", "3"}, {"b", "4"}, {"same", "5"}}), "10");
  collection_.advance("20");
  collection_.replace(pods({{"b", "25"}, {"same", "5"}}), "30");
  const Words block{"DELETED a 20", "MODIFIED b 30"};
  EXPECT_EQ(changes_from("10"), block);
  EXPECT_EQ(changes_from("20"), block);
  EXPECT_EQ(changes_from("25"), block);
  EXPECT_EQ(changes_from("30"), Words{});
}

TEST_F(CachedCollectionTest, AListAfterABookmarkIsNotServedInPart) {
  collection_.replace({}, "10");
  collection_.advance("20");
  CachedObjects many;
  for (size_t i = 0; i < CachedCollection::kMostChanges + 5; ++i) many.insert(pod("p" + std::to_string(i), "21"));
  collection_.replace(std::move(many), "30");
  for (const char* version : {"10", "20", "25"}) EXPECT_EQ(changes_from(version), Words{"too old"}) << version;
  EXPECT_EQ(changes_from("30"), Words{});
}

TEST_F(CachedCollectionTest, AServerThatCountsAnewEndsWatches) {
  collection_.replace(pods({{"a", "3"}}), "1000");
  const auto mark = collection_.now("", "", 0).mark;
  collection_.replace(pods({{"b", "4"}}), "10");
  EXPECT_EQ(changes_of(mark), Words{"too old"});
  EXPECT_EQ(changes_from("10"), Words{}) << "the list that follows can be watched";
  collection_.put(pod("c", "11"));
  EXPECT_EQ(changes_from("10"), Words{"ADDED c 11"});
}

TEST_F(CachedCollectionTest, TextThatIsSmallOnlyBecauseItIsCompressedIsCounted) {
  const std::string text(400'000, 'x');
  const auto object = make(
      kPodScope, R"({"metadata":{"namespace":"default","name":"web","resourceVersion":"7"},"a":")" + text + R"("})");
  ASSERT_TRUE(object);
  EXPECT_GE(budget_->used(), text.size() / CachedObject::kMostCompression);
}

TEST_F(CachedCollectionTest, ListsLeaveRoomForChanges) {
  const auto total = std::make_shared<CacheBudget>(1'000);
  CacheBudget budget{2'000, total};
  EXPECT_TRUE(budget.take(900, CacheBudget::Use::kList));
  EXPECT_FALSE(budget.take(1, CacheBudget::Use::kList));
  EXPECT_TRUE(budget.take(100));
  EXPECT_FALSE(budget.take(1));
  EXPECT_EQ(budget.used(), 1'000U);
}

TEST_F(CachedCollectionTest, OldChangesAreForgotten) {
  collection_.replace({}, "1");
  const auto mark = collection_.now("", "", 0).mark;
  for (size_t i = 0; i <= CachedCollection::kMostChanges; ++i) collection_.put(pod("a", std::to_string(2 + i)));
  EXPECT_EQ(changes_from("1"), Words{"too old"});
  EXPECT_EQ(changes_of(mark), Words{"too old"});
  EXPECT_EQ(changes_from("2").size(), CachedCollection::kMostChanges);
}

TEST_F(CachedCollectionTest, WatchesEndWhenItIsDropped) {
  collection_.replace(pods({{"a", "3"}}), "10");
  const auto mark = collection_.now("", "", 0).mark;
  collection_.drop();
  EXPECT_FALSE(collection_.listed());
  EXPECT_EQ(collection_.size(), 0U);
  EXPECT_EQ(changes_of(mark), Words{"too old"});
  collection_.replace(pods({{"a", "3"}}), "10");
  EXPECT_EQ(changes_of(mark), Words{"too old"}) << "also once it is listed again";
}

TEST_F(CachedCollectionTest, ObjectsAreInTheOrderOfNamespaceAndName) {
  CachedObjects objects;
  for (const char* at : {"b/x", "a/y", "a/x", "c/z"}) {
    objects.insert(make(kPodScope, R"({"metadata":{"namespace":")" + std::string{at, 1} + R"(","name":")" +
                                       std::string{at + 2} + R"(","resourceVersion":"1"}})")
                       .value());
  }
  collection_.replace(std::move(objects), "1");
  const auto at = [&](const std::string& ns, const std::string& after, size_t most) {
    Words found;
    for (const auto& object : collection_.objects(ns, after, most)) {
      found.push_back(CachedCollection::position_text(*object));
    }
    return found;
  };
  EXPECT_EQ(at("", "", 9), (Words{"a/x", "a/y", "b/x", "c/z"}));
  EXPECT_EQ(at("", "a/x", 2), (Words{"a/y", "b/x"}));
  EXPECT_EQ(at("a", "", 9), (Words{"a/x", "a/y"}));
  EXPECT_EQ(at("a", "a/x", 9), Words{"a/y"});
  EXPECT_EQ(at("b", "a/x", 9), Words{"b/x"}) << "a token of elsewhere";
  EXPECT_EQ(at("b", "c/z", 9), Words{});
}

/// A pod as kubelets report it, with names that differ from others'.
std::string real_pod(int number) {
  const std::string id = std::to_string(100'000 + number * 7919 % 900'000);
  const std::string name = "checkout-6d4cf56db6-" + id.substr(1);
  const auto condition = [](const std::string& type) {
    return R"({"lastProbeTime":null,"lastTransitionTime":"2026-11-30T07:44:16Z","observedGeneration":1,"status":"True","type":")" +
           type + R"("})";
  };
  return R"({"metadata":{"name":")" + name + R"(","namespace":"shop","uid":"0b6e7a52-5d0c-4f0e-9a43-2f)" + id +
         R"(7d11","resourceVersion":")" + id +
         R"(","generation":1,"creationTimestamp":"2026-11-30T07:44:12Z",)"
         R"("generateName":"checkout-6d4cf56db6-","labels":{"app":"checkout","pod-template-hash":"6d4cf56db6","tier":"web"},)"
         R"("annotations":{"prometheus.io/port":"9090","prometheus.io/scrape":"true"},"ownerReferences":[{"apiVersion":"apps/v1",)"
         R"("kind":"ReplicaSet","name":"checkout-6d4cf56db6","uid":"4c1c6a4e-93f5-4f28-9d0e-7b0d7a7a2f10","controller":true,)"
         R"("blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager","operation":"Update"}]},)"
         R"("spec":{"volumes":[{"name":"kube-api-access-)" +
         id +
         R"(","projected":{"sources":[{"serviceAccountToken":)"
         R"({"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt",)"
         R"("path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":)"
         R"("metadata.namespace"}}]}}],"defaultMode":420}}],"containers":[{"name":"main","image":)"
         R"("registry.example.com/shop/checkout:3.14.2","ports":[{"containerPort":8080,"protocol":"TCP"}],"env":[{"name":)"
         R"("DATABASE_HOST","value":"db.shop.svc"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":)"
         R"("metadata.name"}}}],"resources":{"limits":{"cpu":"1","memory":"512Mi"},"requests":{"cpu":"250m","memory":"256Mi"}},)"
         R"("volumeMounts":[{"name":"kube-api-access-)" +
         id +
         R"(","readOnly":true,"mountPath":)"
         R"("/var/run/secrets/kubernetes.io/serviceaccount"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":8080,"scheme":)"
         R"("HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":)"
         R"("/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",)"
         R"("terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default",)"
         R"("nodeName":"node-)" +
         id.substr(3) +
         R"(.eu-central-1.compute.internal","securityContext":{},"schedulerName":)"
         R"("default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
         R"("tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",)"
         R"("tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},)"
         R"("status":{"observedGeneration":1,"phase":"Running","conditions":[)" +
         condition("PodReadyToStartContainers") + "," + condition("Initialized") + "," + condition("Ready") + "," +
         condition("ContainersReady") + "," + condition("PodScheduled") + R"(],"hostIP":"10.0.)" + id.substr(4) +
         R"(.7","podIP":"10.244.)" + id.substr(3) + R"(","podIPs":[{"ip":"10.244.)" + id.substr(3) +
         R"("}],"startTime":"2026-11-30T07:44:12Z","containerStatuses":[{"name":)"
         R"("main","state":{"running":{"startedAt":"2026-11-30T07:44:15Z"}},"lastState":{},"ready":true,"restartCount":0,)"
         R"("image":"registry.example.com/shop/checkout:3.14.2","imageID":"registry.example.com/shop/checkout@sha256:)"
         R"(5f0b1c8e0d4a3d1b6f7c9a2e8b4d6f1a3c5e7f9b2d4a6c8e0f1a3b5c7d9e1f3a","containerID":"containerd://)"
         R"(8c1b7e2a9d4f6c3b5a1e8d7f2c4b6a9e)" +
         id + R"(1d3f5b7a9c2e4d6f8b1a3c5e7d","started":true}],"qosClass":"Burstable"}})";
}

TEST_F(CachedCollectionTest, APodTakesLessThanHalfOfItsText) {
  constexpr int kMany = 200;
  budget_ = std::make_shared<CacheBudget>(size_t{1} << 30U);
  std::vector<CachedObject::Ptr> held;
  size_t text = 0;
  for (int number = 0; number < kMany; ++number) {
    const std::string pod = real_pod(number);
    held.push_back(make(CachedScope{"member1", "", "v1", "pods", "Pod", "", true}, pod).value());
    text += held.back()->json(compressor_).value().size();
  }
  RecordProperty("bytes_of_text", static_cast<int>(text / kMany));
  RecordProperty("bytes_held", static_cast<int>(budget_->used() / kMany));
  EXPECT_GT(text / kMany, 3000U);
  EXPECT_LT(budget_->used() / kMany, 1600U) << "of " << text / kMany << " bytes of text";
}

}  // namespace
}  // namespace shiplog::api
