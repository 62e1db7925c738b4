#pragma once

#include <string_view>

namespace shiplog::sqlite {

/// Whether statements of users may call this function of SQLite, named in lower case as its authorizer names it. Left
/// out is what allocates or runs at length in one step (printf, randomblob, zeroblob, trim of a set, json_patch), what
/// reads more than its arguments, and what reports on the process. A function of a newer SQLite is not permitted until
/// it is listed.
bool is_permitted_function(std::string_view name);

}  // namespace shiplog::sqlite
