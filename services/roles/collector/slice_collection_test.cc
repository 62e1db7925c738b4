#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/roles/collector/role.h"
#include "services/roles/exported_slices.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

Value json(const std::string& text) { return parse_json(text).value(); }

class SliceCollections : public ::testing::Test {
 protected:
  SliceCollections() {
    stage.add(make_lifecycle_role());
    stage.add(make_collector_role(stage.members()));
    stage.members().member("m1");  // before it is probed
    stage.put(cluster_key("m1"), cluster_object("m1"));
    stage.run(Millis{500});
  }

  static ObjectKey request(const std::string& ns, const std::string& service) {
    return request_key("m1", {ns, service, ExportedBy::kMultiClusterService});
  }
  static Value request_for(const std::string& ns, const std::string& service) {
    return json(R"({"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":")" +
                request(ns, service).name.str() +
                R"(","namespace":"karmada-es-m1"},"spec":{"suspendDispatching":true,"workload":{"manifests":[
        {"apiVersion":"networking.karmada.io/v1alpha1","kind":"MultiClusterService","metadata":{"name":")" +
                service + R"(","namespace":")" + ns + R"("}}]}}})");
  }
  void ask_for(const std::string& ns, const std::string& service) {
    stage.put(request(ns, service), request_for(ns, service));
    stage.run(Millis{3000});
  }
  void has(const std::string& ns, const std::string& name, const std::string& service,
           const std::string& address = "10.1.0.1") {
    member().put({type::kEndpointSlice, ns, name},
                 json(R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns +
                      R"(","labels":{"kubernetes.io/service-name":")" + service +
                      R"("}},"addressType":"IPv4","endpoints":[{"addresses":[")" + address + R"("]}]})"));
  }
  std::string reported(const std::string& ns, const std::string& service) {
    const auto collected = reported_slices(stage.state().value_of(request(ns, service)));
    if (!collected) return "nothing";
    std::string text;
    for (const Value& slice : collected->slices) {
      text += slice["metadata"]["name"].str() + "=" + slice["endpoints"][0]["addresses"][0].str() + " ";
    }
    return text + collected->problem;
  }
  FakeMember& member() { return stage.members().member("m1"); }

  Stage stage;
};

TEST_F(SliceCollections, ReportWhatTheMemberHasAndWhatBecomesOfIt_5_7_6) {
  has("shop", "web-a", "web");
  has("shop", "db-a", "db");
  has("other", "web-a", "web");
  ask_for("shop", "web");
  EXPECT_EQ(reported("shop", "web"), "web-a=10.1.0.1 ") << "of that Service, in that namespace";
  has("shop", "web-b", "web", "10.1.0.2");
  has("shop", "web-a", "web", "10.1.0.3");
  stage.run(Millis{3000});
  EXPECT_EQ(reported("shop", "web"), "web-a=10.1.0.3 web-b=10.1.0.2 ");
  member().erase({type::kEndpointSlice, "shop", "web-a"});
  stage.run(Millis{3000});
  EXPECT_EQ(reported("shop", "web"), "web-b=10.1.0.2 ");
}

TEST_F(SliceCollections, ARequestMadeLaterIsAnsweredAlsoOfAnotherNamespace) {
  has("shop", "web-a", "web");
  has("other", "web-x", "web", "10.1.0.9");
  ask_for("shop", "web");
  ask_for("other", "web");
  EXPECT_EQ(reported("other", "web"), "web-x=10.1.0.9 ");
  EXPECT_EQ(reported("shop", "web"), "web-a=10.1.0.1 ");
}

TEST_F(SliceCollections, OfAServiceWithoutSlicesNothingIsReportedAsSuch) {
  ask_for("shop", "web");
  EXPECT_EQ(reported("shop", "web"), "");
}

TEST_F(SliceCollections, NoMemberIsWatchedForNothing) {
  has("shop", "web-a", "web");
  stage.run(Millis{30'000});
  EXPECT_EQ(stage.count<WorkStatusObserved>(), 0U);
}

TEST_F(SliceCollections, AMemberThatChangesItsSlicesEndlesslyIsReportedOnceASecond) {
  has("shop", "web-a", "web");
  ask_for("shop", "web");
  const size_t before = stage.count<WorkStatusObserved>();
  for (int change = 0; change < 500; ++change) {
    has("shop", "web-a", "web", "10.1.1." + std::to_string(change % 250));
    stage.run(Millis{10});
  }
  EXPECT_LE(stage.count<WorkStatusObserved>() - before, 7U);
  stage.run(Millis{3000});
  EXPECT_EQ(reported("shop", "web"), "web-a=10.1.1.249 ");
}

TEST_F(SliceCollections, AMemberWithVeryManySlicesIsReportedUpToTheLimit) {
  for (int number = 0; number < 5000; ++number) has("shop", "web-" + std::to_string(number), "web");
  ask_for("shop", "web");
  stage.run(Millis{10'000});
  const auto collected = reported_slices(stage.state().value_of(request("shop", "web")));
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->slices.size(), kMostSlicesOfService);
  EXPECT_NE(collected->problem.find("not all EndpointSlices are read"), std::string::npos) << collected->problem;
}

TEST_F(SliceCollections, AServiceThatChangesAllTheTimeDoesNotHoldOthersBack) {
  const auto changes = [&](int round) {
    for (const char* name : {"a1", "a2", "a3", "a4"}) {
      Value slice = json(R"({"metadata":{"namespace":"shop"},"addressType":"IPv4","endpoints":[]})");
      slice.edit("metadata").set("name", std::string{name} + "-x");
      slice.edit("metadata").edit("labels").set("kubernetes.io/service-name", name);
      for (int endpoint = 0; endpoint < 900; ++endpoint) {
        const std::string address = "10." + std::to_string(round % 250) + "." + std::to_string(endpoint / 250) + "." +
                                    std::to_string(endpoint % 250);
        slice.edit("endpoints")
            .push_back(Value::object({{"addresses", Value::array({address})}, {"nodeName", std::string(80, 'n')}}));
      }
      member().put({type::kEndpointSlice, "shop", std::string{name} + "-x"}, slice);
    }
  };
  changes(0);
  has("shop", "web-a", "web");
  for (const char* name : {"a1", "a2", "a3", "a4", "web"}) ask_for("shop", name);
  // Until the burst is used up, and half a minute more.
  for (int round = 1; round < 60; ++round) {
    changes(round);
    stage.run(Millis{1000});
  }
  has("shop", "web-a", "web", "10.2.0.1");
  for (int round = 60; round < 64; ++round) {
    changes(round);
    stage.run(Millis{1000});
  }
  EXPECT_EQ(reported("shop", "web"), "web-a=10.2.0.1 ");
}

TEST_F(SliceCollections, RequestsMadeOneAfterTheOtherAreListedTogether) {
  for (int number = 0; number < 40; ++number)
    has("shop", "s" + std::to_string(number) + "-x", "s" + std::to_string(number));
  for (int number = 0; number < 40; ++number) {
    const std::string name = "s" + std::to_string(number);
    stage.put(request("shop", name), request_for("shop", name));
    stage.run(Millis{100});
  }
  stage.run(Millis{5000});
  EXPECT_EQ(reported("shop", "s39"), "s39-x=10.1.0.1 ");
  EXPECT_LE(stage.members().count("endpointslices?limit"), 5U);
  const size_t lists = stage.members().count("endpointslices?limit");
  for (int number = 0; number < 40; ++number) {
    stage.write({WorkRemoved{request("shop", "s" + std::to_string(number))}});
    stage.run(Millis{100});
  }
  EXPECT_EQ(stage.members().count("endpointslices?limit"), lists) << "what is no longer wanted is dropped";
}

TEST_F(SliceCollections, AMemberThatServesNoneIsNamed) {
  member().unserved.insert(type::kEndpointSlice);
  ask_for("shop", "web");
  EXPECT_EQ(reported("shop", "web"), "the cluster does not serve discovery.k8s.io/v1");
}

TEST_F(SliceCollections, AfterAnOutageOfTheMemberTheyAreThoseItHasThen) {
  has("shop", "web-a", "web");
  ask_for("shop", "web");
  stage.members().set_down("m1", true);
  stage.run(Millis{90'000});
  EXPECT_EQ(reported("shop", "web"), "web-a=10.1.0.1 ") << "what was there stays";
  member().erase({type::kEndpointSlice, "shop", "web-a"});
  has("shop", "web-b", "web", "10.1.0.2");
  stage.members().set_down("m1", false);
  stage.run(Millis{120'000});
  EXPECT_EQ(reported("shop", "web"), "web-b=10.1.0.2 ");
}

}  // namespace
}  // namespace shiplog
