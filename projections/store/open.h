#pragma once

#include <memory>
#include <string>

#include "events/base/result.h"

namespace shiplog::sqlite {
class Connection;
}

namespace shiplog::store {

/// The projection at `path`, in WAL mode. Errors: those of sqlite::Connection.
/// For its one writer; makes the file when there is none.
Result<std::unique_ptr<sqlite::Connection>> open_writer(const std::string& path);
/// The file must exist; statements that write fail.
Result<std::unique_ptr<sqlite::Connection>> open_reader(const std::string& path);

}  // namespace shiplog::store
