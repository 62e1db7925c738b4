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
  std::vector<std::string> categories = {};

  /// "v1", "apps/v1"
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// Of the objects of a namespace, or, with an empty one, of all; for a kind without namespaces `ns` is ignored.
  std::string path(const std::string& ns) const;
};

/// All resources that can be listed, each in its preferred version; the core group first. A server without aggregated
/// discovery is asked group by group.
Result<std::vector<Resource>> read_resources(ServerConnection& plane);

/// The resources that kubectl means by a word: TYPE[.VERSION][.GROUP] (plural, singular, kind or short name, in any
/// case) or a category. Empty: none.
std::vector<Resource> resources_called(const std::vector<Resource>& resources, const std::string& word);

/// The names of the objects of a kind (plural, singular, kind or short name, in any case; a group may follow), in `ns`
/// if the kind is namespaced. Error: kNotFound, no such kind.
Result<std::vector<std::string>> read_names(ServerConnection& plane, const std::string& kind, const std::string& ns);

}  // namespace shiplog::ctl
