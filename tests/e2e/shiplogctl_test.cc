// The everyday commands of shiplogctl: workloads by cluster, problems, permissions, output formats.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/manifests.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kTemplates = deployment_manifest("web", 4) + deployment_manifest("broken", 1, "fail/nginx") +
                               deployment_manifest("nowhere") + deployment_manifest("forgotten") + R"(apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors:
    - {apiVersion: apps/v1, kind: Deployment, name: web}
    - {apiVersion: apps/v1, kind: Deployment, name: broken}
    - {apiVersion: v1, kind: ConfigMap, name: settings}
  placement: {clusterAffinity: {clusterNames: [member1]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: nowhere}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: nowhere}]
  placement: {clusterAffinity: {clusterNames: [elsewhere]}}
)";

bool all_shells_required() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string{ci} == "true";
}

class Shiplogctl : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.join("member1");
  }
  void apply() { fleet_.kubectl_ok({"apply", "-f", "-"}, kTemplates); }
  Ran ctl(std::vector<std::string> arguments) { return fleet_.shiplogctl(std::move(arguments)); }
  std::string ctl_ok(std::vector<std::string> arguments) { return fleet_.shiplogctl_ok(std::move(arguments)); }
  bool eventually_prints(const std::vector<std::string>& arguments, const std::string& text) {
    return eventually([&] {
      const Ran ran = ctl(arguments);
      return ran.ok() && ran.out.find(text) != std::string::npos;
    });
  }
  /// Items of a JSON document whose field has this value.
  static std::vector<Value> items(const Value& document, const std::string& field, const std::string& value) {
    std::vector<Value> found;
    for (const Value& item : document["items"].items()) {
      if (item[field].as_string() == value) found.push_back(item);
    }
    return found;
  }
  /// Runs shell commands with the programs on the PATH.
  Ran shell(const std::string& name, const std::string& script) {
    const std::vector<std::string> command = name == "zsh" ? std::vector<std::string>{"zsh", "-f", "-c", script}
                                                           : std::vector<std::string>{name, "-c", script};
    return run(command,
               {{"HOME", fleet_.path("home")},
                {"KUBECONFIG", fleet_.kubeconfig("plane")},
                {"PATH", SHIPLOG_BUILT ":" + std::string{std::getenv("PATH")}}},
               "", kPatience);
  }

  Fleet fleet_;
};

TEST_F(Shiplogctl, GetWorkloadsListsReplicasByCluster) {
  apply();
  const auto row = [&] {
    const Value document = json(ctl_ok({"get", "workloads", "--cluster", "member1", "-o", "json"}));
    const auto found = items(document, "name", "web");
    return found.size() == 1 ? found.front() : Value{};
  };
  EXPECT_TRUE(eventually([&] { return row()["ready"].as_int() == 4 && row()["health"].as_string() == "Healthy"; }))
      << to_json(row());
  EXPECT_EQ(row()["replicas"].as_int(), 4);
  EXPECT_EQ(row()["cluster"].str(), "member1");
  EXPECT_TRUE(row()["applied"].as_bool());
  EXPECT_TRUE(row()["since"].is_string());

  const Value all = json(ctl_ok({"get", "workloads", "-o", "json"}));
  EXPECT_EQ(items(all, "kind", "ConfigMap").size(), 0U) << "it runs no pods";
  ASSERT_EQ(items(all, "name", "nowhere").size(), 1U);
  EXPECT_EQ(items(all, "name", "nowhere").front()["note"].str(), "unscheduled");
  EXPECT_EQ(items(json(ctl_ok({"get", "workloads", "--all-kinds", "-A", "-o", "json"})), "name", "settings").size(),
            1U);
  EXPECT_EQ(items(json(ctl_ok({"get", "workloads", "-n", "kube-system", "-o", "json"})), "name", "web").size(), 0U);

  EXPECT_NE(ctl_ok({"get", "workloads"}).find("4/4"), std::string::npos);
  EXPECT_NE(ctl_ok({"get", "workloads", "-o", "name"}).find("deployment.apps/web\n"), std::string::npos);
  const Ran unknown = ctl({"get", "workloads", "--cluster", "membre1"});
  EXPECT_EQ(unknown.code, 1) << unknown;
  EXPECT_TRUE(unknown.says("not found")) << unknown;
}

TEST_F(Shiplogctl, StatusListsWhatNeedsAttentionAndTheCommandToRunNext) {
  ASSERT_TRUE(eventually_prints({"status"}, "have a leader"))
      << "which roles are led is not known in the first seconds";
  EXPECT_TRUE(eventually_prints({"status"}, "nothing needs attention")) << ctl({"status"});
  apply();
  fleet_.kubectl_ok({"create", "deployment", "held", "--image=nginx:1.27"});
  fleet_.kubectl_ok({"apply", "-f", "-"}, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: held}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: held}]
  suspension: {dispatching: true}
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  const auto state_of = [&](const std::string& name) -> std::string {
    const auto found = items(json(ctl_ok({"status", "-o", "json"})), "name", name);
    return found.empty() ? "" : found.front()["state"].str();
  };
  for (const auto& [name, state] : std::map<std::string, std::string>{{"broken", "unhealthy"},
                                                                      {"nowhere", "unscheduled"},
                                                                      {"forgotten", "unselected"},
                                                                      {"held", "pending"},
                                                                      {"web", ""}}) {
    EXPECT_TRUE(eventually([&] { return state_of(name) == state; })) << name << ": " << state_of(name);
  }
  const auto broken = items(json(ctl_ok({"status", "-o", "json"})), "name", "broken");
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken.front()["next"].str(), "shiplogctl why deployment/broken -n default --cluster member1");
  EXPECT_TRUE(ctl({"why", "deployment/broken", "-n", "default", "--cluster", "member1"}).ok());
  const std::string text = ctl_ok({"status"});
  EXPECT_NE(text.find("clusters: 1 of 1 are ready"), std::string::npos) << text;
  EXPECT_NE(text.find("1 unscheduled, 1 unhealthy, 1 pending; 1 workload without a policy"), std::string::npos) << text;

  fleet_.kill("member1");
  EXPECT_TRUE(eventually([&] { return state_of("member1") == "unreachable"; }, std::chrono::minutes{2}))
      << ctl({"status"});
  EXPECT_EQ(state_of("web"), "pending") << ctl({"status"});
}

TEST_F(Shiplogctl, ATenantSeesOnlyWhatItsRolesAllow) {
  apply();
  fleet_.kubectl_ok({"create", "namespace", "shop"});
  fleet_.kubectl_ok({"create", "rolebinding", "ann", "--clusterrole=edit", "--user=ann", "-n", "shop"});
  EXPECT_TRUE(eventually_prints({"get", "workloads"}, "web"));
  const std::vector<std::string> ann = {"--as", "ann", "--as-group", "team-shop"};
  const auto as_ann = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), ann.begin(), ann.end());
    return ctl(arguments);
  };
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"get", "clusters"},
                                                                     {"get", "workloads"},
                                                                     {"get", "workloads", "-A"},
                                                                     {"status", "-A", "-n", "default"},
                                                                     {"history", "deployment/web"},
                                                                     {"why", "deployment/web"},
                                                                     {"audit"},
                                                                     {"events", "tail", "--no-follow"},
                                                                     {"unjoin", "member1"}}) {
    const Ran ran = as_ann(arguments);
    EXPECT_EQ(ran.code, 1) << ran;
    EXPECT_TRUE(ran.says("forbidden")) << ran;
    EXPECT_EQ(ran.out.find("web"), std::string::npos) << ran;
  }
  EXPECT_TRUE(as_ann({"get", "workloads", "-n", "shop"}).ok());
  const Ran status = as_ann({"status", "-n", "shop"});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_NE(status.err.find("notice: "), std::string::npos) << status;
  const Ran alone = ctl({"get", "clusters", "--as-group", "x"});
  EXPECT_EQ(alone.code, 1) << alone;
  EXPECT_TRUE(alone.says("--as USER")) << alone;
}

TEST_F(Shiplogctl, VersionReportsClientAndServer) {
  const Value versions = json(ctl_ok({"version", "-o", "json"}));
  EXPECT_FALSE(versions["clientVersion"]["version"].str().empty());
  EXPECT_EQ(versions["serverVersion"]["gitVersion"], fleet_.api().get("/version").json["gitVersion"]);
  EXPECT_NE(ctl_ok({"version"}).find("Server Version: v1."), std::string::npos);
  fleet_.kill("plane");
  EXPECT_TRUE(ctl({"version", "--client"}).ok());
  const Ran down = ctl({"version"});
  EXPECT_EQ(down.code, 1) << down;
  EXPECT_EQ(down.out.find("Client Version: "), 0U) << down;
  EXPECT_EQ(down.err.find("error: cannot reach the control plane"), 0U) << down;
}

TEST_F(Shiplogctl, EventsAreFilteredByObjectNamespaceAndTime) {
  apply();
  EXPECT_TRUE(eventually_prints({"get", "workloads"}, "4/4"));
  const std::string about = ctl_ok({"events", "tail", "deployment/web", "--no-follow"});
  EXPECT_NE(about.find("ObjectCreated deployments/default/web"), std::string::npos) << about;
  EXPECT_EQ(about.find("broken"), std::string::npos) << about;
  const std::string cluster = ctl_ok({"events", "tail", "cluster", "member1", "--no-follow"});
  EXPECT_NE(cluster.find("clusters/member1"), std::string::npos) << cluster;
  EXPECT_EQ(ctl_ok({"events", "tail", "-n", "kube-public", "--no-follow"}).find("web"), std::string::npos);
  EXPECT_NE(ctl_ok({"events", "tail", "--since", "1h", "--no-follow"}).find("web"), std::string::npos);
  EXPECT_EQ(ctl_ok({"events", "tail", "--since", "2100-01-01T00:00:00Z", "--no-follow"}), "");
  EXPECT_EQ(ctl_ok({"events", "tail", "--user", "nobody", "--no-follow"}), "");
  EXPECT_EQ(ctl_ok({"events", "tail", "deployment/web", "--no-follow", "-o", "yaml"}).find("---\n"), 0U);
}

TEST_F(Shiplogctl, ATruncatedResultIsReported) {
  apply();
  EXPECT_TRUE(eventually_prints({"get", "workloads"}, "4/4"));
  const Ran audit = ctl({"audit", "--limit=3", "-o", "json"});
  EXPECT_EQ(json(audit.out)["items"].size(), 3U) << audit;
  EXPECT_NE(audit.err.find("notice: only the newest 3 entries are shown; --limit=0"), std::string::npos) << audit;
  const Ran all = ctl({"audit", "--limit=0", "-o", "json"});
  EXPECT_GT(json(all.out)["items"].size(), 3U);
  EXPECT_EQ(all.err, "");
  const Ran history = ctl({"history", "deployment/web", "--limit=1"});
  EXPECT_NE(history.err.find("notice: only the newest 1 versions are shown; --limit=0"), std::string::npos) << history;
  EXPECT_EQ(ctl({"history", "deployment/web", "--limit=0"}).err, "");
}

TEST_F(Shiplogctl, ColoursAndWrappingOnlyOnATerminal) {
  apply();
  EXPECT_TRUE(eventually_prints({"get", "workloads"}, "4/4"));
  const Ran piped = ctl({"audit"});
  EXPECT_EQ(piped.out.find('\033'), std::string::npos);
  // `script` runs the program in a terminal.
  const auto in_terminal = [&](const std::string& before) {
    return shell("bash", "script -qec \"stty cols 100; " + before + " shiplogctl audit\" /dev/null");
  };
  const Ran coloured = in_terminal("TERM=xterm");
  ASSERT_TRUE(coloured.ok()) << coloured;
  EXPECT_NE(coloured.out.find("\033[32maccepted\033[0m"), std::string::npos) << coloured;
  const Ran plain = in_terminal("TERM=xterm NO_COLOR=1");
  EXPECT_EQ(plain.out.find('\033'), std::string::npos) << plain;
  std::istringstream lines{plain.out};
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of('\r') + 1);
    EXPECT_LE(line.size(), 100U) << line;
  }
  std::istringstream wide{piped.out};
  size_t longest = 0;
  for (std::string line; std::getline(wide, line);) longest = std::max(longest, line.size());
  EXPECT_GT(longest, 100U) << "output to a pipe is not wrapped";
}

class Completion : public Shiplogctl {
 protected:
  void SetUp() override {
    Shiplogctl::SetUp();
    apply();
    EXPECT_TRUE(eventually_prints({"get", "workloads"}, "4/4"));
  }
  /// The shell's own candidates for a line, in any order.
  void expect(const std::string& shell_name, const std::function<std::string(const std::string& line)>& script) {
    const Ran available = shell(shell_name, "exit 0");
    if (!available.ok()) {
      if (all_shells_required()) FAIL() << shell_name << " is missing: ./dev test installs it";
      GTEST_SKIP() << shell_name << " is missing";
    }
    const auto expect_one = [&](const std::string& line, const std::string& wanted) {
      const Ran ran = shell(shell_name, script(line));
      EXPECT_TRUE(ran.ok()) << ran;
      EXPECT_EQ(ran.err, "") << line;
      std::istringstream lines{ran.out};
      std::vector<std::string> candidates;
      for (std::string candidate; std::getline(lines, candidate);)
        candidates.push_back(candidate.substr(0, candidate.find('\t')));
      EXPECT_TRUE(std::ranges::find(candidates, wanted) != candidates.end()) << wanted << " of " << line << "\n" << ran;
      EXPECT_EQ(ran.out.find(":4"), std::string::npos) << ran;
    };
    expect_one("shiplogctl hi", "history");
    expect_one("shiplogctl events t", "tail");
    expect_one("shiplogctl get c", "clusters");
    expect_one("shiplogctl get clusters m", "member1");
    expect_one("shiplogctl unjoin ", "member1");
    expect_one("shiplogctl audit -o j", "json");
    expect_one("shiplogctl why deployment w", "web");
    expect_one("shiplogctl get workloads -n de", "default");
    expect_one("shiplogctl audit --fam", "--family");
    expect_one("shiplogctl why deployment/w", "deployment/web");
  }
};

TEST_F(Completion, OfBash) {
  expect("bash", [](const std::string& line) {
    return "source <(shiplogctl completion bash); COMP_LINE='" + line +
           "'; COMP_POINT=${#COMP_LINE}; read -ra COMP_WORDS <<<\"$COMP_LINE\"; " +
           "[[ $COMP_LINE == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); " +
           "_shiplogctl && printf '%s\\n' \"${COMPREPLY[@]}\"";
  });
}

TEST_F(Completion, OfZsh) {
  expect("zsh", [](const std::string& line) {
    return "source <(shiplogctl completion zsh); line='" + line +
           "'; words=(${(s: :)line}); [[ $line == *' ' ]] && words+=(''); " +
           "CURRENT=${#words}; _describe() { print -rl -- \"${(@P)4%%:*}\" }; _shiplogctl";
  });
}

TEST_F(Completion, OfFish) {
  expect("fish",
         [](const std::string& line) { return "shiplogctl completion fish | source; complete -C '" + line + "'"; });
}

TEST_F(Completion, OfKubectlsPlugin) {
  const Ran ran = shell("bash", "kubectl __complete shiplog get clusters m");
  EXPECT_NE(ran.out.find("member1\n"), std::string::npos) << ran;
  EXPECT_NE(shell("bash", "kubectl shiplog get clusters").out.find("member1"), std::string::npos);
  EXPECT_NE(shell("bash", "kubectl shiplog status -o json").out.find("\"kubectl shiplog why"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::e2e
