#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "services/programs/shiplogctl/replay.h"

// The file of `shiplogctl replay --verify --incremental=FILE`: how far a journal has been verified without a
// difference.
namespace shiplog::ctl {

/// nullopt: there is no such file yet. Errors: kIo; kInvalid, it is another file.
Result<std::optional<VerifiedMark>> read_verified_mark(const std::string& file);

/// Replaces the file whole or not at all. Error: kIo.
Result<void> write_verified_mark(const std::string& file, const VerifiedMark& mark);

}  // namespace shiplog::ctl
