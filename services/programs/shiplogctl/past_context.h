#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

// Contexts of a kubeconfig that read a past moment. Pure.
namespace shiplog::ctl {

/// What a path below /at/ calls the moment that `text` means: "r4711" of a revision ("4711", "r4711"), else an RFC 3339
/// time: of one, of how long before `now` ("2h", "1h30m ago"), or of the latest "03:12" or "03:12:30" in UTC. Error:
/// kBadRequest.
Result<std::string> moment_of(std::string_view text, UtcMillis now);

struct KubeconfigFile {
  std::string path;  ///< absolute
  Value content;
};

/// A context of the past.
struct PastContext {
  std::string name;
  std::string context;  ///< the one to take server, user and namespace from
  std::string prefix;   ///< "/at/r4711"
};

/// The file that contains the context, with the past one added or replaced: a cluster of the same name, which is the
/// context's below the prefix. A context that is of the past itself counts as the one it was made from. Errors:
/// kNotFound, no file has the context or its cluster; kConflict, the name is taken by a context that is not of the
/// past.
Result<KubeconfigFile> with_past_context(const std::vector<KubeconfigFile>& files, const PastContext& past);

}  // namespace shiplog::ctl
