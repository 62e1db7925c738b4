// Real kubectl through clusters/NAME/proxy, to a push member, and to a pull member over the tunnel of its agent. Its
// user has a kubeconfig whose server is the proxy, may use this proxy in the control plane, and has rights in the
// member.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/http/kubeconfig.h"
#include "tests/support/fleet.h"
#include "tests/support/http_peers.h"

namespace shiplog::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  containers:
  - name: main
    image: nginx:1.27
    stdin: true
    ports: [{containerPort: 80}]
)";

std::string colored(const std::string& name, const std::string& color) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\ndata: {color: " + color +
         "}\n";
}

enum class Reached { kDirectly, kThroughTunnel };

class ClientsOfTheProxy : public ::testing::TestWithParam<Reached> {
 protected:
  void SetUp() override {
    fleet_.serve();
    if (GetParam() == Reached::kDirectly) {
      fleet_.join("m1");
    } else {
      fleet_.join_pull("m1", {kLeadsNowhere});
    }
    give_access();
    fleet_.kubectl_ok({"apply", "-f", "-"}, kPod, "m1");
    fleet_.kubectl_ok({"wait", "--for=condition=Ready", "pod/web", "--timeout=60s"}, "", "m1");
  }

  /// Makes the user and the kubeconfig of the proxy, "proxy.kubeconfig", and waits until the member knows the user.
  void give_access() {
    const std::string account = "--serviceaccount=default:robot";
    fleet_.kubectl_ok({"create", "serviceaccount", "robot"});
    fleet_.kubectl_ok({"create", "clusterrole", "reach-m1", "--verb=*", "--resource=clusters.cluster.karmada.io/proxy",
                       "--resource-name=m1"});
    // The member's impersonator may act as the subjects: a service account is passed on with its groups.
    fleet_.kubectl_ok({"create", "clusterrolebinding", "reach-m1", "--clusterrole=reach-m1", account,
                       "--group=system:serviceaccounts", "--group=system:serviceaccounts:default"});
    fleet_.kubectl_ok({"create", "rolebinding", "robot", "--clusterrole=admin", account, "-n", "default"}, "", "m1");
    ClientTarget target = context_of(read_kubeconfig({fleet_.kubeconfig("plane")}).value()).value().target;
    target.url += "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy";
    target.certificate_pem.clear();
    target.key_pem.clear();
    const std::string token = fleet_.kubectl_ok({"create", "token", "robot"});
    target.bearer_token = token.substr(0, token.find('\n'));
    ASSERT_TRUE(write_kubeconfig(fleet_.kubeconfig("proxy"), "proxy", target));
    Ran last;
    ASSERT_TRUE(eventually([&] {
      last = through({"get", "configmaps"});
      return last.ok();
    })) << last;
  }

  static Environment over(const std::string& protocol) {
    const char* websocket = protocol == "WebSocket" ? "true" : "false";
    return {{"KUBECTL_REMOTE_COMMAND_WEBSOCKETS", websocket}, {"KUBECTL_PORT_FORWARD_WEBSOCKETS", websocket}};
  }
  Ran through(std::vector<std::string> words, const std::string& input = {}, const Environment& extra = {}) {
    return fleet_.kubectl(std::move(words), input, "proxy", extra);
  }
  Process& beside(std::vector<std::string> words, const Environment& extra = {}) {
    return fleet_.kubectl_beside(std::move(words), "proxy", extra);
  }
  static bool comes(const Process& process, const std::string& words) {
    return eventually([&] { return read_file(process.log()).find(words) != std::string::npos; });
  }

  /// An address that an agent reports for its member, so that there is no way to it but the tunnel. The certificate is
  /// for this name.
  static constexpr const char* kLeadsNowhere = "--cluster-api-endpoint=https://localhost:1";

  Fleet fleet_;
};

INSTANTIATE_TEST_SUITE_P(Reach, ClientsOfTheProxy, ::testing::Values(Reached::kDirectly, Reached::kThroughTunnel),
                         [](const auto& tested) {
                           return tested.param == Reached::kDirectly ? "APushMember" : "APullMember";
                         });

TEST_P(ClientsOfTheProxy, AWatchShowsWhatIsMadeChangedAndDeleted) {
  fleet_.kubectl_ok({"apply", "-f", "-"}, colored("before", "red"), "m1");
  Process& watch = beside({"get", "configmaps", "--watch", "--output-watch-events", "-o",
                           R"(jsonpath={.type} {.object.metadata.name} {.object.data.color}{"\n"})"});
  ASSERT_TRUE(comes(watch, "ADDED before red\n")) << read_file(watch.log());
  fleet_.kubectl_ok({"apply", "-f", "-"}, colored("one", "red"), "m1");
  EXPECT_TRUE(comes(watch, "ADDED one red\n")) << read_file(watch.log());
  EXPECT_TRUE(through({"patch", "configmap", "one", "-p", R"({"data":{"color":"blue"}})"}).ok());
  EXPECT_TRUE(comes(watch, "MODIFIED one blue\n")) << read_file(watch.log());
  EXPECT_TRUE(through({"delete", "configmap", "one"}).ok());
  EXPECT_TRUE(comes(watch, "DELETED one blue\n")) << read_file(watch.log());
  EXPECT_TRUE(watch.running());
}

TEST_P(ClientsOfTheProxy, ServerSideApplyKnowsTheOwnersOfFields) {
  Ran ran = through({"apply", "--server-side", "--field-manager=painter", "-f", "-"}, colored("house", "red"));
  EXPECT_TRUE(ran.says("configmap/house serverside-applied")) << ran;
  ran = through({"apply", "--server-side", "--field-manager=sculptor", "-f", "-"}, colored("house", "blue"));
  EXPECT_FALSE(ran.ok());
  EXPECT_THAT(ran.err, AllOf(HasSubstr("conflict with \"painter\""), HasSubstr(".data.color")));
  ran = through({"apply", "--server-side", "--field-manager=sculptor", "--force-conflicts", "-f", "-"},
                colored("house", "blue"));
  EXPECT_TRUE(ran.ok()) << ran;
  const auto in_member = [&](const char* path) {
    return fleet_.kubectl_ok({"get", "configmap", "house", "-o", std::string{"jsonpath="} + path}, "", "m1");
  };
  EXPECT_EQ(in_member("{.data.color}"), "blue");
  EXPECT_THAT(in_member("{.metadata.managedFields[*].manager}"), HasSubstr("sculptor"));
  EXPECT_EQ(fleet_.api().get("/api/v1/namespaces/default/configmaps/house").status, 404) << "it is the member's only";
}

TEST_P(ClientsOfTheProxy, ExecAndAttachCarryInputOutputAndExitCodes) {
  for (const char* protocol : {"WebSocket", "SPDY"}) {
    SCOPED_TRACE(protocol);
    const Environment transport = over(protocol);
    Ran ran = through({"exec", "web", "--", "echo", "hello"}, "", transport);
    EXPECT_TRUE(ran.ok()) << ran;
    EXPECT_EQ(ran.out, "hello\n");
    ran = through({"exec", "-i", "web", "--", "cat"}, std::string(300'000, 'x') + "end", transport);
    EXPECT_TRUE(ran.ok()) << ran.err;
    EXPECT_EQ(ran.out.size(), 300'003U);
    EXPECT_TRUE(ran.out.ends_with("xend"));
    ran = through({"exec", "web", "--", "sh", "-c", "echo out; echo problem >&2; exit 42"}, "", transport);
    EXPECT_EQ(ran.code, 42) << ran;
    EXPECT_EQ(ran.out, "out\n");
    EXPECT_THAT(ran.err, HasSubstr("problem\n"));
    ran = through({"attach", "-i", "web"}, "hostname\n", transport);
    EXPECT_TRUE(ran.ok()) << ran;
    EXPECT_THAT(ran.out, HasSubstr("web\n"));
  }
}

TEST_P(ClientsOfTheProxy, FollowedLogsArriveAsTheyAreWrittenAndEndWithThePod) {
  Process& follow = beside({"logs", "-f", "web"});
  EXPECT_TRUE(comes(follow, "container started")) << read_file(follow.log());
  EXPECT_TRUE(comes(follow, "heartbeat")) << "a line that was written after the start";
  EXPECT_TRUE(follow.running());
  EXPECT_TRUE(through({"delete", "pod", "web"}).ok());
  EXPECT_TRUE(eventually([&] { return !follow.running(); }));
}

TEST_P(ClientsOfTheProxy, CpGoesBothWays) {
  const std::string folder = fleet_.path("folder");
  std::filesystem::create_directories(folder + "/below");
  std::string binary;
  for (int index = 0; index < 300'000; ++index) binary += static_cast<char>(index * 7 + index / 256);
  write_file(folder + "/below/binary", binary);
  write_file(folder + "/text", "some text\n");
  Ran ran = through({"cp", folder, "web:/tmp/copy"});
  EXPECT_TRUE(ran.ok()) << ran;
  EXPECT_THAT(through({"exec", "web", "--", "ls", "/tmp/copy", "/tmp/copy/below"}).out, HasSubstr("binary"));
  ran = through({"cp", "web:/tmp/copy", fleet_.path("back")});
  EXPECT_TRUE(ran.ok()) << ran;
  EXPECT_EQ(read_file(fleet_.path("back") + "/text"), "some text\n");
  EXPECT_TRUE(read_file(fleet_.path("back") + "/below/binary") == binary);
}

TEST_P(ClientsOfTheProxy, ForwardedPortsAnswer) {
  for (const char* protocol : {"WebSocket", "SPDY"}) {
    SCOPED_TRACE(protocol);
    Process& forward = beside({"port-forward", "pod/web", ":80"}, over(protocol));
    ASSERT_TRUE(comes(forward, " -> 80\n")) << read_file(forward.log());
    const std::string log = read_file(forward.log());
    const size_t end = log.find(" -> 80\n");
    const auto port = static_cast<uint16_t>(std::stoi(log.substr(log.rfind(':', end) + 1)));
    for (int count = 0; count < 3; ++count) {
      testing::RawClient client{port};
      ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: web\r\n\r\n"));
      EXPECT_THAT(client.read_until("port 80\n"), HasSubstr("pod default/web on node m1-node-"));
    }
    forward.kill();
  }
}

TEST_P(ClientsOfTheProxy, TheMemberRefusesWhatTheUserMayNotDoThere) {
  const Ran refused = through({"get", "secrets", "-n", "kube-system"});
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.err, HasSubstr("User \"system:serviceaccount:default:robot\" cannot list resource \"secrets\""));
  EXPECT_TRUE(eventually([&] {
    return fleet_.shiplogctl({"audit", "--refused", "--user", "system:serviceaccount:default:robot"})
        .says("the member answered GET /api/v1/namespaces/kube-system/secrets with HTTP status 403");
  })) << "a refused read is in the audit trail, too";
}

class ClientsOfATunnel : public ClientsOfTheProxy {};

INSTANTIATE_TEST_SUITE_P(Reach, ClientsOfATunnel, ::testing::Values(Reached::kThroughTunnel),
                         [](const auto&) { return "APullMember"; });

TEST_P(ClientsOfATunnel, AnAgentThatDiesEndsItsStreamsAndItsSuccessorServesNewOnes) {
  Process& sleeping = beside({"exec", "web", "--", "sh", "-c", "echo begun; sleep 10000"});
  ASSERT_TRUE(comes(sleeping, "begun")) << read_file(sleeping.log());
  fleet_.kill("agent-m1");
  EXPECT_TRUE(eventually([&] { return !sleeping.running(); }));
  const Ran unreached = through({"exec", "web", "--", "echo", "hello"});
  EXPECT_FALSE(unreached.ok());
  EXPECT_THAT(unreached.err, AllOf(HasSubstr("cluster m1 cannot be reached"), Not(HasSubstr("hello"))));
  fleet_.agent("m1", {kLeadsNowhere});
  EXPECT_TRUE(eventually([&] {
    return through({"exec", "web", "--", "echo", "hello"}).out == "hello\n";
  })) << fleet_.log_tail("agent-m1");
}

}  // namespace
}  // namespace shiplog::e2e
