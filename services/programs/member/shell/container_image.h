#pragma once

#include <functional>
#include <string>

#include "events/base/value.h"
#include "services/programs/member/shell/file_system.h"
#include "services/programs/member/shell/shell.h"

namespace shiplog::member {

/// An object of the pod's namespace by ObjectKey::type and name; null: there is none.
using FindObject = std::function<Value(const char* type, const std::string& name)>;

/// The container of that name in the pod's containers or init containers; null: there is none.
const Value& container_of(const Value& pod, std::string_view name);

/// What the simulated container is to commands: its environment (env and envFrom with ConfigMaps, Secrets and fields of
/// the pod, which `find` looks up), host name, user and working directory. Pure.
ShellContainer shell_container(const Value& pod, const Value& container, const FindObject& find);

/// The files of a simulated container: the few of its image, and those of its ConfigMap, Secret, downward API, projected
/// and empty volumes. Pure.
FileTree image_of(const Value& pod, const Value& container, const FindObject& find);

}  // namespace shiplog::member
