// Prints what rendering the Works of one binding costs: without override policies, beside a hundred that select other
// things, and with some that apply.
//   render_bench [TARGETS [ROUNDS]]

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/state/work.h"
#include "services/roles/dispatcher/decide.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using testing::Stage;

Value parsed(const std::string& text) {
  auto value = parse_json(text);
  if (value) return std::move(value).value();
  std::fprintf(stderr, "%s\n", value.error().message.c_str());
  std::exit(1);
}

void put_policy(Stage& stage, const std::string& name, const std::string& selected, const std::string& overriders) {
  stage.put({type::kOverridePolicy, "default", name},
            parsed(R"({"metadata": {"name": ")" + name + R"(", "namespace": "default"}, "spec": {
                "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": ")" +
                   selected + R"("}], "overrideRules": [{"overriders": )" + overriders + "}]}}"));
}

/// Processor time of this process: the machine is shared.
void print(const char* what, const Stage& stage, const ObjectKey& binding, int targets, int rounds) {
  size_t rendered = 0;
  const std::clock_t start = std::clock();
  for (int round = 0; round < rounds; ++round) {
    const auto decided = dispatcher::decide(stage.state(), binding, stage.now());
    const auto* decision = decided ? std::get_if<Decision>(&decided.value()) : nullptr;
    rendered += decision == nullptr ? 0 : decision->events.size();
  }
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (rendered != static_cast<size_t>(targets) * static_cast<size_t>(rounds)) {
    std::fprintf(stderr, "%s: %zu Works rendered\n", what, rendered);
    std::exit(1);
  }
  std::printf("%-66s %8.2f us a Work\n", what, took * 1e6 / static_cast<double>(rendered));
}

int run(int targets, int rounds) {
  Stage stage;
  std::vector<Target> placed;
  for (int i = 0; i < targets; ++i) {
    const std::string name = "m" + std::to_string(i);
    stage.put(testing::cluster_key(name), testing::cluster_object(name));
    stage.put({type::kNamespace, "", execution_space(name)}, testing::namespace_object(execution_space(name)));
    placed.push_back({name, 2});
  }
  const Value web = testing::deployment("default", "web", 2);
  stage.put({"deployments.apps", "default", "web"}, web);
  const Value made = testing::binding(web, placed);
  const ObjectKey binding = testing::binding_key(made);
  stage.put(binding, made);

  print("no override policies", stage, binding, targets, rounds);
  for (int i = 0; i < 100; ++i) {
    put_policy(stage, "other-" + std::to_string(i), "other-" + std::to_string(i),
               R"({"labelsOverrider": [{"operator": "add", "value": {"a": "b"}}]})");
  }
  print("100 override policies, none for it", stage, binding, targets, rounds);
  put_policy(stage, "image", "web",
             R"({"imageOverrider": [{"component": "Registry", "operator": "replace", "value": "r.example"}]})");
  print("101, one applies: image", stage, binding, targets, rounds);
  put_policy(stage, "many", "web",
             R"({"imageOverrider": [{"component": "Tag", "operator": "replace", "value": "2"}],
                 "argsOverrider": [{"containerName": "web", "operator": "add", "value": ["-v"]}],
                 "labelsOverrider": [{"operator": "add", "value": {"team": "blue"}}],
                 "annotationsOverrider": [{"operator": "add", "value": {"note": "x"}}],
                 "plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 5}]})");
  print("102, two apply: image; image, args, label, annotation, plaintext", stage, binding, targets, rounds);
  return 0;
}

}  // namespace
}  // namespace shiplog

int main(int argc, char** argv) {
  const int targets = argc > 1 ? std::atoi(argv[1]) : 3;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5000;
  return targets > 0 && rounds > 0 ? shiplog::run(targets, rounds) : 2;
}
