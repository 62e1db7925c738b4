#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "services/api/status.h"
#include "services/api/webhooks/review.h"

namespace shiplog::api {

/// The refused action, for the audit trail.
struct DeniedAction {
  std::string verb;
  ObjectKey object;
};

/// Why a request does not succeed, and what is answered and recorded.
struct Rejection {
  // Implicit: most errors are answered as they are.
  Rejection(Error the_error) : error{std::move(the_error)} {}  // NOLINT(google-explicit-constructor)

  Error error;
  std::optional<StatusDetails> subject;  ///< what the Status is about; nullopt: the object of the request
  std::optional<Denial> denial;          ///< of a webhook, which chooses the Status; `error` is for the audit trail
  std::vector<std::string> warnings;     ///< with a denial
  std::optional<DeniedAction> denied;    ///< recorded in the journal as a refused request
  bool by_admission = false;             ///< by the rules of the kind or a webhook: the error may quote the object
  bool may_quote = false;                ///< the error may quote data of a Secret, whatever it is about
  bool superseded = false;               ///< another write was first: this one may succeed when it is computed again
};

/// What a stage makes of its input.
template <class T>
using StageResult = boost::outcome_v2::basic_result<T, Rejection, boost::outcome_v2::policy::terminate>;

}  // namespace shiplog::api
