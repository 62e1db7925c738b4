// A control plane that is asked to end while it does much.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "services/http/kubeconfig.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

constexpr size_t kMembers = 300;

std::string name_of(size_t number) { return "m" + std::to_string(number); }

void register_member(const ApiClient& api, const std::string& name, const std::string& kubeconfig) {
  const auto config = read_kubeconfig({kubeconfig});
  ASSERT_TRUE(config) << config.error().message;
  const ClientTarget target = context_of(config.value()).value().target;
  const Value metadata = Value::object({{"name", name}});
  const Value data =
      Value::object({{"token", base64_encode(target.bearer_token)}, {"caBundle", base64_encode(target.ca_pem)}});
  const Answer secret =
      api.post("/api/v1/namespaces/default/secrets", Value::object({{"metadata", metadata}, {"data", data}}));
  ASSERT_EQ(secret.status, 201) << secret;
  const Value reference = Value::object({{"namespace", "default"}, {"name", name}});
  const Value spec = Value::object({{"syncMode", "Push"}, {"apiEndpoint", target.url}, {"secretRef", reference}});
  const Answer cluster =
      api.post("/apis/cluster.karmada.io/v1alpha1/clusters", Value::object({{"metadata", metadata}, {"spec", spec}}));
  ASSERT_EQ(cluster.status, 201) << cluster;
}

/// After a start connections to all members are being made, and requests are under way. What comes back from them when
/// the process has taken itself apart must not find it: the more members, and ends, the surer something would.
TEST(Stop, AtAnyMomentOfReadingItsMembersIsAnEnd) {
  Fleet fleet;
  const std::string folder = fleet.path("many");
  const auto config_of = [&](size_t number) { return folder + "/" + name_of(number) + ".kubeconfig"; };
  const Process many{{SHIPLOGD, "member", "--name=m", "--many=" + std::to_string(kMembers), "--nodes=1", "--pods=1",
                      "--listen=127.0.0.1:0", "--kubeconfig-dir=" + folder},
                     {},
                     fleet.path("many.log")};
  fleet.serve();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(config_of(kMembers)); })) << read_file(many.log());
  {
    const ApiClient api = fleet.api();
    for (size_t number = 1; number <= kMembers; ++number) register_member(api, name_of(number), config_of(number));
  }
  constexpr int kEnds = 12;
  for (int end = 0; end < kEnds; ++end) {
    EXPECT_EQ(fleet.process("plane").terminate(), 0) << fleet.log_tail("plane");
    fleet.serve();
    std::this_thread::sleep_for(std::chrono::milliseconds{20 * end});
  }
}

}  // namespace
}  // namespace shiplog::e2e
