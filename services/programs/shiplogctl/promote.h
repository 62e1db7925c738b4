#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/resources.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct PromoteOptions {
  std::vector<std::string> words;  ///< TYPE NAME, or TYPE/NAME
  std::string cluster, ns, policy_name;
  std::string output;  ///< "", "json", "yaml": prints the template and its policy, changes nothing
  bool create_policy = true;
  bool dependencies = false;
  bool dry_run = false;
};

/// Copies an object of a member to the control plane as a template, with a policy that claims it in that cluster. An
/// object that is already in the control plane is left as it is: a notice, and success.
Result<void> promote(ServerConnection& plane, ServerConnection& member, const PromoteOptions& options,
                     const Output& to);

/// The template of a member's object: without what its server has set, and with the annotation that lets the control
/// plane take it over. Pure.
Value promoted_template(const Value& object);

/// "apps/v1, Resource=deployments", in quotes, as Karmada's command line names a resource.
std::string quoted_resource(const Resource& resource);

}  // namespace shiplog::ctl
