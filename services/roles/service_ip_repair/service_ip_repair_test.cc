#include "services/roles/service_ip_repair/decide.h"
#include "services/roles/service_ip_repair/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::service_ip_repair {
namespace {

using given::FakeTask;
using given::History;

const ObjectKey kOld{type::kService, "default", "old"};
const ObjectKey kNew{type::kService, "default", "new"};
const ObjectKey kExternal{type::kService, "default", "external"};

Result<Value> with_ip(const ObjectKey&, const Value& service) {
  Value allocated = service;
  allocated.edit("spec").set("clusterIP", "10.96.0.9");
  return allocated;
}

History services() {
  History history;
  history.object(kOld, R"({"spec":{"type":"ClusterIP"}})")
      .object(kNew, R"({"spec":{"type":"ClusterIP","clusterIP":"10.96.0.2"}})")
      .object(kExternal, R"({"spec":{"type":"ExternalName"}})");
  return history;
}

TEST(ServiceIpRepair, ServicesOfAnOlderJournalGetTheAddressThatTheyLack) {
  History history = services();
  const auto role = make_service_ip_repair_role(with_ip);
  std::vector<ObjectKey> started;
  role->on_start(history.state(), started);
  EXPECT_EQ(started, std::vector<ObjectKey>{kOld});
  const auto task = std::make_shared<FakeTask>(history, kOld);
  role->reconcile(task);
  EXPECT_EQ(task->observed, 1) << "the address is drawn at random";
  EXPECT_EQ(history.state().value_of(kOld)["spec"]["clusterIP"].str(), "10.96.0.9");
  EXPECT_TRUE(std::holds_alternative<Nothing>(decide(history.state(), kOld, with_ip).value()));
}

TEST(ServiceIpRepair, AnAddressOfAServiceThatHasOneStays) {
  History history = services();
  EXPECT_TRUE(std::holds_alternative<Nothing>(decide(history.state(), kNew, with_ip).value()));
  EXPECT_TRUE(std::holds_alternative<Nothing>(decide(history.state(), kExternal, with_ip).value()));
  EXPECT_TRUE(std::holds_alternative<Nothing>(decide(history.state(), {type::kService, "a", "b"}, with_ip).value()));
}

TEST(ServiceIpRepair, AServiceThatWasChangedMeanwhileIsDecidedAgainAndWrittenOnce) {
  History history = services();
  const auto role = make_service_ip_repair_role(with_ip);
  const auto task = std::make_shared<FakeTask>(history, kOld);
  task->before_append = [&] {
    history.edit(kOld, [](Value& service) { service.edit("spec").set("clusterIP", "10.96.0.3"); });
  };
  role->reconcile(task);
  EXPECT_EQ(task->folded.size(), 1U);
  EXPECT_EQ(history.state().value_of(kOld)["spec"]["clusterIP"].str(), "10.96.0.3");
}

TEST(ServiceIpRepair, AFullRangeIsAnErrorThatIsRetried) {
  History history = services();
  const auto role = make_service_ip_repair_role([](const ObjectKey&, const Value&) -> Result<Value> {
    return Error{ErrorCode::kInternal, "the range is full"};
  });
  const auto task = std::make_shared<FakeTask>(history, kOld);
  role->reconcile(task);
  ASSERT_TRUE(task->failure.has_value());
  EXPECT_EQ(task->failure->message, "the range is full");
}

}  // namespace
}  // namespace shiplog::service_ip_repair
