// shiplogctl on a whole fleet: members through the control plane's proxy, in one table; policies, taints, promotion;
// and the commands that kubectl runs.
#include <array>
#include <sstream>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps/";

Value parsed(const std::string& text) {
  auto value = parse_json(text);
  if (!value) ADD_FAILURE() << value.error().message << " in " << text;
  return value ? value.value() : Value{};
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

std::string first_line(const std::string& text) {
  std::istringstream words{text.substr(0, text.find('\n'))};
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

class FleetCommandLine : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.join("member1");
    fleet_.join("member2");
  }
  Ran ctl(const std::vector<std::string>& words) { return fleet_.shiplogctl(words); }
  std::string ctl_ok(const std::vector<std::string>& words) { return fleet_.shiplogctl_ok(words); }
  void propagate_map(const std::string& name, const std::string& clusters) {
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
                          ", labels: {app: demo}}\n---\napiVersion: policy.karmada.io/v1alpha1\n"
                          "kind: PropagationPolicy\nmetadata: {name: " +
                          name + "}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: " + name +
                          "}]\n  placement: {clusterAffinity: {clusterNames: [" + clusters + "]}}\n");
    EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get(kMaps + name).status == 200; })) << name;
  }

  Fleet fleet_;
};

TEST_F(FleetCommandLine, GetMergesTheControlPlaneAndMembersInOneTable_cli_3) {
  propagate_map("settings", "member1");
  fleet_.kubectl_ok({"create", "configmap", "local"}, {}, "member2");
  const std::string table = ctl_ok({"get", "configmaps", "-s", "all"});
  EXPECT_EQ(first_line(table), "NAME CLUSTER DATA AGE ADOPTION");
  for (const auto& [name, cluster, adoption] : std::vector<std::array<std::string, 3>>{
           {"settings", "Karmada", "-"}, {"settings", "member1", "Y"}, {"local", "member2", "N"}}) {
    std::istringstream lines{table};
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells{line};
      std::string first, second, last;
      cells >> first >> second;
      for (std::string cell; cells >> cell;) last = cell;
      found = found || (first == name && second == cluster && last == adoption);
    }
    EXPECT_TRUE(found) << name << " of " << cluster << " is not adopted as " << adoption << " in\n" << table;
  }
  EXPECT_EQ(first_line(ctl_ok({"get", "configmaps", "-A", "-l", "app=demo", "-C", "member1", "--show-labels"})),
            "NAMESPACE NAME CLUSTER DATA AGE ADOPTION LABELS");
  EXPECT_EQ(ctl_ok({"get", "configmaps", "-s", "all", "-l", "app=demo", "-o", "name"}),
            "configmap/settings\nconfigmap/settings\n");
  EXPECT_EQ(ctl_ok({"get", "configmap", "settings", "-C", "member1", "-o", "jsonpath={.metadata.labels.app}"}), "demo");
  EXPECT_EQ(ctl_ok({"get", "nodes", "-s", "members", "--sort-by", ".metadata.name", "-o",
                    "custom-columns=N:.metadata.name", "--no-headers"})
                .substr(0, 14),
            "member1-node-1");
  const Value list = parsed(ctl_ok({"get", "configmaps", "-s", "members", "-l", "app=demo", "-o", "json"}));
  ASSERT_EQ(list["items"].size(), 1U);
  EXPECT_EQ(list["items"][0]["metadata"]["annotations"]["shiplog.io/cluster"].str(), "member1");
  EXPECT_EQ(list["items"][0]["kind"].str(), "ConfigMap");
}

TEST_F(FleetCommandLine, AnErrorOfOneClusterDoesNotAffectTheOthers_cli_3) {
  propagate_map("settings", "member1");
  const Ran missing = ctl({"get", "configmap", "settings", "-s", "members"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.out.find("settings   member1"), std::string::npos) << missing;
  EXPECT_NE(missing.err.find("error: cluster(member2): configmaps \"settings\" not found"), std::string::npos)
      << missing;
  expect_says(ctl({"get", "configmap", "x", "-n", "none", "-C", "member1"}).err, "namespaces \"none\" not found");
  expect_says(ctl({"get", "sofas", "-s", "all"}).err,
              "cluster(member2): the server doesn't have a resource type \"sofas\"");
  expect_says(ctl({"get", "pods", "-C", "member1,none,zero"}).err, "clusters don't exist: none,zero");
  expect_says(ctl({"get", "secrets", "-n", "default", "-s", "members"}).err,
              "No resources found in default namespace.");
  expect_says(ctl({"get", "pods", "-s", "karmada", "-C", "member1"}).err, "--operation-scope members or all");
}

// A frozen member accepts connections and never answers.
TEST_F(FleetCommandLine, AFrozenMemberIsReportedAndTheOthersAreShown) {
  ASSERT_TRUE(fleet_.process("member2").freeze());
  const Ran ran = ctl({"get", "nodes", "-s", "members", "--cluster-timeout", "2"});
  fleet_.process("member2").thaw();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("member1-node-1   member1"), std::string::npos) << ran;
  EXPECT_EQ(ran.out.find("member2-node"), std::string::npos) << ran;
  EXPECT_NE(ran.err.find("error: cluster(member2): basic connection test to cluster(member2) failed"),
            std::string::npos)
      << ran;
}

TEST_F(FleetCommandLine, OneWithoutTheRightToTheProxySeesNoMember) {
  fleet_.kubectl_ok(
      {"create", "clusterrole", "reader", "--verb=get,list", "--resource=clusters.cluster.karmada.io,configmaps"});
  fleet_.kubectl_ok({"create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=ann"});
  const Ran ran = ctl({"get", "configmaps", "-s", "members", "--as", "ann"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("clusters/proxy"), std::string::npos) << ran;
  const Ran logs = ctl({"logs", "web", "-C", "member1", "--as", "ann"});
  EXPECT_NE(logs.code, 0);
  EXPECT_NE(logs.err.find("orbidden"), std::string::npos) << logs;
}

TEST_F(FleetCommandLine, AWatchMergesTheStreamsOfAllClusters_cli_3) {
  const Process watch{
      {std::string{SHIPLOG_BUILT} + "/shiplogctl", "get", "configmaps", "-s", "all", "-w", "--output-watch-events"},
      {{"KUBECONFIG", fleet_.kubeconfig("plane")}},
      fleet_.path("watch.log")};
  // Once a change is seen, the stream has begun.
  for (const std::string process : {"plane", "member1", "member2"}) {
    const std::string cluster = process == "plane" ? "Karmada" : process;
    int made = 0;
    EXPECT_TRUE(eventually([&] {
      fleet_.kubectl_ok({"create", "configmap", "seen-" + std::to_string(made++)}, {}, process);
      const std::string log = read_file(watch.log());
      return log.find(" " + cluster + " ") != std::string::npos;
    })) << cluster
        << " is not in " << read_file(watch.log());
  }
  EXPECT_EQ(first_line(read_file(watch.log())), "EVENT NAME CLUSTER DATA AGE ADOPTION");
  fleet_.kubectl_ok({"delete", "configmap", "seen-0"}, {}, "member2");
  EXPECT_TRUE(eventually([&] { return read_file(watch.log()).find("DELETED") != std::string::npos; }));
}

TEST_F(FleetCommandLine, CordonUncordonAndTaint_cli_9) {
  EXPECT_EQ(ctl_ok({"cordon", "member1", "--dry-run"}), "member1 cluster cordoned\n");
  EXPECT_EQ(ctl_ok({"cordon", "member1"}), "member1 cluster cordoned\n");
  EXPECT_EQ(ctl_ok({"cordon", "member1"}), "member1 cluster already cordoned\n");
  EXPECT_EQ(ctl_ok({"taint", "clusters", "member1", "a=b:NoSchedule"}), "cluster/member1 tainted\n");
  EXPECT_EQ(ctl({"taint", "clusters", "member1", "a=b:NoSchedule"}).err,
            "error: cluster member1 already has a taint(s) with same effect(s) and --overwrite is false\n");
  EXPECT_EQ(ctl_ok({"uncordon", "member1"}), "member1 cluster uncordoned\n");
  EXPECT_EQ(ctl_ok({"uncordon", "member1"}), "member1 cluster already uncordoned\n");
  EXPECT_EQ(ctl_ok({"taint", "clusters", "member1", "a=c:NoSchedule", "--overwrite"}), "cluster/member1 modified\n");
  EXPECT_EQ(ctl_ok({"taint", "clusters", "member1", "a-"}), "cluster/member1 untainted\n");
  EXPECT_EQ(ctl({"taint", "clusters", "none", "a:NoSchedule"}).err,
            "error: clusters.cluster.karmada.io \"none\" not found\n");
  EXPECT_EQ(ctl({"cordon"}).err, "error: cluster name is required\n");
  EXPECT_TRUE(fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/member1").json["spec"]["taints"].is_empty());
}

TEST_F(FleetCommandLine, ApplyMakesAPolicyForEachObject_cli_6) {
  write_file(fleet_.path("a.yaml"),
             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a1}\ndata: {k: v}\n---\n"
             "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
  const std::string file = fleet_.path("a.yaml");
  EXPECT_EQ(ctl({"apply", "-f", file, "-C", "member1,none"}).err, "error: cluster none does not exist\n");
  EXPECT_EQ(ctl({"apply", "-f", file, "-C", "member1", "--all-clusters"}).err,
            "error: --all-clusters and --cluster cannot be used together\n");
  EXPECT_EQ(fleet_.api().get(kMaps + "a1").status, 404) << "nothing is applied";
  EXPECT_EQ(ctl_ok({"apply", "-f", file, "-C", "member1"}),
            "configmap/a1 created\npropagationpolicy.policy.karmada.io/a1-75f5f4f477 created\n"
            "namespace/shop created\nclusterpropagationpolicy.policy.karmada.io/shop-646d6c6947 created\n");
  EXPECT_EQ(ctl_ok({"apply", "-f", file, "--all-clusters"}),
            "configmap/a1 unchanged\npropagationpolicy.policy.karmada.io/a1-75f5f4f477 configured\n"
            "namespace/shop unchanged\nclusterpropagationpolicy.policy.karmada.io/shop-646d6c6947 configured\n");
  EXPECT_EQ(ctl_ok({"apply", "-f", file, "--all-clusters", "--dry-run=server", "-o", "name"}).substr(0, 13),
            "configmap/a1\n");
  EXPECT_EQ(ctl_ok({"apply", "-f", file}), "configmap/a1 unchanged\nnamespace/shop unchanged\n");
  for (const char* member : {"member1", "member2"}) {
    EXPECT_TRUE(eventually([&] { return fleet_.api(member).get(kMaps + "a1").status == 200; })) << member;
  }
}

TEST_F(FleetCommandLine, PromoteTakesOverAnObjectAndWhatItRefersTo_cli_13) {
  fleet_.kubectl_ok(
      {"apply", "-f", "-"},
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wanted}\ndata: {k: v}\n---\n"
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: taken}\nspec:\n"
      "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n"
      "      containers: [{name: c, image: nginx}]\n      volumes: [{name: v, configMap: {name: wanted}}]\n",
      "member1");
  const std::string uid = fleet_.api("member1").get(kMaps + "wanted").json["metadata"]["uid"].str();
  const std::string shown = ctl_ok({"promote", "configmap", "wanted", "-C", "member1", "-o", "yaml"});
  for (const char* text :
       {"work.karmada.io/conflict-resolution: overwrite", "---", "preserveResourcesOnDeletion: true"}) {
    expect_says(shown, text);
  }
  EXPECT_EQ(shown.find("uid:"), std::string::npos) << shown;
  EXPECT_EQ(ctl_ok({"promote", "configmap", "wanted", "-C", "member1", "--dry-run"}), "");
  EXPECT_EQ(fleet_.api().get(kMaps + "wanted").status, 404);
  const std::string promoted = ctl_ok({"promote", "deployment/taken", "-C", "member1", "-d"});
  EXPECT_EQ(promoted,
            "Dependency resource \"/v1, Resource=configmaps\"(default/wanted) is promoted successfully\n"
            "ResourceTemplate (default/taken) is created successfully\n"
            "PropagationPolicy (default/taken-6d7f8d5f5b) is created successfully\n"
            "Resource \"apps/v1, Resource=deployments\"(default/taken) is promoted successfully\n");
  EXPECT_TRUE(eventually([&] {
    const Value labels = fleet_.api("member1").get(kMaps + "wanted").json["metadata"]["labels"];
    return labels["karmada.io/managed"].as_string() == "true";
  })) << "the dependency is claimed too";
  EXPECT_EQ(fleet_.api("member1").get(kMaps + "wanted").json["metadata"]["uid"].str(), uid) << "it is the same object";
  const Ran again = ctl({"promote", "deployment", "taken", "-C", "member1"});
  EXPECT_TRUE(again.ok()) << again;
  expect_says(again.err, "already exist in karmada control plane");
  expect_says(ctl({"promote", "configmap", "none", "-C", "member1"}).err,
              "the configmap or none don't exist in cluster(member1)");
  expect_says(ctl({"promote", "configmap", "none", "-C", "none"}).err,
              "clusters.cluster.karmada.io \"none\" not found");
}

TEST_F(FleetCommandLine, KubectlRunsTheOtherCommandsOnAMember_cli_4) {
  propagate_map("settings", "member1");
  expect_says(ctl_ok({"describe", "configmap", "settings", "-C", "member1"}), "karmada.io/managed=true");
  expect_says(ctl_ok({"api-versions", "-s", "members", "-C", "member1"}), "apps/v1\n");
  expect_says(ctl_ok({"explain", "pp.spec", "-s", "karmada"}), "resourceSelectors");
  ctl_ok({"create", "configmap", "there", "--from-literal=a=b", "--cluster=member2"});
  EXPECT_EQ(fleet_.api("member2").get(kMaps + "there").status, 200);
  EXPECT_EQ(fleet_.api().get(kMaps + "there").status, 404);
  ctl_ok({"delete", "configmap", "there", "-C", "member2"});
  expect_says(ctl({"logs", "web"}).err, "must specify a cluster: -C NAME");
  expect_says(ctl({"describe", "pod", "x", "-s", "members"}).err, "must specify a member cluster");
  expect_says(ctl({"describe", "pod", "x", "-C", "none"}).err, "clusters.cluster.karmada.io \"none\" not found");
  const Ran alone = run({std::string{SHIPLOG_BUILT} + "/shiplogctl", "describe", "pod", "x"},
                        {{"PATH", fleet_.path("nowhere")}, {"KUBECONFIG", fleet_.kubeconfig("plane")}}, "", kPatience);
  EXPECT_EQ(alone.code, 1);
  EXPECT_EQ(alone.err, "error: shiplogctl describe runs kubectl: kubectl is not installed: it is not on the PATH\n");
}

TEST_F(FleetCommandLine, LogsAndCommandsOfPodsOfAMember_cli_7) {
  fleet_.kubectl_ok({"create", "deployment", "web", "--image=nginx"}, {}, "member1");
  std::string pod;
  EXPECT_TRUE(eventually([&] {
    pod = ctl({"get", "pods", "-C", "member1", "-l", "app=web", "--field-selector", "status.phase=Running", "-o",
               "jsonpath={.items[*].metadata.name}"})
              .out;
    return !pod.empty();
  }));
  EXPECT_NE(ctl_ok({"logs", pod, "-C", "member1"}), "");
  EXPECT_EQ(ctl_ok({"exec", pod, "--cluster=member1", "--", "echo", "-C", "hello"}), "-C hello\n");
  EXPECT_EQ(ctl({"exec", pod, "-C", "member1", "--", "sh", "-c", "exit 3"}).code, 3) << "the command's exit code";
  expect_says(ctl({"logs", "none", "-C", "member1"}).err, "pods \"none\" not found");
  expect_says(ctl({"logs", pod, "-C", "member2"}).err, "not found");
}

TEST_F(FleetCommandLine, InterpretChecksRunsAndEditsScripts_cli_14) {
  write_file(fleet_.path("ric.yaml"), R"(apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: demo}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
    replicaResource:
      luaScript: |
        function GetReplicas(obj)
          return obj.spec.replicas * 2, nil
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj)
          return obj.status.ready
        end
)");
  write_file(
      fleet_.path("web.yaml"),
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {replicas: 3}, status: {ready: true}}\n");
  const std::string file = fleet_.path("ric.yaml");
  const std::string object = fleet_.path("web.yaml");
  const std::string checked = ctl_ok({"interpret", "-f", file, "--check"});
  expect_says(checked, "    InterpretReplica:        PASS\n");
  expect_says(checked, "    Retain:                  UNSET\n");
  expect_says(ctl_ok({"interpret", "-f", file, "--operation", "InterpretReplica", "--desired-file", object}),
              "---\n# [1/2] replica:\n6\n");
  EXPECT_EQ(ctl_ok({"interpret", "-f", file, "--operation", "interprethealth", "--observed-file", object}),
            "---\n# [1/1] healthy:\ntrue\n");
  expect_says(ctl({"interpret", "-f", file}).err, "operation is not set for executing");
  expect_says(ctl({"interpret", "-f", file, "--operation", "X"}).err,
              "operation X is not supported. Use one of: Retain");
  fleet_.kubectl_ok({"apply", "-f", file});
  const Ran edited = run({std::string{SHIPLOG_BUILT} + "/shiplogctl", "interpret", "demo", "--edit"},
                         {{"KUBECONFIG", fleet_.kubeconfig("plane")},
                          {"TMPDIR", fleet_.temporary()},
                          {"KUBE_EDITOR", ""},
                          {"EDITOR", "sed -i s/replicas.*2,/replicas*4,/"}},
                         "", kPatience);
  EXPECT_EQ(edited.out, "resourceinterpretercustomization.config.karmada.io/demo edited\n") << edited;
  expect_says(ctl_ok({"interpret", "demo", "--operation", "InterpretReplica", "--desired-file", object}), "\n12\n");
}

}  // namespace
}  // namespace shiplog::e2e
