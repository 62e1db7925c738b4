#pragma once

#include "events/fold/staged.h"

namespace shiplog {

/// An internal object of the control plane that belongs to one that users see, and is deleted with it: a copy of the
/// one at `key`, or a new one, with its metadata set. `about`, at `subject`, is what it belongs to.
Value owned_record(const Staged& staged, const ObjectKey& key, const char* kind, const ObjectKey& subject,
                   const Value& about);
/// Creates or replaces it.
Applied put_record(Staged& staged, const ObjectKey& key, Value record);

}  // namespace shiplog
