#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog {

/// Writes a file that only its owner may read (mode 0600), whole or not at all and durably: a new file is synced and
/// takes the old one's place. Error: kIo, naming the file and the cause.
Result<void> write_private_file(const std::string& path, std::string_view bytes);

/// Changes a file of the user's, as a kubeconfig. As write_private_file(), but a file that exists keeps its mode, the
/// symbolic link that leads to it and, where this process may set them, its owner and group. Error: kIo.
Result<void> replace_file(const std::string& path, std::string_view bytes);

/// Makes the names in a folder durable: of a file that was made in it, or got another name. Error: kIo.
Result<void> sync_folder(const std::string& folder);

/// The whole file. Errors: kNotFound; kIo; both name the file.
Result<std::string> read_file(const std::string& path);

}  // namespace shiplog
