// The pure parts of the commands for a fleet: policies, taints, command lines for kubectl, templates, metrics.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "services/programs/shiplogctl/apply.h"
#include "services/programs/shiplogctl/get_objects.h"
#include "services/programs/shiplogctl/interpret.h"
#include "services/programs/shiplogctl/kubectl_words.h"
#include "services/programs/shiplogctl/object_print.h"
#include "services/programs/shiplogctl/policies.h"
#include "services/programs/shiplogctl/produce.h"
#include "services/programs/shiplogctl/promote.h"
#include "services/programs/shiplogctl/taints.h"
#include "services/programs/shiplogctl/top.h"
#include "tests/support/literals.h"

namespace shiplog::ctl {
namespace {

using Words = std::vector<std::string>;

using test::json;

// Names that Karmada's own command line has made.
TEST(PolicyNames, AreThoseOfKarmada_cli_6) {
  EXPECT_EQ(policy_name({"v1", "ConfigMap", "default", "a1"}), "a1-75f5f4f477");
  EXPECT_EQ(policy_name({"v1", "Namespace", "", "shop"}), "shop-646d6c6947");
  EXPECT_EQ(policy_name({"rbac.authorization.k8s.io/v1", "ClusterRole", "", "sys:Reader"}), "sys.reader-54499c54c");
  EXPECT_EQ(policy_name({"apps/v1", "Deployment", "shop", "front"}), "front-7fd7ff5bf5");
  EXPECT_EQ(policy_name({"apps/v1", "Deployment", "default", "pd"}), "pd-6d7f8d5f5b");
}

TEST(Policies, ApplySelectsTheObjectAndTheClusters_cli_6) {
  EXPECT_EQ(applied_policy({"v1", "ConfigMap", "default", "a1"}, {"m1", "m2"}), json(R"({
    "apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy",
    "metadata":{"name":"a1-75f5f4f477","namespace":"default"},
    "spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"a1","namespace":"default"}],
            "placement":{"clusterAffinity":{"clusterNames":["m1","m2"]}}}})"));
  const Value all = applied_policy({"v1", "Namespace", "", "shop"}, {});
  EXPECT_EQ(all["kind"].str(), "ClusterPropagationPolicy");
  EXPECT_EQ(all["spec"]["placement"], json(R"({"clusterAffinity":{}})"));
}

TEST(Policies, PromoteClaimsTheObjectInItsCluster_cli_13) {
  const Value policy = promoted_policy({"v1", "ConfigMap", "default", "a1"}, "", "m1", true);
  EXPECT_EQ(policy["spec"], json(R"({"conflictResolution":"Overwrite","preserveResourcesOnDeletion":true,
    "propagateDeps":true,"placement":{"clusterAffinity":{"clusterNames":["m1"]}},
    "resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"a1"}]})"));
  EXPECT_EQ(promoted_policy({"v1", "ConfigMap", "default", "a1"}, "mine", "m1", false)["metadata"]["name"].str(),
            "mine");
}

TEST(PromotedTemplate, HasNothingThatTheMembersServerHasSet_cli_13) {
  const Value object = json(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"},"status":{"x":1},"metadata":{
    "name":"a","namespace":"n","uid":"u","resourceVersion":"7","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z",
    "managedFields":[{}],"ownerReferences":[{}],"finalizers":["f"],"selfLink":"s"}})");
  EXPECT_EQ(promoted_template(object), json(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"},"metadata":{
    "name":"a","namespace":"n","annotations":{"work.karmada.io/conflict-resolution":"overwrite"}}})"));
}

TEST(PromotedTemplate, KeepsTheConflictResolutionThatIsSet_cli_13) {
  const Value object = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",
    "annotations":{"work.karmada.io/conflict-resolution":"abort"}}})");
  EXPECT_EQ(promoted_template(object)["metadata"]["annotations"]["work.karmada.io/conflict-resolution"].str(), "abort");
}

TEST(Taints, AreReadAsKubectlReadsThem_cli_9) {
  const auto read = parse_taints({"a=b:NoSchedule", "c:NoExecute", "d:NoSchedule-", "e-"});
  ASSERT_TRUE(read);
  EXPECT_EQ(Value::array(read.value().added),
            json(R"([{"key":"a","value":"b","effect":"NoSchedule"},{"key":"c","effect":"NoExecute"}])"));
  EXPECT_EQ(Value::array(read.value().removed), json(R"([{"key":"d","effect":"NoSchedule"},{"key":"e"}])"));
  for (const auto& [spec, text] : std::vector<std::pair<Words, std::string>>{
           {{"a=b"}, "invalid taint spec: a=b"},
           {{"a"}, "invalid taint spec: a"},
           {{"a=b:Bad"}, "invalid taint effect: Bad, unsupported taint effect"},
           {{"a=b=c:NoSchedule"}, "invalid taint spec"},
           {{"a:b:NoSchedule"}, "invalid taint"},
           {{"=b:NoSchedule"}, "invalid taint spec"},
           {{"a:NoSchedule", "a=b:NoSchedule"}, "duplicated taints"},
           {{"a:NoSchedule", "a-"},
            R"(can not both modify and remove the following taint(s) in the same command: {"a":""})"}}) {
    const auto wrong = parse_taints(spec);
    ASSERT_FALSE(wrong) << spec.front();
    EXPECT_NE(wrong.error().message.find(text), std::string::npos) << wrong.error().message;
  }
}

Result<ChangedTaints> changed(const Words& specs, std::string_view present, bool overwrite = false) {
  return change_taints("m1", json(present), parse_taints(specs).value(), overwrite);
}

TEST(Taints, ChangesAreNamed_cli_9) {
  EXPECT_EQ(changed({"a:NoSchedule"}, "[]").value().what, "tainted");
  EXPECT_EQ(changed({"a-"}, R"([{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoExecute"}])").value().what,
            "untainted");
  EXPECT_EQ(changed({"a-"}, R"([{"key":"a","effect":"NoSchedule"}])").value().taints, Value::array());
  EXPECT_EQ(changed({"b:NoSchedule", "a-"}, R"([{"key":"a","effect":"NoSchedule"},{"key":"c","effect":"NoSchedule"}])")
                .value()
                .taints,
            json(R"([{"key":"b","effect":"NoSchedule"},{"key":"c","effect":"NoSchedule"}])"));
  EXPECT_EQ(changed({"a=x:NoSchedule"}, R"([{"key":"a","effect":"NoSchedule"}])", true).value().what, "modified");
  EXPECT_EQ(changed({"a=x:NoSchedule"}, R"([{"key":"a","effect":"NoSchedule"}])").error().message,
            "cluster m1 already has a taint(s) with same effect(s) and --overwrite is false");
  EXPECT_EQ(changed({"a:NoSchedule-", "b-"}, "[]").error().message,
            "taint \"a:NoSchedule\" not found\ntaint \"b\" not found");
}

Words kubectl(const Words& words, const std::string& server = "https://h/p") {
  const auto command = read_kubectl_command(words);
  if (!command || !command.value()) return {};
  return kubectl_words(*command.value(), server, "");
}

TEST(KubectlWords, OursAreTakenOutAndTheOthersPassedOn) {
  EXPECT_EQ(kubectl({"-n", "shop", "logs", "web", "-C", "m1", "-f", "--tail=3"}),
            (Words{"kubectl", "logs", "--namespace=shop", "--server=https://h/p", "web", "-f", "--tail=3"}));
  EXPECT_EQ(kubectl({"exec", "web", "--cluster=m1", "-it", "--", "sh", "-C", "m2", "--as", "x"}),
            (Words{"kubectl", "exec", "--server=https://h/p", "web", "-it", "--", "sh", "-C", "m2", "--as", "x"}));
  EXPECT_EQ(kubectl({"describe", "pod", "-s", "members", "-Cm1", "--karmada-context", "c"}, ""),
            (Words{"kubectl", "describe", "--context=c", "pod"}));
  EXPECT_EQ(kubectl({"logs", "-fC", "m1", "-pnshop", "web"}),
            (Words{"kubectl", "logs", "--namespace=shop", "--server=https://h/p", "-f", "-p", "web"}));
  EXPECT_EQ(read_kubectl_command({"exec", "web", "-itC=m1"}).value()->clusters, Words{"m1"});
  EXPECT_EQ(kubectl({"delete", "-fC", "-Rf", "n"}, ""), (Words{"kubectl", "delete", "-fC", "-Rf", "n"}));
  EXPECT_EQ(kubectl({"--as=ada", "--as-group", "g", "explain", "pp"}, ""),
            (Words{"kubectl", "explain", "--as=ada", "--as-group=g", "pp"}));
}

TEST(KubectlWords, OtherCommandsAreNotPassedOn) {
  EXPECT_EQ(kubectl({"get", "logs"}), Words{});
  EXPECT_EQ(kubectl({"-n", "logs"}), Words{});
  EXPECT_EQ(kubectl({}), Words{});
  EXPECT_TRUE(read_kubectl_command({"logs", "--help"}).value()->help);
  EXPECT_FALSE(read_kubectl_command({"exec", "p", "-C", "m", "--", "ls", "--help"}).value()->help);
  EXPECT_EQ(read_kubectl_command({"logs", "-s", "all"}).error().message, "not support operation scope: all");
  EXPECT_FALSE(read_kubectl_command({"logs", "-C"}));
}

TEST(KubectlWords, AClusterWithoutANameIsNotTheControlPlane) {
  for (const Words& words : std::vector<Words>{{"delete", "cm", "a", "-C", ""},
                                               {"delete", "cm", "a", "-C="},
                                               {"patch", "deploy", "a", "--cluster="},
                                               {"label", "deploy", "a", "--clusters", ","},
                                               {"apply", "-f", "x", "-C", "m1", "-C", ""}}) {
    const auto read = read_kubectl_command(words);
    ASSERT_FALSE(read) << words.front();
    EXPECT_EQ(read.error().code, ErrorCode::kBadRequest);
    EXPECT_NE(read.error().message.find("-C needs the name of a member cluster"), std::string::npos);
  }
  EXPECT_TRUE(read_kubectl_command({"delete", "cm", "a", "--", "-C", ""}));
}

TEST(ApplyWords, SelectionIsSeparatedFromTheRest) {
  const auto split = split_apply_words(
      {"-f", "a.yaml", "--dry-run=server", "-Rf=b", "--filename=c", "-lx=y", "-k", "d", "--prune", "-o", "name"});
  EXPECT_EQ(split.objects, (Words{"-f", "a.yaml", "-Rf=b", "--filename=c", "-lx=y", "-k", "d"}));
  EXPECT_EQ(split.others, (Words{"--dry-run=server", "--prune", "-o", "name"}));
  EXPECT_TRUE(split.selects && split.prunes);
  EXPECT_EQ(split_apply_words({"-Rf", "folder", "--wait"}).objects, (Words{"-Rf", "folder"}));
}

TEST(ApplyWords, DocumentsOfKubectlAreSplitAndGetTheirPolicies) {
  const auto documents = split_documents(
      "{\n    \"kind\": \"A\",\n    \"data\": {\n        \"x\": \"}\\n}\"\n    }\n}\n"
      "{\n    \"kind\": \"List\",\n    \"items\": [\n        {\"kind\": \"B\"}\n    ]\n}\n");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents.value().size(), 2U);
  EXPECT_EQ(documents.value()[1]["kind"].str(), "B");
  EXPECT_FALSE(split_documents("no json"));
  const Value list = with_policies({json(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}})")}, {});
  ASSERT_EQ(list["items"].size(), 2U);
  EXPECT_EQ(list["items"][1]["metadata"]["name"].str(), "shop-646d6c6947");
}

TEST(WantedObjects, NamesAreNotEmptyAndExcludeSelectors_cli_3) {
  EXPECT_TRUE(wanted_objects({"deploy", "a", "b"}));
  EXPECT_EQ(wanted_objects({"deploy", ""}).error().message, "resource name may not be empty");
  const auto selection = [](const Words& words, const std::string& labels, const std::string& fields) -> std::string {
    GetObjectsOptions options;
    options.words = words;
    options.selector = labels;
    options.field_selector = fields;
    const auto checked = check_selection(wanted_objects(words).value(), options);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(selection({"deploy", "a"}, "", ""), "");
  EXPECT_EQ(selection({"deploy"}, "a=b", "c=d"), "");
  EXPECT_EQ(selection({"deploy", "a"}, "a=b", ""), "name cannot be provided when a selector is specified");
  EXPECT_EQ(selection({"deploy", "a"}, "", "c=d"), "name cannot be provided when a selector is specified");
  EXPECT_EQ(selection({"deploy/a"}, "a=b", ""),
            "selectors and the all flag cannot be used when passing resource/name arguments");
}

TEST(WantedObjects, NamesAreOfOneNamespace_cli_3) {
  const Resource deployments;
  Resource nodes;
  nodes.namespaced = false;
  GetObjectsOptions options;
  EXPECT_EQ(check_names({"deploy", {"a"}}, deployments, options).error().message,
            "a resource cannot be retrieved by name across all namespaces");
  EXPECT_TRUE(check_names({"deploy", {}}, deployments, options));
  EXPECT_TRUE(check_names({"nodes", {"a"}}, nodes, options));
  options.ns = "default";
  EXPECT_TRUE(check_names({"deploy", {"a"}}, deployments, options));
}

TEST(WantedObjects, AWatchOfANameThatNoClusterHasIsNotFound) {
  Resource deployments;
  deployments.plural = "deployments";
  deployments.group = "apps";
  const Value none = json(R"({"kind":"Table","rows":[]})");
  EXPECT_EQ(check_watched({"deploy", {"a"}}, deployments, {none, json(R"({"items":[]})")}).error().message,
            "deployments.apps \"a\" not found");
  EXPECT_TRUE(check_watched({"deploy", {"a"}}, deployments, {none, json(R"({"rows":[{}]})")}));
  EXPECT_TRUE(check_watched({"deploy", {"a"}}, deployments, {json(R"({"items":[{}]})")}));
  EXPECT_TRUE(check_watched({"deploy", {}}, deployments, {none}));
}

TEST(CustomColumns, AreReadWithFilters) {
  const auto columns =
      parse_custom_columns("NAME:.metadata.name,READY:.status.conditions[?(@.type==\"a,b\")].status,X:a");
  ASSERT_TRUE(columns);
  ASSERT_EQ(columns.value().size(), 3U);
  EXPECT_EQ(columns.value()[1].second, "{.status.conditions[?(@.type==\"a,b\")].status}");
  EXPECT_EQ(columns.value()[2].second, "{.a}");
  EXPECT_FALSE(parse_custom_columns("NAME"));
}

TEST(ObjectPrinter, ObjectsOfAStreamAreSeparated) {
  const auto streamed = [](const std::string& output, bool no_headers) {
    auto printer = ObjectPrinter::make(output, no_headers).value();
    std::ostringstream out;
    EXPECT_TRUE(printer.print_next(json(R"({"a":1})"), out));
    EXPECT_TRUE(printer.print_next(json(R"({"a":2})"), out));
    return out.str();
  };
  EXPECT_EQ(streamed("yaml", false), "a: 1\n---\na: 2\n");
  EXPECT_EQ(streamed("custom-columns=N:.a", false), "N\n1\n2\n");
  EXPECT_EQ(streamed("custom-columns=N:.a", true), "1\n2\n");
}

TEST(CustomColumns, AFileHasALineOfHeadersAndALineOfPaths) {
  const auto columns = parse_custom_columns_file("NAME  READY\n.metadata.name  {.status.readyReplicas}\n");
  ASSERT_TRUE(columns);
  ASSERT_EQ(columns.value().size(), 2U);
  EXPECT_EQ(columns.value()[0], (std::pair<std::string, std::string>{"NAME", "{.metadata.name}"}));
  EXPECT_EQ(columns.value()[1].second, "{.status.readyReplicas}");
  EXPECT_FALSE(parse_custom_columns_file("NAME READY\n.metadata.name\n"));
  EXPECT_FALSE(parse_custom_columns_file("NAME:.metadata.name\n"));
  EXPECT_FALSE(parse_custom_columns_file(""));
}

TEST(Top, SumsContainersAndSortsByUse_cli_8) {
  const Value metrics = json(R"({"items":[
    {"metadata":{"name":"a","namespace":"n"},"containers":[{"name":"x","usage":{"cpu":"5m","memory":"1Mi"}},
                                                          {"name":"y","usage":{"cpu":"250000n","memory":"2Mi"}}]},
    {"metadata":{"name":"b","namespace":"n"},"containers":[{"name":"x","usage":{"cpu":"1","memory":"512Ki"}}]}]})");
  auto rows = pod_use(metrics, "m1", false);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].milli_cpu, 6) << "a part of a milli core counts as one";
  EXPECT_EQ(rows[0].memory_bytes, 3 * 1024 * 1024);
  sort_use(rows, "cpu");
  EXPECT_EQ(rows[0].name, "b");
  sort_use(rows, "memory");
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(pod_use(metrics, "m1", true).size(), 3U);
}

TEST(Top, ANodeWithoutMetricsIsUnknown_cli_8) {
  const Value nodes = json(R"({"items":[{"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi"},
      "capacity":{"cpu":"8","memory":"16Gi"}}},{"metadata":{"name":"n2"}}]})");
  const Value metrics = json(R"({"items":[{"metadata":{"name":"n1"},"usage":{"cpu":"1","memory":"2Gi"}}]})");
  const auto rows = node_use(nodes, metrics, "m1", false);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].known);
  EXPECT_EQ(rows[0].milli_cpu_of, 4000);
  EXPECT_FALSE(rows[1].known);
  EXPECT_EQ(node_use(nodes, metrics, "m1", true)[0].milli_cpu_of, 8000);
}

const char* kCustomization = R"({"metadata":{"name":"d"},"spec":{"target":{"apiVersion":"apps/v1","kind":"Deployment"},
  "customizations":{"retention":{"luaScript":"function Retain(d, o)\n  return d\nend\n"},
                    "healthInterpretation":{"luaScript":"function InterpretHealth(o) return true end"}}}})";

TEST(InterpretEdit, AnUnchangedTextChangesNothing_cli_14) {
  const Value customization = json(kCustomization);
  for (const bool doc : {false, true}) {
    const auto scripts = edited_scripts(editable_scripts(customization, doc), customization["spec"]["customizations"]);
    ASSERT_TRUE(scripts) << scripts.error().message;
    EXPECT_EQ(scripts.value(), customization["spec"]["customizations"]);
  }
}

TEST(InterpretEdit, RulesAreChangedAddedAndRemoved_cli_14) {
  const Value before = json(kCustomization)["spec"]["customizations"];
  const auto scripts = edited_scripts(
      "-- comment\n---@rule: Retain\nfunction Retain(d, o)\n  return o\nend\n---@rule: InterpretHealth\n\n"
      "---@rule: ReviseReplica\nfunction ReviseReplica(o, n) return o end\n",
      before);
  ASSERT_TRUE(scripts) << scripts.error().message;
  EXPECT_EQ(scripts.value(), json(R"({"retention":{"luaScript":"function Retain(d, o)\n  return o\nend\n"},
      "replicaRevision":{"luaScript":"function ReviseReplica(o, n) return o end\n"}})"));
  EXPECT_FALSE(edited_scripts("---@rule: Nothing\n", before));
  EXPECT_FALSE(edited_scripts("---@rule: Retain\nfunction Retain(\n", before));
}

TEST(Produce, ItemsOfAListAreObjectsOfTheirOwn) {
  const auto kinds = [](const char* document) {
    std::string all;
    for (const Value& object : listed_objects(json(document))) {
      all += object["apiVersion"].str() + "/" + object["kind"].str() + " ";
    }
    return all;
  };
  EXPECT_EQ(kinds(R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret"},
                                                               {"apiVersion":"apps/v1","kind":"Deployment"}]})"),
            "v1/Secret apps/v1/Deployment ");
  EXPECT_EQ(kinds(R"({"apiVersion":"v1","kind":"ConfigMapList","items":[{"metadata":{"name":"a"}}]})"),
            "v1/ConfigMap ");
  EXPECT_EQ(kinds(R"({"apiVersion":"v1","kind":"List","items":[]})"), "");
  EXPECT_EQ(kinds(R"({"apiVersion":"x/v1","kind":"PriceList"})"), "x/v1/PriceList ");
}

TEST(Produce, OnlyObjectsOfNamespacedKindsGetANamespace) {
  Resource roles;
  roles.group = "rbac.authorization.k8s.io";
  roles.kind = "ClusterRole";
  roles.namespaced = false;
  const auto ns_of = [&](const char* text) {
    Value object = json(text);
    add_namespace(object, "shop", {roles});
    return object["metadata"]["namespace"].str();
  };
  EXPECT_EQ(ns_of(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})"), "shop");
  EXPECT_EQ(ns_of(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}})"), "b");
  EXPECT_EQ(ns_of(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a"}})"), "");
  EXPECT_EQ(ns_of(R"({"apiVersion":"other/v1","kind":"ClusterRole","metadata":{"name":"a"}})"), "shop");
}

/// Edits kCustomization with a shell command, which gets the file as $1.
struct EditRun {
  Result<void> done = ok();
  std::string out, err, kept;

  EditRun(const std::string& command, const PatchSender& send) {
    ::setenv("KUBE_EDITOR", ("sh -c '" + command + "' sh").c_str(), 1);
    std::ostringstream to_out, to_err;
    done = edit_customization(json(kCustomization), false, send, {to_out, to_err, {}});
    ::unsetenv("KUBE_EDITOR");
    out = to_out.str();
    err = to_err.str();
    const size_t begin = err.find('"');
    if (begin == std::string::npos) return;
    const std::string name = err.substr(begin + 1, err.rfind('"') - begin - 1);
    std::ostringstream text;
    text << std::ifstream{name}.rdbuf();
    kept = text.str();
    std::filesystem::remove(name);
  }
};

TEST(InterpretEdit, AnEditThatIsNotStoredIsKept_cli_14) {
  const PatchSender conflict = [](const Value&) { return Result<void>{Error{ErrorCode::kConflict, "modified"}}; };
  const EditRun modified{"sed -i \"s/return d/return o/\" \"$1\"", conflict};
  EXPECT_EQ(modified.done.error().code, ErrorCode::kConflict);
  EXPECT_EQ(modified.err.find("A copy of your changes has been stored to \""), 0U) << modified.err;
  EXPECT_NE(modified.kept.find("return o"), std::string::npos) << modified.kept;

  const EditRun given_up{"sed -i \"s/return d/retrun d/\" \"$1\"", conflict};
  EXPECT_EQ(given_up.done.error().message.find("the edit is not valid, and was cancelled: Retain: "), 0U)
      << given_up.done.error().message;
  EXPECT_NE(given_up.kept.find("retrun d"), std::string::npos) << given_up.kept;

  const EditRun failed{"sed -i \"s/return d/return o/\" \"$1\"; exit 3", conflict};
  EXPECT_EQ(failed.done.error().code, ErrorCode::kIo);
  EXPECT_NE(failed.kept.find("return o"), std::string::npos) << failed.kept;
}

TEST(InterpretEdit, WithoutAnEditNothingIsKept_cli_14) {
  const PatchSender stored = [](const Value&) { return ok(); };
  const EditRun unchanged{"true \"$1\"", stored};
  EXPECT_TRUE(unchanged.done);
  EXPECT_EQ(unchanged.err, "");
  const EditRun left{"exit 1 \"$1\"", stored};
  EXPECT_EQ(left.done.error().code, ErrorCode::kIo);
  EXPECT_EQ(left.err, "");
  const EditRun changed{"sed -i \"s/return d/return o/\" \"$1\"", stored};
  EXPECT_TRUE(changed.done);
  EXPECT_EQ(changed.err, "");
}

}  // namespace
}  // namespace shiplog::ctl
