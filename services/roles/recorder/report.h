#pragma once

#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/state.h"

namespace shiplog::recorder {

/// What a Kubernetes Event is to tell people of one object. Reasons, texts and components are upstream's.
struct Report {
  Value object;           ///< whom it is about, whole: it shares its content with the state's
  const char* component;  ///< who says it: "resource-detector", "default-scheduler", ...
  bool warning = false;
  const char* reason;
  std::string message;
  bool operator==(const Report& other) const;
};

/// What one accepted entry gives to tell. Pure; `state` is as of the entry. Nothing for a refused one.
/// Source: D-27, D-28, D-32, D-46, S-9, S-25, S-78, B-6, B-21, B-29, B-34, B-36, E-3, E-6, T-3, T-4,
/// T-10, T-11; TN-2, TN-13, TN-30, Q-17, Q-19; KIND-19.
std::vector<Report> reports_of(const State& state, const Entry& entry, const Folded& folded);

/// A step of a role that failed and will be tried again, which leaves nothing in the journal: `policy` is who would
/// have the template, for the binder (empty name: nobody). Of a Work, for the collector, `error` is upstream's
/// sentence: "Reflect status for ..." or "Interpret health of ...". Source: D-27, D-28, D-32, D-46, B-29, T-3, T-4,
/// T-10.
std::vector<Report> reports_of_failure(const State& state, std::string_view role, const ObjectKey& key,
                                       const State::Name& policy, const std::string& error);

}  // namespace shiplog::recorder
