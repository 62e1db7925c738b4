#include "services/api/admission/ephemeral_container_rules.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "services/api/admission/pod_rules.h"

// Source: podEphemeralContainersStrategy in pkg/registry/core/pod, ValidatePodEphemeralContainersUpdate and
// validateEphemeralContainers in pkg/apis/core/validation of Kubernetes.

namespace shiplog::api {
namespace {

constexpr const char* kList = "ephemeralContainers";
constexpr const char* kField = "spec.ephemeralContainers";
constexpr const char* kNotSet = "cannot be set for an Ephemeral Container";

/// Probes, ports and resources are for what a pod is relied on; whatever is not named here is refused.
constexpr std::string_view kPermitted[] = {"name",
                                           "image",
                                           "command",
                                           "args",
                                           "workingDir",
                                           "envFrom",
                                           "env",
                                           "volumeMounts",
                                           "volumeDevices",
                                           "stdin",
                                           "stdinOnce",
                                           "tty",
                                           "terminationMessagePath",
                                           "terminationMessagePolicy",
                                           "imagePullPolicy",
                                           "securityContext",
                                           "targetContainerName"};

const Value* named(const Value& list, const Value& name) {
  const auto items = list.items();
  const auto found = std::ranges::find_if(items, [&](const Value& each) { return each["name"] == name; });
  return found == items.end() ? nullptr : &*found;
}

void check_permitted(const Value& container, const std::string& field, Causes& causes) {
  for (const auto& member : container.members()) {
    const Value& value = member.value;
    const bool set = value.is_object() || value.is_array() ? value.size() > 0 : !value.is_null();
    if (!set || std::ranges::find(kPermitted, member.key()) != std::end(kPermitted)) continue;
    causes.forbidden(field + "." + std::string{member.key()}, kNotSet);
  }
  const Value& mounts = container["volumeMounts"];
  for (size_t i = 0; i < mounts.size(); ++i) {
    for (const char* name : {"subPath", "subPathExpr"}) {
      if (!mounts[i][name].is_empty()) causes.forbidden(at(field + ".volumeMounts", i) + "." + name, kNotSet);
    }
  }
}

}  // namespace

void keep_beside_ephemeral_containers(Value& pod, const Value& old) {
  const Value containers = pod["spec"][kList];
  pod = old;
  if (containers.size() == 0) {
    pod.edit("spec").erase(kList);
  } else {
    pod.edit("spec").set(kList, containers);
  }
}

void check_ephemeral_containers(const Value& pod, const Value& old, Causes& causes) {
  const Value& spec = pod["spec"];
  const Value& before = old["spec"][kList];
  std::set<std::string> names, others;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) others.insert(container["name"].str());
  }
  names = others;
  for (size_t i = 0; i < spec[kList].size(); ++i) {
    const Value& container = spec[kList][i];
    const std::string field = at(kField, i);
    const Value* was = named(before, container["name"]);
    if (was != nullptr && *was == container && names.insert(container["name"].str()).second) continue;
    check_pod_container(container, spec, field, names, causes);
    const Value& target = container["targetContainerName"];
    if (!target.is_empty() && !others.contains(target.str())) {
      causes.add({field + ".targetContainerName", "FieldValueNotFound", "Not found: \"" + target.str() + "\""});
    }
    check_permitted(container, field, causes);
  }
  for (const Value& container : before.items()) {
    const Value* now = named(spec[kList], container["name"]);
    const std::string which = "existing ephemeral containers \"" + container["name"].str() + "\" may not be ";
    if (now == nullptr) {
      causes.forbidden(kField, which + "removed\n");
    } else if (*now != container) {
      causes.forbidden(kField, which + "changed\n");
    }
  }
}

}  // namespace shiplog::api
