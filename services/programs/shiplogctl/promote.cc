#include "services/programs/shiplogctl/promote.h"

#include <algorithm>
#include <ostream>

#include "events/base/api_version.h"
#include "events/base/system.h"
#include "events/state/manifest.h"
#include "services/http/http.h"
#include "services/interpreter/interpreter.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/interpreting_state.h"
#include "services/programs/shiplogctl/policies.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kConflictResolution = "work.karmada.io/conflict-resolution";

/// "ns/name", or "name" of a cluster-scoped object.
std::string full_name(const Value& object) {
  const std::string ns = object["metadata"]["namespace"].str();
  return (ns.empty() ? "" : ns + "/") + object["metadata"]["name"].str();
}

const Resource* served(const std::vector<Resource>& resources, const Value& object) {
  const std::string group{split_api_version(object["apiVersion"].as_string()).group};
  const auto found = std::ranges::find_if(resources, [&](const Resource& resource) {
    return resource.group == group && resource.kind == object["kind"].as_string();
  });
  return found == resources.end() ? nullptr : &*found;
}

class Promotion {
 public:
  Promotion(ServerConnection& plane, ServerConnection& member, const PromoteOptions& options, const Output& to)
      : plane_{plane}, member_{member}, options_{options}, to_{to} {}

  Result<void> run() {
    SHIPLOG_TRY(const Value object, read_object());
    SHIPLOG_TRY(plane_resources_, read_resources(plane_));
    const Resource* resource = served(plane_resources_, object);
    if (resource == nullptr) {
      return Error{ErrorCode::kNotFound, "the control plane does not serve " + object["apiVersion"].str() + " " +
                                             object["kind"].str() + ": promote its CustomResourceDefinition first"};
    }
    const Value made = promoted_template(object);
    const PolicyTarget target{.api_version = object["apiVersion"].str(),
                              .kind = object["kind"].str(),
                              .ns = made["metadata"]["namespace"].str(),
                              .name = made["metadata"]["name"].str()};
    const Value policy = promoted_policy(target, options_.policy_name, options_.cluster, options_.dependencies);
    if (!options_.output.empty()) return print(made, policy);
    SHIPLOG_TRY(const bool present, exists(collection(*resource, made), target.name));
    if (present) {
      to_.err << "notice: Resource " << quoted_resource(*resource) << "(" << full_name(made)
              << ") already exist in karmada control plane, you can edit PropagationPolicy and OverridePolicy to "
                 "propagate it"
              << std::endl;
      return ok();
    }
    if (options_.create_policy) {
      SHIPLOG_TRY(check_policy(target, policy));
    }
    if (options_.dry_run) return ok();
    if (options_.dependencies) {
      SHIPLOG_TRY(promote_dependencies(object));
    }
    if (const auto created = create(*resource, made, target, policy); !created) {
      revert();
      return created.error();
    }
    to_.out << "Resource " << quoted_resource(*resource) << "(" << full_name(made) << ") is promoted successfully"
            << std::endl;
    return ok();
  }

 private:
  struct Promoted {
    Resource resource;
    Value object;
  };

  Result<Value> read_object() {
    std::string type = options_.words.front();
    std::string name = options_.words.size() > 1 ? options_.words[1] : "";
    if (const size_t slash = type.find('/'); name.empty() && slash != std::string::npos) {
      name = type.substr(slash + 1);
      type.erase(slash);
    }
    const std::string where = "failed to get resource in cluster(" + options_.cluster + ")";
    auto resources = read_resources(member_);
    if (!resources) return resources.error().context(where);
    member_resources_ = std::move(resources).value();
    const auto called = resources_called(member_resources_, type);
    if (called.size() != 1) {
      return Error{ErrorCode::kNotFound, where + ": the server doesn't have a resource type \"" + type + "\""};
    }
    auto object = member_.get(called.front().path(options_.ns) + "/" + percent_encode(name));
    if (!object && object.error().code == ErrorCode::kNotFound) {
      return Error{ErrorCode::kNotFound,
                   where + ": the " + type + " or " + name + " don't exist in cluster(" + options_.cluster + ")"};
    }
    if (!object) return object.error().context(where);
    return object;
  }

  static std::string collection(const Resource& resource, const Value& object) {
    return resource.path(object["metadata"]["namespace"].str());
  }

  Result<bool> exists(const std::string& path, const std::string& name) {
    const auto object = plane_.get(path + "/" + percent_encode(name));
    if (object) return true;
    if (object.error().code == ErrorCode::kNotFound) return false;
    return object.error();
  }

  Result<void> print(const Value& made, const Value& policy) {
    print_document(made, options_.output, to_.out);
    if (!options_.create_policy) return ok();
    if (options_.output == "yaml") to_.out << "---\n";
    print_document(policy, options_.output, to_.out);
    return ok();
  }

  Result<void> check_policy(const PolicyTarget& target, const Value& policy) {
    SHIPLOG_TRY(const bool present, exists(policy_collection(target), policy["metadata"]["name"].str()));
    if (!present) return ok();
    return Error{ErrorCode::kAlreadyExists, "the " + policy["kind"].str() + "(" + full_name(policy) +
                                                ") already exist, please edit it to propagate resource"};
  }

  Result<void> create(const Resource& resource, const Value& made, const PolicyTarget& target, const Value& policy) {
    const auto created = plane_.create(collection(resource, made), made);
    if (!created) {
      return created.error().context("failed to create resource " + quoted_resource(resource) + "(" + full_name(made) +
                                     ") in control plane");
    }
    to_.out << "ResourceTemplate (" << options_.ns << "/" << target.name << ") is created successfully" << std::endl;
    if (!options_.create_policy) return ok();
    SHIPLOG_TRY(plane_.create(policy_collection(target), policy));
    const std::string kind = policy["kind"].str();
    const std::string name = full_name(policy);
    to_.out << kind << (target.ns.empty() ? " " + name : " (" + name + ")") << " is created successfully" << std::endl;
    return ok();
  }

  Result<void> promote_dependencies(const Value& object) {
    SHIPLOG_TRY(const State state, read_interpreting_state(plane_));
    const auto found = interpreter::dependencies(state, object, SystemClock{}.now());
    if (!found && !found.error().questions.empty()) {
      return Error{ErrorCode::kUnavailable,
                   "an interpreter webhook knows the dependencies of this kind, and only the control plane calls it: "
                   "promote them by name, then the object without -d"};
    }
    if (!found) return found.error().error().context("failed to get the dependencies");
    if (!found.value()) {
      to_.err << "notice: there is no interpreter configured support to interpret dependencies" << std::endl;
      return ok();
    }
    for (const interpreter::Dependency& dependency : *found.value()) {
      if (const auto promoted = promote_dependency(dependency); !promoted) {
        revert();
        return promoted.error();
      }
    }
    return ok();
  }

  Result<void> promote_dependency(const interpreter::Dependency& dependency) {
    const Value wanted = Value::object({{"apiVersion", dependency.api_version}, {"kind", dependency.kind}});
    const Resource* there = served(member_resources_, wanted);
    const Resource* here = served(plane_resources_, wanted);
    if (there == nullptr || here == nullptr) {
      return Error{ErrorCode::kNotFound, "dependency " + dependency.api_version + " " + dependency.kind + " " +
                                             dependency.name + " is of a kind that " +
                                             (there == nullptr ? "the member" : "the control plane") +
                                             " does not serve"};
    }
    SHIPLOG_TRY(const auto objects, read_dependency(*there, dependency));
    for (const Value& object : objects) {
      const Value made = promoted_template(object);
      const std::string what = "Dependency resource " + quoted_resource(*here) + "(" + full_name(made) + ")";
      SHIPLOG_TRY(const bool present, exists(collection(*here, made), made["metadata"]["name"].str()));
      if (present) {
        to_.out << what
                << " already exist in karmada control plane, you can edit PropagationPolicy and OverridePolicy to "
                   "propagate it"
                << std::endl;
        continue;
      }
      const auto created = plane_.create(collection(*here, made), made);
      if (!created) return created.error().context("failed to create " + what + " in control plane");
      promoted_.push_back({*here, made});
      to_.out << what << " is promoted successfully" << std::endl;
    }
    return ok();
  }

  Result<std::vector<Value>> read_dependency(const Resource& resource, const interpreter::Dependency& dependency) {
    const std::string path = resource.path(dependency.ns);
    if (dependency.label_selector.is_null()) {
      auto object = member_.get(path + "/" + percent_encode(dependency.name));
      if (!object) {
        return object.error().context("failed to get dependency \"" + dependency.kind + "\"(" + dependency.ns + "/" +
                                      dependency.name + ") in cluster(" + options_.cluster + ")");
      }
      return std::vector<Value>{std::move(object).value()};
    }
    if (!dependency.label_selector["matchExpressions"].is_empty()) {
      return Error{ErrorCode::kInvalid, "the dependencies of kind " + dependency.kind +
                                            " are selected by expressions: promote them by name"};
    }
    std::string selector;
    for (const Value::Member& label : dependency.label_selector["matchLabels"].members()) {
      selector += (selector.empty() ? "" : ",") + std::string{label.key()} + "=" + label.value.str();
    }
    SHIPLOG_TRY(const Value list, member_.get(path, {{"labelSelector", selector}}));
    std::vector<Value> objects;
    for (Value item : list["items"].items()) {
      item.set("apiVersion", resource.api_version());
      item.set("kind", resource.kind);
      objects.push_back(std::move(item));
    }
    return objects;
  }

  /// Removes the dependencies that were promoted. Their objects in the member lose the labels of the control plane
  /// first, so that they stay.
  void revert() {
    for (const Promoted& one : promoted_) {
      const std::string path = "/" + percent_encode(one.object["metadata"]["name"].str());
      const Value labels = Value::object({{"karmada.io/managed", nullptr}, {"work.karmada.io/permanent-id", nullptr}});
      const Value patch = Value::object({{"metadata", Value::object({{"labels", labels}})}});
      const std::string what =
          "Dependency resource " + quoted_resource(one.resource) + "(" + full_name(one.object) + ")";
      const auto freed = member_.merge_patch(collection(one.resource, one.object) + path, patch);
      const auto removed = freed ? plane_.remove(collection(one.resource, one.object) + path) : freed;
      if (removed) {
        to_.out << what << " is reverted successfully" << std::endl;
      } else {
        to_.err << "error: " << what << " stays in the control plane: " << removed.error().message << std::endl;
      }
    }
    promoted_.clear();
  }

  ServerConnection& plane_;
  ServerConnection& member_;
  const PromoteOptions& options_;
  const Output& to_;
  std::vector<Resource> plane_resources_, member_resources_;
  std::vector<Promoted> promoted_;
};

}  // namespace

Value promoted_template(const Value& object) {
  Value made = pruned(object);
  const Value& annotations = made["metadata"]["annotations"];
  if (!annotations.contains(kConflictResolution)) {
    made.edit("metadata").edit("annotations").set(kConflictResolution, "overwrite");
  }
  return made;
}

std::string quoted_resource(const Resource& resource) {
  return "\"" + resource.group + "/" + resource.version + ", Resource=" + resource.plural + "\"";
}

Result<void> promote(ServerConnection& plane, ServerConnection& member, const PromoteOptions& options,
                     const Output& to) {
  return Promotion{plane, member, options, to}.run();
}

}  // namespace shiplog::ctl
