// Strategic merge patch (SMP-1 to SMP-11).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

/// A Deployment with a finalizer whose pods have two containers and two volumes.
std::string workload() {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  const Answer made = api().post(deployments, yaml(R"(
metadata: {name: web, labels: {a: b}, finalizers: [example.com/one]}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: t1, operator: Exists}]
      containers:
      - {name: one, image: 'i:1', args: [one, two], env: [{name: A, value: '1'}], ports: [{containerPort: 80}]}
      - {name: two, image: 'i:2'}
      volumes:
      - {name: v, emptyDir: {}}
)"));
  EXPECT_EQ(made.status, 201) << made;
  return deployments + "/web";
}

Answer patch(const std::string& target, const std::string& text) {
  return api().patch(target, "strategic-merge", json(text));
}

Answer patch_pod(const std::string& target, const std::string& text) {
  return patch(target, R"({"spec":{"template":{"spec":)" + text + "}}}");
}

const Value& pod_of(const Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer;
  return answer.json["spec"]["template"]["spec"];
}

Names containers_of(const Answer& answer) {
  Names names;
  for (const Value& container : pod_of(answer)["containers"].items()) names.push_back(container["name"].str());
  return names;
}

void drop_finalizers(const std::string& target) { patch(target, R"({"metadata":{"finalizers":null}})"); }

TEST(Strategic, SMP_01_maps_merge_and_null_deletes) {
  const std::string web = workload();
  const Answer done = patch(web, R"({"metadata":{"labels":{"c":"d","a":null,"none":null}},"spec":{"replicas":3}})");
  EXPECT_EQ(done.json["metadata"]["labels"], json(R"({"c":"d"})")) << done;
  EXPECT_EQ(done.json["spec"]["replicas"].as_int(), 3);
  drop_finalizers(web);
}

TEST(Strategic, SMP_02_lists_without_a_strategy_are_replaced) {
  const std::string web = workload();
  const Answer done = patch_pod(
      web, R"({"tolerations":[{"key":"t2","operator":"Exists"}],"containers":[{"name":"one","args":["z"]}]})");
  EXPECT_EQ(pod_of(done)["tolerations"].size(), 1u);
  EXPECT_EQ(pod_of(done)["tolerations"][0]["key"].str(), "t2");
  EXPECT_EQ(pod_of(done)["containers"][0]["args"], json(R"(["z"])"));
  drop_finalizers(web);
}

TEST(Strategic, SMP_03_lists_with_a_key_merge) {
  const std::string web = workload();
  const Answer done = patch_pod(web, R"({"containers":[{"name":"two","image":"i:9"},{"name":"three","image":"i:3"},
      {"name":"one","env":[{"name":"B","value":"2"}],"ports":[{"containerPort":81}]}]})");
  const Value& containers = pod_of(done)["containers"];
  ASSERT_EQ(containers.size(), 3u);
  EXPECT_EQ(named(containers, "two")["image"].str(), "i:9");
  EXPECT_EQ(named(containers, "one")["image"].str(), "i:1");
  EXPECT_EQ(named(containers, "one")["env"].size(), 2u);
  EXPECT_EQ(named(containers, "one")["ports"].size(), 2u);
  const Answer keyless = patch_pod(web, R"({"containers":[{"image":"i:9"}]})");
  EXPECT_TRUE(keyless.status == 400 || keyless.status == 422) << keyless;
  drop_finalizers(web);
}

TEST(Strategic, SMP_04_lists_of_primitives_unite) {
  const std::string web = workload();
  const Answer done = patch(web, R"({"metadata":{"finalizers":["example.com/two","example.com/one"]}})");
  EXPECT_EQ(done.json["metadata"]["finalizers"].size(), 2u) << done;
  drop_finalizers(web);
}

TEST(Strategic, SMP_05_directives_replace_and_delete) {
  const std::string web = workload();
  const Answer deleted = patch_pod(web, R"({"containers":[{"name":"two","$patch":"delete"}]})");
  EXPECT_EQ(containers_of(deleted), Names{"one"});
  const Answer replaced = patch_pod(web, R"({"containers":[{"$patch":"replace"},{"name":"new","image":"n:1"}]})");
  EXPECT_EQ(containers_of(replaced), Names{"new"});
  const Answer map = patch(web, R"({"metadata":{"labels":{"$patch":"replace","x":"y"}}})");
  EXPECT_EQ(map.json["metadata"]["labels"], json(R"({"x":"y"})")) << map;
  const Answer cleared = patch(web, R"({"metadata":{"annotations":{"k":"v"},"labels":{"$patch":"delete"}}})");
  EXPECT_EQ(cleared.json["metadata"]["labels"].size(), 0u) << cleared;
  for (const char* wrong :
       {R"({"containers":[{"name":"new","$patch":"merge"}]})", R"({"containers":[{"name":"new","$patch":"burn"}]})"}) {
    const Answer refused = patch_pod(web, wrong);
    EXPECT_TRUE(refused.status == 400 || refused.status == 422) << refused;
  }
  drop_finalizers(web);
}

TEST(Strategic, SMP_06_values_leave_a_list_of_primitives) {
  const std::string web = workload();
  ASSERT_EQ(patch(web, R"({"metadata":{"finalizers":["example.com/two"]}})").status, 200);
  const Answer done = patch(web, R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/one"]}})");
  EXPECT_EQ(done.json["metadata"]["finalizers"], json(R"(["example.com/two"])")) << done;
  drop_finalizers(web);
}

TEST(Strategic, SMP_07_the_order_of_elements) {
  const std::string web = workload();
  const Answer turned = patch_pod(web, R"({"$setElementOrder/containers":[{"name":"two"},{"name":"one"}]})");
  EXPECT_EQ(containers_of(turned), (Names{"two", "one"}));
  const Answer added = patch_pod(web, R"({"$setElementOrder/containers":[{"name":"new"},{"name":"two"},{"name":"one"}],
      "containers":[{"name":"new","image":"n:1"}]})");
  EXPECT_EQ(containers_of(added), (Names{"new", "two", "one"}));
  const Answer kept = patch_pod(web, R"({"$setElementOrder/containers":[{"name":"one"},{"name":"new"}]})");
  ASSERT_EQ(containers_of(kept).size(), 3u) << "elements that are not in the order are kept";
  const Answer absent =
      patch_pod(web, R"({"$setElementOrder/containers":[{"name":"one"}],"containers":[{"name":"new","image":"n:2"}]})");
  EXPECT_TRUE(absent.status == 400 || absent.status == 422) << absent;
  drop_finalizers(web);
}

TEST(Strategic, SMP_08_keys_that_are_retained) {
  const std::string web = workload();
  const Answer done = patch(web, R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})");
  EXPECT_EQ(done.json["spec"]["strategy"], json(R"({"type":"Recreate"})")) << done;
  const Answer volume =
      patch_pod(web, R"({"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]})");
  EXPECT_FALSE(pod_of(volume)["volumes"][0].contains("emptyDir")) << volume;
  const Answer unnamed = patch(
      web, R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})");
  EXPECT_TRUE(unnamed.status == 400 || unnamed.status == 422) << unnamed;
  drop_finalizers(web);
}

TEST(Strategic, SMP_09_directives_are_never_stored) {
  const std::string web = workload();
  const Answer done =
      patch_pod(web, R"({"initContainers":[{"name":"i","image":"i:1","env":[{"name":"A","$patch":"delete"}]}],
      "$setElementOrder/initContainers":[{"name":"i"}],"nodeSelector":{"$patch":"replace","d":"s"},
      "securityContext":{"$retainKeys":["runAsUser"],"runAsUser":7}})");
  ASSERT_EQ(done.status, 200) << done;
  EXPECT_EQ(done.body.find('$'), std::string::npos) << done;
  EXPECT_EQ(pod_of(done)["nodeSelector"], json(R"({"d":"s"})"));
  EXPECT_EQ(pod_of(done)["initContainers"].size(), 1u);
  drop_finalizers(web);
}

TEST(Strategic, SMP_10_patches_of_apply_of_kubectl_1_20) {
  const std::string web = workload();
  const Answer done = patch_pod(
      web,
      R"({"$setElementOrder/containers":[{"name":"one"},{"name":"two"}],"containers":[{"image":"x","name":"one"}]})");
  EXPECT_EQ(containers_of(done), (Names{"one", "two"}));
  EXPECT_EQ(pod_of(done)["containers"][0]["image"].str(), "x");
  EXPECT_EQ(pod_of(done)["containers"][0]["env"].size(), 1u);
  drop_finalizers(web);
}

TEST(Strategic, SMP_11_the_kind_of_a_patch_is_ignored) {
  const std::string web = workload();
  const std::string other = R"({"apiVersion":"x/v1","kind":"X","spec":{"replicas":2}})";
  const Answer done = api().patch(web, "strategic-merge", json(other));
  ASSERT_EQ(done.status, 200) << done;
  EXPECT_EQ(done.json["kind"].str(), "Deployment");
  const Answer scaled = api().patch(web + "/scale", "strategic-merge", json(other));
  ASSERT_EQ(scaled.status, 200) << scaled;
  EXPECT_EQ(scaled.json["kind"].str(), "Scale");
  EXPECT_EQ(api().patch(web + "/scale", "merge", json(other)).status, 400);
  drop_finalizers(web);
}

}  // namespace
}  // namespace shiplog::e2e
