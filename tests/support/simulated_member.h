#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/member.h"
#include "services/programs/member/pod.h"
#include "services/programs/member/pod_scheduler.h"
#include "tests/support/stage.h"

namespace shiplog::member::testing {

using shiplog::testing::Stage;

inline Value json(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message << " in " << text;
  return parsed ? parsed.value() : Value{};
}

/// A member in virtual time: all controllers on one state, and nodes.
struct SimulatedMember {
  explicit SimulatedMember(MemberOptions given = {}) : options{std::move(given)} {
    for (Event& event : initial_objects(options)) {
      const auto& created = std::get<ObjectCreated>(event);
      if (created.object.type == kNodes) stage.write({event});
    }
    for (auto& service : make_member_services(options)) stage.add(std::move(service));
    stage.run(Millis{50});
  }

  const Value& find(const std::string& type, const std::string& name) const {
    return stage.state().value_of({type, "default", name});
  }
  void put(const std::string& type, Value object) {
    object.edit("metadata").set("namespace", "default");
    if (!object["metadata"].contains("generation")) object.edit("metadata").set("generation", 1);
    const auto folded = stage.put({type, "default", object["metadata"]["name"].str()}, object);
    EXPECT_FALSE(folded.refusal) << folded.refusal->reason;
  }
  void edit(const std::string& type, const std::string& name, const std::function<void(Value&)>& change) {
    Value object = find(type, name);
    change(object);
    put(type, object);
  }
  void remove(const std::string& type, const std::string& name) {
    stage.write({DeletionRequested{{type, "default", name}}});
  }

  /// Of pods that are there; `which` empty: all.
  std::vector<Value> pods(const std::function<bool(const Value&)>& which = {}) const {
    std::vector<Value> found;
    for (const auto& [name, pod] : stage.state().objects(kPods)) {
      if (!which || which(pod.value)) found.push_back(pod.value);
    }
    return found;
  }
  size_t ready() const { return pods(is_ready).size(); }

  /// No node has promised more than it has.
  void expect_within_capacity() const {
    for (const auto& [node, used] : usage_of_nodes(stage.state()).requested) {
      const Value& value = stage.state().value_of({kNodes, "", node});
      const ResourceList room = resource_list_from(value["status"]["allocatable"]);
      for (const auto& [name, amount] : used) {
        const auto at = room.find(name);
        ASSERT_TRUE(at != room.end() && amount <= at->second) << node << " has promised too much " << name;
      }
    }
  }

  /// No role decides anything any more.
  void expect_settled() {
    const size_t before = stage.history().size();
    stage.run(Millis{5000});
    EXPECT_EQ(stage.history().size(), before) << "entries are still being written";
  }

  MemberOptions options;
  Stage stage;
};

/// A workload's template with one container; `cpu` "" requests nothing.
inline Value pod_template(const std::string& app, const std::string& image, const std::string& cpu = "") {
  Value container = Value::object({{"name", "main"}, {"image", image}});
  if (!cpu.empty()) {
    container.set("resources", Value::object({{"requests", Value::object({{"cpu", cpu}})}}));
  }
  return Value::object({{"metadata", Value::object({{"labels", Value::object({{"app", app}})}})},
                        {"spec", Value::object({{"containers", Value::array({container})}})}});
}

/// With a selector where the kind has one.
inline Value workload(const std::string& kind, const std::string& name, int64_t replicas,
                      const std::string& image = "nginx:1", const std::string& cpu = "") {
  Value spec = Value::object({{"template", pod_template(name, image, cpu)}});
  if (replicas >= 0) spec.set("replicas", replicas);
  if (kind == "Job") {
    spec.edit("template").edit("spec").set("restartPolicy", "Never");
  } else {
    spec.set("selector", Value::object({{"matchLabels", Value::object({{"app", name}})}}));
  }
  return Value::object({{"apiVersion", kind == "Job" ? "batch/v1" : "apps/v1"},
                        {"kind", kind},
                        {"metadata", Value::object({{"name", name}})},
                        {"spec", spec}});
}

inline void set_image(Value& object, const std::string& image) {
  object.edit("spec").edit("template").edit("spec").edit("containers").edit_items().front().set("image", image);
}

}  // namespace shiplog::member::testing
