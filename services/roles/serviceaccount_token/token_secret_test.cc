#include "services/roles/serviceaccount_token/decide.h"
#include "services/roles/serviceaccount_token/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::serviceaccount_token {
namespace {

using given::History;
using given::json;

const ObjectKey kAccount{kServiceAccounts, "default", "robot"};
const ObjectKey kToken{type::kSecret, "default", "robot-token"};
constexpr const char* kTokenText = R"({"type":"kubernetes.io/service-account-token",
    "metadata":{"annotations":{"kubernetes.io/service-account.name":"robot"}}})";

TEST(ServiceAccountToken, ASecretStaysWithItsAccountAndGoesWithIt) {
  History history;
  history.object(kAccount, "{}").object(kToken, kTokenText);
  EXPECT_EQ(history.settle(decide, kToken), 0);
  const auto role = make_serviceaccount_token_role();
  EXPECT_EQ(given::woken(*role, history, {DeletionRequested{kAccount}}), std::vector<ObjectKey>{kToken});
  EXPECT_EQ(history.settle(decide, kToken), 1);
  EXPECT_EQ(history.state().find(kToken), nullptr);
}

TEST(ServiceAccountToken, ASecretOfAnAccountThatWasNeverThereGoes) {
  History history;
  const auto role = make_serviceaccount_token_role();
  EXPECT_EQ(given::woken(*role, history, {ObjectCreated{kToken, History::named(kToken, json(kTokenText))}}),
            std::vector<ObjectKey>{kToken});
  EXPECT_EQ(history.settle(decide, kToken), 1);
}

TEST(ServiceAccountToken, ANewAccountOfTheSameNameDoesNotInheritTheToken) {
  History history;
  history.object(kAccount, "{}").object(kToken, kTokenText);
  history.edit(kToken, [&](Value& secret) {
    secret.edit("metadata").edit("annotations").set(kUidAnnotation, uid_of(history.state().value_of(kAccount)));
  });
  EXPECT_EQ(history.settle(decide, kToken), 0);
  history.remove(kAccount).object(kAccount, "{}");
  EXPECT_EQ(history.settle(decide, kToken), 1);
}

TEST(ServiceAccountToken, OtherSecretsAreLeftAlone) {
  History history;
  history.object(kToken, R"({"type":"Opaque","metadata":{"annotations":{"kubernetes.io/service-account.name":"x"}}})");
  EXPECT_EQ(history.settle(decide, kToken), 0);
  const auto role = make_serviceaccount_token_role();
  std::vector<ObjectKey> started;
  role->on_start(history.state(), started);
  EXPECT_TRUE(started.empty());
}

}  // namespace
}  // namespace shiplog::serviceaccount_token
