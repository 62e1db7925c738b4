#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/state/state.h"
#include "services/debugger/words.h"

namespace shiplog::debugger {

/// Objects by kind, namespace and name; * stands for any characters in each. The kind is a word as for kubectl
/// (Deployment, deploy, deployments.apps), or `binding` for both kinds of bindings.
struct ObjectPattern {
  static constexpr const char* kBinding = "binding";

  std::string type;         ///< "deployments.apps", or a pattern, or kBinding
  bool exact_type = false;  ///< `type` is one of the kinds compiled in
  bool any_namespace = true;
  std::string ns, name;

  bool matches_type(std::string_view type_of_object) const;
  bool matches(const ObjectKey& key) const;
  std::string text() const;
};

/// KIND [NS/]NAME in two words, or KIND/[NS/]NAME in one; without NS of any namespace, or of none. `at` is moved behind
/// what was read. With `whole_kind` also KIND alone, which is the last word then. Error: kBadRequest with the column.
Result<ObjectPattern> parse_object(const std::vector<CommandWord>& words, size_t& at, bool whole_kind = false);
/// [NS/]NAME of a binding.
Result<ObjectPattern> parse_binding(const std::vector<CommandWord>& words, size_t& at);

/// The keys of the objects of a state that match, sorted, at most `limit`.
std::vector<ObjectKey> find_objects(const State& state, const ObjectPattern& pattern, size_t limit);

}  // namespace shiplog::debugger
