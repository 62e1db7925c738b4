#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog {
class Networks;
}

namespace shiplog::api {

struct RuleSet;

/// What to do with fields the schema does not know (fieldValidation parameter).
enum class FieldValidation { kIgnore, kWarn, kStrict };

/// What a write needs besides the object.
struct Admission {
  const Kinds* kinds = nullptr;
  const Kind* kind = nullptr;
  std::shared_ptr<const RuleSet> custom_rules = nullptr;  ///< x-kubernetes-validations of the kind; nullptr: none
  FieldValidation field_validation = FieldValidation::kWarn;
  /// One line about each key that stood twice in the body.
  std::vector<std::string> duplicate_fields;
  /// Appended to metadata.generateName: lower-case letters and digits, chosen at the edge.
  std::string name_suffix;
  std::string ns;           ///< of the request path; empty: cluster-scoped
  std::string name;         ///< of the request path; empty on create
  UtcMillis now;            ///< the time the entry will carry
  std::string subresource;  ///< of the request path
  Value user;               ///< the requester: authentication.k8s.io UserInfo
  /// Addresses in them may not be named as the control plane's to call; nullptr: none.
  const Networks* denied_networks = nullptr;
  bool allows_no_execute_policies = true;  ///< --allow-no-execute-taint-policy
  std::string author;  ///< of policies: the requester, for kPolicyAuthorAnnotation; empty: it is not recorded
  /// Filled in: one line each, for Warning headers.
  std::vector<std::string> warnings;
};

/// Makes a client's object into what is stored: identity checked against the path, unknown fields dropped (or refused),
/// defaults, what clients may not set removed, metadata.generation set where the kind has one, the kind's own
/// defaulting and validation. All that is wrong is reported at once. Errors: kBadRequest (wrong kind, name differs from
/// the path, strict decoding), kInvalid with causes, kForbidden.
Result<Value> admit_create(Admission& admission, Value object);

/// The same for a replacement of `old`; `old` is as stored. Keeps status where the kind has a status subresource.
Result<Value> admit_update(Admission& admission, const Value& old, Value object);

/// A write to the status subresource: takes status (and metadata that is no identity) from `object`, the rest from
/// `old`.
Result<Value> admit_status_update(Admission& admission, const Value& old, Value object);

/// The body of a write to a view of another kind (see Kind::is_view), checked as far as possible: identity,
/// unknown fields, types, and what it alone requires. `old`: what the object replaces, as the view shows it; nullptr: a
/// create. It is then made into the kind that is stored. Errors: kBadRequest, kInvalid.
Result<Value> admit_view(Admission& admission, Value object, const Value* old);

/// The object as mutating webhooks get to see it, before it is admitted: decoded, with identity and defaults, but not
/// yet checked, as a webhook may add what is missing. Their result goes through the admit_ function
/// that belongs to it. Errors: those of a body that cannot be read.
Result<Value> draft_create(Admission& admission, Value object);
Result<Value> draft_update(Admission& admission, const Value& old, Value object);
Result<Value> draft_status_update(Admission& admission, const Value& old, Value object);

/// Whether the object may be deleted (D-41). Error: kForbidden.
Result<void> admit_delete(const Kind& kind, const Value& old);

}  // namespace shiplog::api
