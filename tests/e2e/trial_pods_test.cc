// The pods of a trial member with the kubectl that users have: logs, exec, attach, cp, port-forward and top, over
// WebSocket and over SPDY.
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/support/fleet.h"
#include "tests/support/http_peers.h"

namespace shiplog::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kPods = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: green}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - name: main
    image: nginx:1.27
    stdin: true
    ports: [{containerPort: 80}]
    env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}]
    volumeMounts: [{name: settings, mountPath: /etc/settings}]
    resources: {requests: {cpu: 200m, memory: 128Mi}}
  volumes: [{name: settings, configMap: {name: settings}}]
---
apiVersion: v1
kind: Pod
metadata: {name: pair, labels: {app: pair}}
spec: {containers: [{name: a, image: nginx}, {name: b, image: "fail/image"}]}
)";

/// What newer kubectl does by default, and what older ones do.
enum class StreamProtocol { kWebSocket, kSpdy };

class TrialPods : public ::testing::TestWithParam<StreamProtocol> {
 protected:
  TrialPods() {
    fleet_.member("edge");
    fleet_.kubectl_ok({"apply", "-f", "-"}, kPods, "edge");
    fleet_.kubectl_ok({"wait", "--for=condition=Ready", "pod/web", "--timeout=60s"}, "", "edge");
    // A container that fails never makes its pod ready.
    EXPECT_TRUE(eventually([&] {
      return fleet_.kubectl({"get", "pod", "pair", "-o", "jsonpath={.status.containerStatuses[1].state}"}, "", "edge")
          .says("ImagePullBackOff");
    }));
  }

  Environment transport() const {
    const char* websocket = GetParam() == StreamProtocol::kWebSocket ? "true" : "false";
    return {{"KUBECTL_REMOTE_COMMAND_WEBSOCKETS", websocket}, {"KUBECTL_PORT_FORWARD_WEBSOCKETS", websocket}};
  }
  Ran kubectl(std::vector<std::string> words, const std::string& input = {}) {
    return fleet_.kubectl(std::move(words), input, "edge", transport());
  }
  Process& beside(std::vector<std::string> words) {
    return fleet_.kubectl_beside(std::move(words), "edge", transport());
  }

  Fleet fleet_;
};

INSTANTIATE_TEST_SUITE_P(Over, TrialPods, ::testing::Values(StreamProtocol::kWebSocket, StreamProtocol::kSpdy),
                         [](const auto& tested) {
                           return tested.param == StreamProtocol::kSpdy ? "Spdy" : "WebSocket";
                         });

TEST_P(TrialPods, ExecCarriesInputOutputAndExitCodes) {
  Ran ran = kubectl({"exec", "web", "--", "echo", "hello"});
  EXPECT_TRUE(ran.ok()) << ran;
  EXPECT_EQ(ran.out, "hello\n");
  ran = kubectl({"exec", "-i", "web", "--", "cat"}, std::string(200'000, 'x') + "end");
  EXPECT_TRUE(ran.ok()) << ran.err;
  EXPECT_EQ(ran.out.size(), 200'003U);
  EXPECT_TRUE(ran.out.ends_with("xend"));
  ran = kubectl({"exec", "web", "--", "sh", "-c", "echo out; echo problem >&2; ls /none; exit 42"});
  EXPECT_EQ(ran.code, 42) << ran;
  EXPECT_THAT(ran.out, StartsWith("out\n"));
  EXPECT_THAT(ran.err, HasSubstr("problem\nls: /none: No such file or directory"));
  EXPECT_THAT(ran.err, HasSubstr("exit code 42"));
  ran = kubectl({"exec", "web", "--", "sh", "-c", "echo $COLOR; cat /etc/settings/color; hostname"});
  EXPECT_EQ(ran.out, "green\ngreenweb\n");
  ran = kubectl({"exec", "web", "--", "vim"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("\"vim\": executable file not found"));
  ran = kubectl({"exec", "pair", "-c", "b", "--", "ls"});
  EXPECT_THAT(ran.err, HasSubstr("container not found (\"b\")"));
  ran = kubectl({"exec", "deployment/none", "--", "ls"});
  EXPECT_THAT(ran.err, HasSubstr("not found"));
}

TEST_P(TrialPods, ATerminalHasAPromptAndEcho) {
  const std::string exec = "kubectl --cache-dir=" + fleet_.path("cache-edge") + " exec -it web -- sh";
  Environment environment = transport();
  environment["HOME"] = fleet_.path("home");
  environment["KUBECONFIG"] = fleet_.kubeconfig("edge");
  const Ran ran = run({"script", "-qec", exec, "/dev/null"}, environment, "cd /etc\nhostname\nexit 7\n", kPatience);
  EXPECT_EQ(ran.code, 7) << ran;
  EXPECT_THAT(ran.out, HasSubstr("/ # "));
  EXPECT_THAT(ran.out, HasSubstr("/etc # "));
  EXPECT_THAT(ran.out, HasSubstr("web\r\n"));
}

TEST_P(TrialPods, AttachReachesTheContainersCommand) {
  const Ran ran = kubectl({"attach", "-i", "web"}, "hostname\n");
  EXPECT_TRUE(ran.ok()) << ran;
  EXPECT_THAT(ran.out, HasSubstr("web\n"));
}

TEST_P(TrialPods, CpGoesBothWays) {
  namespace fs = std::filesystem;
  const std::string folder = fleet_.path("folder");
  fs::create_directories(folder + "/below");
  std::string binary;
  for (int index = 0; index < 300'000; ++index) binary += static_cast<char>(index * 7 + index / 256);
  write_file(folder + "/below/binary", binary);
  write_file(folder + "/text", "some text\n");
  Ran ran = kubectl({"cp", folder, "web:/tmp/copy"});
  EXPECT_TRUE(ran.ok()) << ran;
  ran = kubectl({"exec", "web", "--", "ls", "/tmp/copy", "/tmp/copy/below"});
  EXPECT_THAT(ran.out, HasSubstr("binary"));
  ran = kubectl({"cp", "web:/tmp/copy", fleet_.path("back")});
  EXPECT_TRUE(ran.ok()) << ran;
  EXPECT_EQ(read_file(fleet_.path("back") + "/text"), "some text\n");
  EXPECT_TRUE(read_file(fleet_.path("back") + "/below/binary") == binary);
  write_file(fleet_.path("large"), std::string(9 << 20, 'x'));
  ran = kubectl({"cp", fleet_.path("large"), "web:/tmp/large"});
  EXPECT_FALSE(ran.ok());
  EXPECT_THAT(ran.err, HasSubstr("No space left on device"));
}

TEST_P(TrialPods, ForwardedPortsAnswer) {
  Process& forward = beside({"port-forward", "pod/web", ":80", ":81"});
  const auto local_port = [&](const char* remote) {
    const std::string log = read_file(forward.log());
    const size_t end = log.find(std::string{" -> "} + remote + "\n");
    if (end == std::string::npos) return 0;
    return std::stoi(log.substr(log.rfind(':', end) + 1));
  };
  ASSERT_TRUE(eventually([&] { return local_port("81") != 0; })) << read_file(forward.log());
  for (int count = 0; count < 3; ++count) {
    testing::RawClient client{static_cast<uint16_t>(local_port("80"))};
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: web\r\n\r\n"));
    EXPECT_THAT(client.read_until("port 80\n"), HasSubstr("pod default/web on node edge-node-"));
  }
  testing::RawClient client{static_cast<uint16_t>(local_port("81"))};
  EXPECT_TRUE(client.send("GET / HTTP/1.1\r\nHost: web\r\n\r\n"));
  EXPECT_TRUE(eventually([&] { return read_file(forward.log()).find("connection refused") != std::string::npos; }))
      << read_file(forward.log());
}

TEST_P(TrialPods, OnlyThoseWhoMayCreateAnExecRunCommands) {
  fleet_.kubectl_ok({"create", "role", "reader", "--verb=get,list", "--resource=pods,pods/exec,pods/log"}, "", "edge");
  fleet_.kubectl_ok({"create", "rolebinding", "reader", "--role=reader", "--user=alice"}, "", "edge");
  EXPECT_TRUE(eventually([&] { return kubectl({"--as=alice", "logs", "web"}).ok(); }));
  Ran ran = kubectl({"--as=alice", "exec", "web", "--", "ls"});
  EXPECT_FALSE(ran.ok());
  EXPECT_THAT(ran.err, HasSubstr("cannot create resource \"pods/exec\""));
  ran = kubectl({"--as=bob", "logs", "web"});
  EXPECT_THAT(ran.err, HasSubstr("forbidden"));
  fleet_.kubectl_ok({"create", "role", "runner", "--verb=create", "--resource=pods/exec"}, "", "edge");
  fleet_.kubectl_ok({"create", "rolebinding", "runner", "--role=runner", "--user=alice"}, "", "edge");
  EXPECT_TRUE(eventually([&] { return kubectl({"--as=alice", "exec", "web", "--", "echo", "ran"}).ok(); }));
}

class TrialLogs : public TrialPods {};
INSTANTIATE_TEST_SUITE_P(Once, TrialLogs, ::testing::Values(StreamProtocol::kWebSocket));

TEST_P(TrialLogs, TakeAllFlags) {
  Ran ran = kubectl({"logs", "web"});
  EXPECT_TRUE(ran.ok()) << ran;
  EXPECT_THAT(ran.out, StartsWith("level=info msg=\"container started\" container=main image=nginx:1.27"));
  EXPECT_THAT(kubectl({"logs", "web", "--timestamps", "--tail=1"}).out, StartsWith("20"));
  EXPECT_EQ(kubectl({"logs", "web", "--tail=0"}).out, "");
  EXPECT_EQ(kubectl({"logs", "web", "--limit-bytes=10"}).out, "level=info");
  EXPECT_EQ(kubectl({"logs", "web", "--since-time=2100-01-01T00:00:00Z"}).out, "");
  EXPECT_THAT(kubectl({"logs", "web", "--since=1h"}).out, HasSubstr("container started"));
  EXPECT_THAT(kubectl({"logs", "-l", "app=web", "--prefix"}).out, HasSubstr("[pod/web/main]"));
  EXPECT_THAT(kubectl({"logs", "web", "--previous"}).err,
              HasSubstr("previous terminated container \"main\" in pod \"web\" not found"));
  EXPECT_THAT(kubectl({"logs", "pair", "-c", "b"}).err,
              HasSubstr("is waiting to start: trying and failing to pull image"));
  const ApiClient api = fleet_.api("edge");
  const std::string logs = "/api/v1/namespaces/default/pods/pair/log";
  Answer answer = api.get(logs);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.message(), "a container name must be specified for pod pair, choose one of: [a b]");
  answer = api.get(logs + "?container=z");
  EXPECT_EQ(answer.message(), "container z is not valid for pod pair");
  EXPECT_EQ(api.get(logs + "?container=a&tailLines=-1").status, 422);
  EXPECT_EQ(api.get("/api/v1/namespaces/default/pods/none/log").status, 404);
  EXPECT_EQ(api.call("POST", logs).status, 405);
  EXPECT_EQ(api.get("/api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true").message(),
            "Upgrade request required");
}

TEST_P(TrialLogs, FollowedLogsEndWithThePod) {
  Process& follow = beside({"logs", "-f", "web"});
  EXPECT_TRUE(eventually([&] { return read_file(follow.log()).find("heartbeat") != std::string::npos; }))
      << "a line that was written after the start";
  EXPECT_TRUE(follow.running());
  fleet_.kubectl_ok({"delete", "pod", "web"}, "", "edge");
  EXPECT_TRUE(eventually([&] { return !follow.running(); }));
}

TEST_P(TrialLogs, CommandsEndWithThePod) {
  Process& sleeping = beside({"exec", "web", "--", "sleep", "10000"});
  EXPECT_TRUE(sleeping.running());
  fleet_.kubectl_ok({"exec", "web", "--", "sh", "-c", "echo kept > /tmp/file"}, "", "edge");
  fleet_.kubectl_ok({"delete", "pod", "web"}, "", "edge");
  EXPECT_TRUE(eventually([&] { return !sleeping.running(); }));
  fleet_.kubectl_ok({"apply", "-f", "-"}, kPods, "edge");
  fleet_.kubectl_ok({"wait", "--for=condition=Ready", "pod/web", "--timeout=60s"}, "", "edge");
  EXPECT_THAT(kubectl({"exec", "web", "--", "ls", "/tmp"}).out, Not(HasSubstr("file")))
      << "another pod has other files";
}

TEST_P(TrialLogs, TopShowsWhatPodsAndNodesUse) {
  EXPECT_THAT(kubectl({"top", "pod"}).out, HasSubstr("web"));
  EXPECT_THAT(kubectl({"top", "pod", "--containers", "--sort-by=cpu"}).out, HasSubstr("main"));
  EXPECT_THAT(kubectl({"top", "pod", "--sum", "--no-headers", "--use-protocol-buffers=true"}).out, HasSubstr("m"));
  EXPECT_THAT(kubectl({"top", "pod", "-l", "app=web", "--no-headers"}).out, MatchesRegex("web +[0-9]+m +[0-9]+Mi *\n"));
  EXPECT_THAT(kubectl({"top", "pod", "-A", "--sort-by=memory"}).out, HasSubstr("default"));
  const Ran nodes = kubectl({"top", "node", "--sort-by=memory"});
  EXPECT_TRUE(nodes.ok()) << nodes;
  EXPECT_THAT(nodes.out, HasSubstr("edge-node-1"));
  EXPECT_THAT(kubectl({"get", "apiservice", "v1beta1.metrics.k8s.io"}).out, HasSubstr("True"));
  const ApiClient api = fleet_.api("edge");
  const std::string metrics = "/apis/metrics.k8s.io/v1beta1";
  EXPECT_EQ(api.get(metrics + "/namespaces/default/pods/web").json["containers"][0]["name"].as_string(), "main");
  EXPECT_EQ(api.get(metrics + "/namespaces/default/pods/none").json["message"].as_string(), "pods \"none\" not found");
  EXPECT_EQ(api.get(metrics + "/nodes/none").json["message"].as_string(), "nodes \"none\" not found");
  EXPECT_EQ(api.get(metrics + "/pods?labelSelector=app%3Dnone").json["items"].size(), 0U);
  EXPECT_EQ(api.get(metrics + "/pods?fieldSelector=metadata.name%3Dweb").json["items"].size(), 1U);
  EXPECT_EQ(api.get(metrics + "/nodes?watch=true").status, 405);
  EXPECT_EQ(api.call("DELETE", metrics + "/nodes").status, 405);
}

}  // namespace
}  // namespace shiplog::e2e
