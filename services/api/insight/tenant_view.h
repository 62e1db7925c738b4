#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

// What a user sees of history who may not read everything, but the object that the question is about. Answers are built
// anew from what may be shown: a field that is not named here is not part of them.
namespace shiplog::api {

/// What the requester of an answer may read.
struct InsightReader {
  bool everything = true;                         ///< by a permission for the path; of effects, for the audit trail
  std::function<bool(const ObjectKey&)> may_get;  ///< `get` for an object; not called if `everything`
};

/// What a tenant may ask: fewer versions than others, as anyone with an object in a namespace may ask.
inline constexpr size_t kMostTenantVersions = 200;
inline constexpr size_t kMostTenantVersionsRead = 5000;

/// The first revision of which the object may be shown: that at which its namespace was made, as an object of the same
/// name in an earlier namespace belonged to other users. Of what has no namespace: 0. Blocks on the projection.
Result<Revision> oldest_shown(const View& view, const ObjectKey& object);
/// Error: kForbidden, a revision before that.
Result<void> check_shown(Revision oldest, std::optional<Revision> at);

/// The answers of `history`, `blame`, `diff` and `why`, as shown to the reader. Pure.
Value tenant_history(const Value& answer, Revision oldest, const InsightReader& reader);
Value tenant_blame(const Value& answer, Revision oldest, const InsightReader& reader);
Value tenant_comparison(const Value& answer, Revision oldest, const InsightReader& reader);
/// `binding`: of the object, null if there is none.
Value tenant_why(const Value& answer, const Value& binding, const InsightReader& reader);

}  // namespace shiplog::api
