#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/access.h"
#include "services/programs/shiplogctl/kubectl_words.h"

namespace shiplog::ctl {

/// `apply`: without clusters kubectl's own, in place of this process. With them, kubectl reads the files, and applies
/// each object followed by its policy. Returns the exit code. Errors: kBadRequest; kNotFound, a cluster does not exist,
/// and nothing is applied; kubectl is not installed.
Result<int> apply_with_policies(const KubectlCommand& command, const AccessOptions& access);

// --- parts, pure

/// The words of `kubectl apply` that say which objects (-f, -k, -R, -l), and all others.
struct ApplyWords {
  std::vector<std::string> objects, others;
  bool selects = false;  ///< -l
  bool prunes = false;   ///< --prune
};
ApplyWords split_apply_words(const std::vector<std::string>& words);

/// The documents that kubectl prints with -o json, one after the other. Error: kCorrupt.
Result<std::vector<Value>> split_documents(const std::string& text);

/// Each object, followed by its policy. `clusters` empty: all.
Value with_policies(const std::vector<Value>& objects, const std::vector<std::string>& clusters);

}  // namespace shiplog::ctl
