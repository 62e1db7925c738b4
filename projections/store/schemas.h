#pragma once

#include <span>
#include <string>

namespace shiplog::store {

/// The text of every projection's schema.sql, in the order in which they are run.
std::span<const char* const> schemas();

/// Of the schemas and the fold version this build knows. A file with another one is built anew, so a changed schema or
/// fold needs no migration. A change of what a projection writes into the same tables must change its schema.sql, if
/// only in a comment.
std::string fingerprint();

}  // namespace shiplog::store
