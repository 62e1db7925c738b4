#pragma once

#include "events/base/value.h"
#include "events/explanation.h"

namespace shiplog {

/// {"type": "Divided", ...members}: clusters by name, enumerations by their constants. null for an empty fact.
Value to_value(const Fact& fact, const Explanation& of);

/// {summary, inputsDigest, clusters: [{cluster, verdicts: [{rule, passed, reason, fact}], scores, availableReplicas,
/// replicas}], steps}, all of them text, and beside them summaryFact and facts, those of the steps. A fact that is only
/// Text is left out.
Value to_value(const Explanation& why);

}  // namespace shiplog
