#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/programs/shiplogd/options.h"

namespace CLI {
class App;
}

namespace shiplog {

/// How long what is kept, as words.
struct RetentionWords {
  std::string journal = "none", ephemera = "6h", history = "none", audit = "none", decisions = "none";
  std::vector<std::string> families;  ///< "dispatch=7d"
  int64_t interval = 60;
};

void add_retention(CLI::App& app, RetentionWords& words, std::string& store);
/// Error: kInvalid, naming the option.
Result<void> read_retention(const RetentionWords& words, ServeOptions& options);

}  // namespace shiplog
