#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/state/object.h"

namespace shiplog {

namespace sqlite {
class Connection;
}

/// The objects that exist, sorted by the number of their type, their namespace and their name, each with the hash of
/// what was read. Of many, the rows are read, decompressed, parsed and hashed on all cores, with connections of their
/// own to the file: nothing may be written to it meanwhile. `also` reads what else is needed, on another thread if
/// there are many. Errors: kCorrupt; kIo; those of `also`.
Result<std::vector<std::pair<ObjectKey, Object>>> read_live_objects(
    sqlite::Connection& connection, const std::function<Result<void>(sqlite::Connection&)>& also);

}  // namespace shiplog
