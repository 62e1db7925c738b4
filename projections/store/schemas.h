#pragma once

#include <span>
#include <string>

namespace shiplog::store {

/// The text of every projection's schema.sql, in the order in which they are run.
std::span<const char* const> schemas();

/// Identifies the schemas and the fold version of this build. A file with another fingerprint is rebuilt, so a changed
/// schema or fold needs no migration. A change of the data that a projection writes into the same tables must change
/// its schema.sql, at least in a comment.
std::string fingerprint();

}  // namespace shiplog::store
