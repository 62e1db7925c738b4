#pragma once

#include <string>
#include <vector>

#include "events/state/binding.h"
#include "events/state/manifest.h"
#include "events/state/state.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::dispatcher {

/// The origin of a manifest: goes into its labels and annotations (B-12, B-13).
struct Source {
  std::string label_key;  ///< for the binding's permanent id; empty for a namespace's Work
  Value label_value;
  Value binding_annotations;                                 ///< that name the binding; null for a namespace's Work
  std::string conflict_resolution;                           ///< "abort" or "overwrite"
  std::string applied_cluster_overrides, applied_overrides;  ///< JSON for the Work's annotations; empty: none (B-21)
  Value like;  ///< a manifest of the same source, or null: texts that are the same are shared with it
};

/// Of the Works of a binding, for all its targets.
Source source_of(const Binding& binding);

using shiplog::pruned;

/// The template with replicas and completions as this target is to get them (B-8 to B-10). Error: kInvalid, the
/// interpreter cannot compute it.
interpreter::Interpreted<Value> revised(const State& state, const Value& object, const Binding& binding,
                                        const std::vector<Target>& targets, const Target& target, UtcMillis now);

/// B-15. `manifest`: the template as this target gets it.
std::string conflict_resolution(const Value& manifest, const Binding& binding);

/// The whole Work around one pruned manifest (B-12, B-13, B-21, B-23, B-24). `before` is the present Work or null: its
/// labels and annotations stay, its permanent id too (B-25).
Value make_work(Value manifest, const ObjectKey& work, const Value& object, const Source& source, bool suspended,
                bool preserve, const Value& before);

/// S-47: Webster's method. Divides `total` replicas among the targets by weight; ties are broken by the template's uid.
/// Sorted by cluster; all 0 when all weights are.
std::vector<Target> divide(int64_t total, const std::vector<Target>& weights, std::string_view uid);

}  // namespace shiplog::dispatcher
