#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/programs/shiplogctl/connection.h"

namespace shiplog::ctl {

/// A resource that the control plane serves, as discovery describes it.
struct Resource {
  std::string group, version, plural, singular, kind;
  std::vector<std::string> short_names = {};
  bool namespaced = true;
};

/// All resources, each in its preferred version; the core group first.
Result<std::vector<Resource>> read_resources(ServerConnection& plane);

/// The names of the objects of a kind (plural, singular, kind or short name, in any case; a group may follow), in `ns`
/// if the kind is namespaced. Error: kNotFound, no such kind.
Result<std::vector<std::string>> read_names(ServerConnection& plane, const std::string& kind, const std::string& ns);

}  // namespace shiplog::ctl
