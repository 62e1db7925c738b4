#pragma once

#include <string>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/state.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::dispatcher {

// What a member is to be sent, worked out from the manifest and what the member has now. Pure.

/// The manifest with the marks that record what it was written from.
Value stamped(Value manifest, Revision acted_upon, const std::string& manifest_hash);

/// E-11, E-12: ours already, or the manifest permits to overwrite it.
bool may_update(const Value& observed, const Value& manifest);

/// The object was written for the same Work from a newer revision than `acted_upon`: an older writer must not overwrite
/// it.
bool written_later(const Value& observed, const Value& manifest, Revision acted_upon);

/// E-13 and E-21: `desired` with what belongs to the member: resourceVersion, its own labels and annotations,
/// finalizers, owners, and the fields that the kind's controllers there have filled in.
/// The state determines how the kind is interpreted. Errors: the interpreter's.
interpreter::Interpreted<Value> retained(const State& state, Value desired, const Value& observed, UtcMillis now,
                                         const Value* answer = nullptr);

/// The member already holds `desired` (stamped and retained).
bool up_to_date(const Value& observed, const Value& desired);

/// E-19: the object as it stays behind, without our marks.
Value preserved(Value observed);

}  // namespace shiplog::dispatcher
