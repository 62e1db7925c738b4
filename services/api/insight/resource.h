#pragma once

#include <string_view>

#include "events/base/result.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// Whether a word means a kind: see find_resource().
bool is_meant(const Kind& kind, std::string_view word);

/// The kind that a word means, as kubectl reads it: plural, singular, kind or short name, in any case, also with a
/// group behind it ("deployments.apps", "cluster.cluster.karmada.io"). Where several groups have the word, the built-in
/// one counts, then the first by group. Error: kNotFound, in kubectl's words.
Result<const Kind*> find_resource(const Kinds& kinds, std::string_view word);

}  // namespace shiplog::api
