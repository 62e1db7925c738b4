#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

inline constexpr const char* kLegalHoldType = "legalholds.audit.shiplog.io";

/// What a LegalHold keeps from being deleted by age. Its conditions must all hold; an empty one always does.
struct LegalHold {
  struct Subjects {
    std::string type;  ///< "deployments.apps"; "*": all
    std::vector<std::string> namespaces, names;
    bool match(const ObjectKey& object) const;
  };
  std::string name;
  std::vector<Subjects> subjects;
  std::vector<std::string> users;
  std::vector<std::string> families;
  std::optional<UtcMillis> from, to;  ///< from inclusive, to exclusive

  /// Whether something that was so from `begin` to `end` was so in the period. An entry is at one moment.
  bool covers(UtcMillis begin, UtcMillis end) const;
  bool about(const ObjectKey& object) const;
  bool by(const std::string& user) const;
};

/// Error: kCorrupt, a hold that cannot be read: nothing may be deleted then.
Result<LegalHold> legal_hold_from(const Value& object);

/// What is wrong with the spec of a LegalHold beyond its schema; "": nothing. `field`: what the sentence is about.
std::string legal_hold_problem(const Value& spec, std::string& field);

}  // namespace shiplog
