#pragma once

#include <vector>

#include "events/event.h"

namespace shiplog {

/// Gives the explanations of `recomputed` events the form of the recorded ones, so that equality compares what both
/// have. A build before typed facts recorded text: of such an explanation, summary, steps and reasons are not compared,
/// but the digest, the clusters, their replicas, scores and verdicts are. Events of the present form stay as they are.
void take_form_of(const std::vector<Event>& recorded, std::vector<Event>& recomputed);

}  // namespace shiplog
