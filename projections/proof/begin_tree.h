#pragma once

#include <string>

#include "events/base/result.h"
#include "events/journal/journal.h"

namespace shiplog {

/// Gives a projection that has no tree one of the records that the journal still has, up to where the projection ends:
/// after a migration from a build without trees. Processes that do so before more is trimmed have the same tree. Leaves
/// a tree that is there as it is. The projection must not be open. Errors: those of the journal and the file.
Result<void> begin_tree(Journal& journal, const std::string& projection);

}  // namespace shiplog
