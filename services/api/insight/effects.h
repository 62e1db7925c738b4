#pragma once

#include <functional>
#include <optional>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "projections/audit/audit_query.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// Whether the user that asks may get the object. Empty: any object.
using MayRead = std::function<bool(const ObjectKey&)>;

struct EffectsQuestion {
  AuditRow root;                      ///< the entry whose effects are meant
  size_t limit = 1000;                ///< entries
  size_t depth = 50;                  ///< steps from the root
  std::optional<Millis> within = {};  ///< only what followed so soon
  MayRead may_read = {};
  std::function<bool()> expired = {};  ///< the time for the answer is over: it ends with what was found
};

/// Everything that followed from one entry: what names it as its cause, what members reported of the objects that it
/// wrote, what followed from that, and so on. {items, events, unreadable, truncated}:
///   items       the root, then its effects: node, parent (of an item), offset, id, revision, time, afterMillis, user,
///               service, verb, result, events, refusal, trace; more: some of its effects are left out
///   events      how many there are of each kind, without the root's
///   unreadable  events about objects that the user may not read; they are left out, and what followed from them is
///               shown below what came before
///   truncated   why the answer is not complete: "limit", "depth", "time"
/// Error: kForbidden, the user may not read anything that the root is about. Blocks on the projection.
Result<Value> effects_of(const View& view, const EffectsQuestion& question);

/// The entry with this id, searched from the newest one on until `expired`. Error: kNotFound.
Result<AuditRow> entry_with_id(const View& view, const EntryId& id, const std::function<bool()>& expired);

/// Reads 32 hexadecimal digits; nullopt: it is something else.
std::optional<EntryId> parse_entry_id(std::string_view text);

}  // namespace shiplog::api
