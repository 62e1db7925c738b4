#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "services/api/apply/field_set.h"

namespace shiplog::api {

/// Who writes, and through what.
struct FieldWriter {
  std::string manager;
  std::string api_version;  ///< of the request
  std::string subresource;  ///< "status" or "": the object itself
  UtcMillis now;
};

/// The kind's schema with what ObjectMeta means everywhere, which a CustomResourceDefinition omits. Every write
/// needs it, so that of a built-in kind it is the kind's own. `made` keeps any other.
const Schema& applied_schema(const Kind& kind, std::optional<Schema>& made);

/// `after` with metadata.managedFields brought up to date after a create, update or patch by `writer`: what it added or
/// changed is its own now, what was removed has no owner (SSA-6, SSA-7, META-15). `before` is null for
/// a create. With nothing changed the list stays as it was, times and all. An object without managers, whose list a
/// client has cleared for instance, gets none before the next apply.
Value track_update(const FieldWriter& writer, const Kind& kind, const Value& before, Value after);

/// Whether a list of metadata.managedFields can be read; what is wrong, in upstream's words, as far as it has any.
Result<void> check_managed_fields(const Value& managed_fields);

/// `after` differs from `before` in nothing, or only in the times of metadata.managedFields: nothing is to be written
/// (SSA-10). An apply sets its time before admission fills in what the patch does not name, an element of an atomic
/// list for example, which may make of it what is stored.
bool same_but_for_times(const Value& before, const Value& after);

/// One conflict of an apply: `field` belongs to `manager` and would get another value.
struct FieldConflict {
  std::string manager;  ///< as in the message: `"kubectl-client-side-apply" using apps/v1`
  std::string field;    ///< .spec.replicas
};

struct Applied {
  Value object;                          ///< live with the patch applied; managedFields brought up to date
  std::vector<FieldConflict> conflicts;  ///< not empty: the object must not be stored
};

/// Server-side apply (SSA-8 to SSA-12): puts `patch` onto `live` (null: there is none) for `writer`, removes what the
/// same manager applied before and no longer names, and finds whose fields that would change. With `force` they change
/// hands. Error: kBadRequest (SSA-2).
Result<Applied> apply_fields(const FieldWriter& writer, const Kind& kind, const Value& live, const Value& patch,
                             bool force);

/// The 409 for an apply with conflicts (SSA-9).
Error conflict_error(const std::vector<FieldConflict>& conflicts);

/// The manager of a request that names none: its User-Agent up to the first slash.
std::string manager_of(std::string_view field_manager, std::string_view user_agent);

}  // namespace shiplog::api
