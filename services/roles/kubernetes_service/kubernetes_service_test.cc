#include "services/roles/kubernetes_service/decide.h"
#include "services/roles/kubernetes_service/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::kubernetes_service {
namespace {

using given::FakeTask;
using given::History;

const ObjectKey kService = kubernetes_service_key();
const ObjectKey kEndpoints{"endpoints", "default", "kubernetes"};
const ObjectKey kSlice{"endpointslices.discovery.k8s.io", "default", "kubernetes"};
const ServerAddress kServer{"10.1.2.3", 7443};

int written(History& history, Addresses addresses, const ServerAddress& server = kServer) {
  return history.settle(
      [&](const State& state, const ObjectKey&, UtcMillis) { return decide(state, server, addresses); }, kService);
}

TEST(KubernetesService, AnAPIServerThatStartsIsNamed) {
  History history;
  EXPECT_EQ(written(history, Addresses::kReplace), 1);
  EXPECT_EQ(history.state().value_of(kService)["spec"]["ports"][0]["targetPort"].as_int(), 7443);
  EXPECT_EQ(history.state().value_of(kEndpoints)["subsets"][0]["addresses"][0]["ip"].str(), "10.1.2.3");
  EXPECT_EQ(written(history, Addresses::kReplace, {"fd00::1", 6443}), 1);
  const Value& slice = history.state().value_of(kSlice);
  EXPECT_EQ(slice["addressType"].str(), "IPv6");
  EXPECT_EQ(slice["endpoints"][0]["addresses"][0].str(), "fd00::1");
  EXPECT_EQ(written(history, Addresses::kReplace, {"fd00::1", 6443}), 0);
}

TEST(KubernetesService, AnotherServersAddressIsKeptUntilNoneIsLeft) {
  History history;
  written(history, Addresses::kReplace);
  EXPECT_EQ(written(history, Addresses::kKeep, {"10.9.9.9", 1}), 0);
  history.edit(kEndpoints, [](Value& endpoints) { endpoints.set("subsets", Value::array()); });
  EXPECT_EQ(written(history, Addresses::kKeep, {"10.9.9.9", 1}), 1);
  EXPECT_EQ(history.state().value_of(kEndpoints)["subsets"][0]["addresses"][0]["ip"].str(), "10.9.9.9");
}

TEST(KubernetesService, WhatIsDeletedIsMadeAgain) {
  History history;
  const auto role = make_kubernetes_service_role([] { return kServer; });
  std::vector<ObjectKey> started;
  role->on_start(history.state(), started);
  EXPECT_TRUE(started.empty()) << "no API server has started";
  written(history, Addresses::kReplace);
  for (const ObjectKey& key : {kService, kEndpoints, kSlice}) {
    EXPECT_EQ(given::woken(*role, history, {ObjectRemoved{key}}), std::vector<ObjectKey>{kService});
    const auto task = std::make_shared<FakeTask>(history, kService);
    role->reconcile(task);
    EXPECT_EQ(task->observed, 1) << "the address is no part of the state";
    EXPECT_NE(history.state().find(key), nullptr);
  }
}

}  // namespace
}  // namespace shiplog::kubernetes_service
