#include "tests/contract/contract.h"

#include <memory>

namespace shiplog::e2e {
namespace {

std::unique_ptr<Fleet> the_fleet;
std::unique_ptr<ApiClient> the_api;

/// Stops the server after the last test, and checks that it was running and stops cleanly.
class ContractServer final : public ::testing::Environment {
 public:
  void TearDown() override {
    if (!the_fleet) return;
    EXPECT_TRUE(the_fleet->process("plane").running()) << "the server has ended";
    EXPECT_EQ(the_fleet->process("plane").terminate(), 0) << "it did not stop cleanly";
    the_api.reset();
    the_fleet.reset();
  }
};
const ::testing::Environment* const kServer = ::testing::AddGlobalTestEnvironment(new ContractServer);

}  // namespace

Fleet& plane() {
  if (!the_fleet) {
    the_fleet = std::make_unique<Fleet>();
    the_fleet->serve();
    the_api = std::make_unique<ApiClient>(the_fleet->kubeconfig("plane"));
    EXPECT_TRUE(eventually([] { return the_api->get("/api/v1/namespaces/default").status == 200; }));
  }
  return *the_fleet;
}

const ApiClient& api() {
  plane();
  return *the_api;
}

Value config_map(const std::string& name, const std::string& data, const std::string& labels) {
  return json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"(","labels":)" + labels +
              R"(},"data":)" + data + "}");
}

Value deployment(const std::string& name, int replicas) {
  return json(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name + R"("},"spec":{"replicas":)" +
      std::to_string(replicas) + R"(,"selector":{"matchLabels":{"app":")" + name +
      R"("}},"template":{"metadata":{"labels":{"app":")" + name +
      R"("}},"spec":{"containers":[{"name":"main","image":"nginx:1.27","env":[{"name":"A","value":"1"}]}]}}}})");
}

void expect_failure(const Answer& answer, int status, const std::string& reason, const std::string& text) {
  EXPECT_EQ(answer.status, status) << answer;
  if (answer.status != status) return;
  EXPECT_EQ(answer.json["kind"].str(), "Status") << answer;
  EXPECT_EQ(answer.json["status"].str(), "Failure") << answer;
  EXPECT_EQ(answer.json["code"].as_int(), status) << answer;
  EXPECT_EQ(answer.reason(), reason) << answer;
  EXPECT_FALSE(answer.message().empty()) << answer;
  EXPECT_NE(answer.message().find(text), std::string::npos) << text << " is not in: " << answer.message();
}

}  // namespace shiplog::e2e
