// Metrics and health of real processes, compared with what docs/reference/observability.md promises, and with what the
// dashboard and the alert rules use.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/manifests.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kTree = SHIPLOG_SOURCE_DIR;

/// What is known of a family: "counter by code verb".
using FamilyTexts = std::map<std::string, std::string>;

std::string joined_labels(const std::set<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += " " + label;
  return text;
}

std::set<std::string> found_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator match{text.begin(), text.end(), pattern}, end; match != end; ++match) {
    found.insert((*match)[1].str());
  }
  return found;
}

/// The families of a scrape.
FamilyTexts families_of(const std::string& scrape) {
  std::map<std::string, std::string> types;
  std::map<std::string, std::set<std::string>> labels;
  std::istringstream lines{scrape};
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    static const std::regex kType{"# TYPE (\\S+) (\\S+)"};
    if (std::regex_match(line, match, kType)) types[match[1].str()] = match[2].str();
    if (line.empty() || line[0] == '#') continue;
    std::string name = line.substr(0, line.find_first_of("{ "));
    for (const char* part : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(part)) continue;
      const std::string family = name.substr(0, name.size() - std::string{part}.size());
      if (types.contains(family)) name = family;
    }
    static const std::regex kLabel{"([a-zA-Z_]+)=\""};
    const size_t brace = line.find('{');
    for (const std::string& label : found_in(brace == std::string::npos ? "" : line.substr(brace), kLabel)) {
      if (label != "le") labels[name].insert(label);
    }
  }
  FamilyTexts families;
  for (const auto& [name, type] : types) families[name] = type + joined_labels(labels[name]);
  return families;
}

/// The tables of the reference.
FamilyTexts documented() {
  FamilyTexts families;
  std::istringstream lines{read_file(kTree + "/docs/reference/observability.md")};
  static const std::regex kRow{R"(\| `([a-z0-9_]+)` \| (counter|gauge|histogram) \| ([^|]*)\|.*)"};
  static const std::regex kLabel{"`([a-zA-Z_]+)`"};
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, kRow)) continue;
    families[match[1].str()] = match[2].str() + joined_labels(found_in(match[3].str(), kLabel));
  }
  return families;
}

/// The metrics that PromQL expressions name, without the parts of histograms.
std::set<std::string> names_in(const std::string& expression) {
  static const std::regex kQuoted{"\"[^\"]*\""};
  static const std::regex kBraces{"\\{[^}]*\\}"};
  static const std::regex kGrouping{"(by|without) \\([^)]*\\)"};
  static const std::regex kRange{"\\[[^\\]]*\\]"};
  std::string text = std::regex_replace(expression, kQuoted, "");
  for (const std::regex* dropped : {&kBraces, &kGrouping, &kRange}) text = std::regex_replace(text, *dropped, "");
  static const std::regex kName{"([a-z][a-z0-9]*_[a-z0-9_]+)"};
  std::set<std::string> names;
  for (std::string name : found_in(text, kName)) {
    if (name == "histogram_quantile") continue;
    if (name.ends_with("_bucket")) name.resize(name.size() - std::string{"_bucket"}.size());
    names.insert(name);
  }
  return names;
}

class MetricsTest : public ::testing::Test {
 protected:
  /// What a process serves at an address of its log line probes.listening.
  Answer probe(const std::string& process, const std::string& path) {
    static const std::regex kUrl{"event=probes.listening url=(\\S+)"};
    std::string url;
    EXPECT_TRUE(eventually([&] {
      const auto urls = found_in(fleet_.log_tail(process, 1'000'000), kUrl);
      if (!urls.empty()) url = *urls.rbegin();
      return !url.empty();
    })) << process
        << " serves no probes\n"
        << fleet_.log_tail(process);
    const std::string kubeconfig = fleet_.path("probe.kubeconfig");
    std::ofstream{kubeconfig}
        << "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
        << "clusters: [{name: a, cluster: {server: \"" << url << "\"}}]\n"
        << "contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n";
    return ApiClient{kubeconfig}.get(path, "*/*");
  }
  void apply(const std::string& manifests) { fleet_.kubectl_ok({"apply", "-f", "-"}, manifests); }

  Fleet fleet_;
};

TEST_F(MetricsTest, ProcessesExportWhatTheReferenceListsAndDashboardsUse) {
  const std::string any = "127.0.0.1:0";
  std::ofstream{fleet_.path("audit-policy.yaml")}
      << "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n";
  fleet_.serve("plane", {"--audit-policy-file=" + fleet_.path("audit-policy.yaml"),
                         "--audit-log-path=" + fleet_.path("audit.log"), "--metrics-bind-address=" + any,
                         "--health-probe-bind-address=" + any, "--enable-scheduler-estimator",
                         "--scheduler-estimator-timeout=2000", "--feature-gates=Failover=true",
                         "--enable-no-execute-taint-eviction", "--eviction-budget=evictions=0"});
  const ApiClient api = fleet_.api();
  for (const char* name : {"member1", "member2"}) {
    fleet_.join(name);
    const std::string address =
        fleet_.estimator(name, {"--metrics-bind-address=" + any, "--health-probe-bind-address=" + any});
    fleet_.kubectl_ok({"annotate", "cluster", name, "estimator.shiplog.io/address=" + address});
  }
  apply(R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: unreachable}
webhooks:
- name: unreachable.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  failurePolicy: Ignore
  timeoutSeconds: 1
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}
)");
  const auto watch = api.watch("/api/v1/namespaces/default/configmaps?watch=true");
  fleet_.kubectl_ok({"create", "configmap", "a"});
  EXPECT_TRUE(watch->wait_for(1));
  apply(deployment_manifest("web", 2, "nginx:1.27"));
  const std::string in_member = "/apis/apps/v1/namespaces/default/deployments/web";
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get(in_member).status == 200; }));
  fleet_.kubectl_ok({"set", "image", "deployment/web", "main=nginx:1.28"});
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get(in_member).body.find("1.28") != std::string::npos; }));
  fleet_.kubectl_ok({"delete", "deployment", "web"});
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get(in_member).status == 404; }));
  EXPECT_EQ(api.get("/feeds/all?follow=false").status, 200);
  // An eviction that waits.
  apply(deployment_manifest("stays", 2, "nginx:1.27"));
  EXPECT_TRUE(eventually(
      [&] { return fleet_.api("member1").get("/apis/apps/v1/namespaces/default/deployments/stays").status == 200; }));
  fleet_.kubectl_ok({"patch", "cluster", "member1", "--type=merge", "-p",
                     R"({"spec":{"taints":[{"key":"fire","effect":"NoExecute"}]}})"});
  // Through the cluster proxy, through a tunnel, and for a server that there is not.
  fleet_.join_pull("member3");
  EXPECT_EQ(api.get("/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy/version").status / 100, 2);
  apply(R"(apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: {name: pods}
spec:
  targetCluster: {}
  resourceSelectors: [{apiVersion: v1, kind: Pod}]
---
apiVersion: v1
kind: Service
metadata: {name: gone}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.gone.example.com}
spec:
  group: gone.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {namespace: default, name: gone, port: 1}
)");
  EXPECT_TRUE(eventually([&] { return api.get("/apis/gone.example.com/v1/things").status == 503; }));
  // A conversion webhook that does not answer.
  apply(R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shirts.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: shirts, kind: Shirt}
  conversion:
    strategy: Webhook
    webhook: {clientConfig: {url: "https://127.0.0.1:1/"}, conversionReviewVersions: [v1]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
)");
  EXPECT_EQ(api.post("/apis/example.com/v2/shirts",
                     json(R"({"apiVersion":"example.com/v2","kind":"Shirt","metadata":{"name":"a"}})"))
                .status,
            500);

  const FamilyTexts promised = documented();
  ASSERT_GT(promised.size(), 70U);
  FamilyTexts exported;
  EXPECT_TRUE(eventually([&] {
    exported = families_of(probe("plane", "/metrics").body);
    for (const char* member : {"member1", "member2"}) {
      exported.merge(families_of(probe(std::string{"estimator-"} + member, "/metrics").body));
    }
    return exported.size() >= promised.size();
  }));
  for (const auto& [name, family] : exported) {
    const auto entry = promised.find(name);
    EXPECT_EQ(entry == promised.end() ? "undocumented" : entry->second, family) << name;
  }
  for (const auto& [name, family] : promised) {
    EXPECT_TRUE(exported.contains(name)) << name << " is documented, but not exported";
  }

  std::set<std::string> used;
  const auto dashboard = parse_json(read_file(kTree + "/docker/monitoring/dashboard.json"));
  ASSERT_TRUE(dashboard);
  for (const Value& panel : dashboard.value()["panels"].items()) {
    for (const Value& target : panel["targets"].items()) used.merge(names_in(target["expr"].str()));
  }
  const size_t on_dashboard = used.size();
  EXPECT_GT(on_dashboard, 25U);
  static const std::regex kExpression{"expr: ([^\\n]*)"};
  for (const std::string& expression : found_in(read_file(kTree + "/docker/monitoring/alerts.yaml"), kExpression)) {
    used.merge(names_in(expression));
  }
  EXPECT_GT(used.size(), on_dashboard);
  for (const std::string& name : used) EXPECT_TRUE(exported.contains(name)) << name << " is not exported";
}

// Label values are from closed sets: a user with few rights cannot fill the memory of the server, or of what scrapes
// it.
TEST_F(MetricsTest, RequestsWithInventedNamesAddNoSeries) {
  fleet_.serve("plane", {"--metrics-bind-address=127.0.0.1:0"});
  const ApiClient api = fleet_.api();
  const auto request_all = [&](const std::string& invented) {
    const HttpHeaders as_tenant{{"Impersonate-User", "tenant-" + invented}, {"User-Agent", "agent-" + invented}};
    const std::string group = "/apis/" + invented + ".example.com";
    for (const std::string& path : {group, group + "/v1", group + "/v1/namespaces/" + invented + "/" + invented,
                                    "/api/v1/" + invented, "/api/v1/namespaces/" + invented + "/configmaps/" + invented,
                                    "/api/v1/configmaps/a/" + invented, "/apis/apps/" + invented + "/deployments",
                                    "/" + invented, "/shiplog/v1/" + invented, "/healthz/" + invented}) {
      for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) api.call(method, path, "{}", as_tenant);
    }
    api.call("BREW" + invented, "/api/v1/configmaps", "", as_tenant);
  };
  const auto series = [&] {
    std::set<std::string> names;
    std::istringstream lines{probe("plane", "/metrics").body};
    for (std::string line; std::getline(lines, line);) {
      if (line.find("apiserver_") != std::string::npos) names.insert(line.substr(0, line.find("} ")));
      EXPECT_EQ(line.find("invented"), std::string::npos) << line;
    }
    return names.size();
  };
  for (int i = 0; i < 3; ++i) request_all("invented" + std::to_string(i));
  const size_t before = series();
  EXPECT_GT(before, 50U);
  for (int i = 3; i < 13; ++i) request_all("invented" + std::to_string(i));
  EXPECT_EQ(series(), before);
}

TEST_F(MetricsTest, AProcessIsNotReadyWhileARoleHasNoLeader) {
  const std::string journal = "--journal=sqlite:" + fleet_.path("shared/journal.db");
  fleet_.serve("plane", {journal, "--roles=api,control"});
  const ApiClient api = fleet_.api();
  EXPECT_EQ(api.get("/readyz").body, "ok") << "roles that no process has ever led are not missed";
  fleet_.serve("scheduler", {journal, "--roles=scheduler"}, false);
  EXPECT_TRUE(eventually([&] { return probe("scheduler", "/readyz").body == "ok"; }));
  EXPECT_EQ(probe("scheduler", "/livez?verbose").body, "[+]ping ok\n[+]fold-thread ok\nlivez check passed\n");
  EXPECT_EQ(probe("scheduler", "/metrics").status, 404) << "no address is bound for metrics";
  EXPECT_TRUE(eventually([&] {
    return fleet_.log_tail("scheduler", 1 << 20).find("event=lease.taken service=scheduler") != std::string::npos;
  }));
  fleet_.kill("scheduler");
  EXPECT_TRUE(eventually([&] { return api.get("/readyz").status == 500; }));
  EXPECT_NE(api.get("/readyz").body.find("[-]leaders failed: no process leads for the role scheduler\n"),
            std::string::npos);
  EXPECT_EQ(api.get("/readyz?exclude=leaders").status, 200);
  EXPECT_EQ(api.get("/livez").status, 200);
  fleet_.serve("scheduler", {journal, "--roles=scheduler"}, false);
  EXPECT_TRUE(eventually([&] { return api.get("/readyz").status == 200; }));
}

}  // namespace
}  // namespace shiplog::e2e
