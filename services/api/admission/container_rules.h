#pragma once

#include <set>
#include <string>
#include <string_view>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// An ObjectFieldSelector of a volume; null is fine.
void check_volume_field(const Value& reference, const std::string& field, Causes& causes);
/// A ResourceFieldSelector: which resource, and what its amount is divided by.
void check_resource_field(const Value& reference, const std::string& field, Causes& causes);

/// The pod of a container.
struct PodOfContainer {
  const Value& spec;
  const std::set<std::string>& claims;  ///< volumes that are not in the spec, see check_pod_spec()
};

/// The values of a container's fields: names of ports, resources and variables, mounts, probes, handlers, users.
/// `init`: the container runs before the others.
void check_container_values(const Value& container, const PodOfContainer& pod, bool init, const std::string& field,
                            Causes& causes);

/// Variables come from files of volumes that begin empty.
void check_file_volumes(const Value& spec, const std::string& field, Causes& causes);

/// Host ports that two containers of the list use.
void check_host_ports(const Value& containers, const std::string& field, Causes& causes);

}  // namespace shiplog::api
