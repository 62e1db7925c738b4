#include "events/state/legal_hold.h"
#include "services/api/admission/rules.h"

// LegalHold.

namespace shiplog::api {
namespace {

/// A hold is released by deleting it, which is an entry that names who did it. A narrower spec would release a part of
/// it silently.
void check_legal_hold(const Value& object, const Write& write, Causes& causes) {
  std::string field;
  if (const std::string problem = legal_hold_problem(object["spec"], field); !problem.empty()) {
    causes.invalid(field, object["spec"], problem);
  }
  if (write.old != nullptr && (*write.old)["spec"] != object["spec"]) {
    causes.forbidden("spec", "cannot be changed: make another LegalHold, then delete this one");
  }
}

}  // namespace

const std::vector<Rules>& audit_rules() {
  static const std::vector<Rules> kRules = {{.type = kLegalHoldType, .check = check_legal_hold}};
  return kRules;
}

}  // namespace shiplog::api
