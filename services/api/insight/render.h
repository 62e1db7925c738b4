#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/audit/audit_query.h"
#include "projections/decisions/decision_query.h"
#include "services/api/insight/diff.h"

namespace shiplog::api {

/// Sets the member, unless the text is empty.
void set_if(Value& object, std::string_view key, const std::string& text);

/// {type, namespace, name}, without what is empty.
Value to_value(const ObjectKey& key);
/// One entry: offset, id, time, revision, user, service, verb, path, cause, events, result, ...
Value to_value(const AuditRow& entry);
/// {path, change, before, after}.
Value to_value(const FieldChange& change);
/// Error: kCorrupt, the stored explanation is no JSON.
Result<Value> to_value(const DecisionRow& decision);

/// The hash of a whole state, without its objects at hand: their sum is part of the meta.
Hash128 hash_of(const StateMeta& meta);

}  // namespace shiplog::api
