#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/programs/shiplogctl/past_context.h"

namespace shiplog::ctl {

/// The files that exist, with absolute paths: what one of them names relative to itself can then be named in another.
/// Errors: kIo, kInvalid; both name the file.
Result<std::vector<KubeconfigFile>> read_kubeconfig_files(const std::vector<std::string>& paths);

}  // namespace shiplog::ctl
