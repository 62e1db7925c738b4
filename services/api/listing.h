#pragma once

#include <string>
#include <vector>

#include "services/api/request.h"
#include "services/api/stored_objects.h"

namespace shiplog::api {

/// Objects of a collection that match the selectors, and the list's metadata.
struct Listed {
  std::vector<Value> items;
  Value metadata;
};

/// The collection of the kind; `ns` empty: of all namespaces. Blocks on the projection. Errors: kBadRequest, a selector
/// or token cannot be read; kGone, the revision is no longer kept, or before `oldest`; kTimeout, it has not been
/// reached.
Result<Listed> list_collection(const StoredObjects& objects, const Kind& kind, const std::string& ns,
                               const ReadOptions& options, Revision oldest = {});

/// Of listed objects, now that they are in the version of `kind`, those that the field selector selects: of an object
/// in another version, list_collection() compares only name and namespace.
Result<std::vector<Value>> selected_again(std::vector<Value> items, const Kind& kind, const ReadOptions& options);

/// The error for a revision before `oldest`: client libraries begin anew with the newest one.
Error too_old(Revision wanted, Revision oldest);
/// The error for a revision that has not been reached: client libraries look for its message.
Error too_large(Revision wanted, Revision newest);

}  // namespace shiplog::api
