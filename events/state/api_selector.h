#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"

namespace shiplog {

/// One of the words names the kind. Words are "GROUP", "GROUP/VERSION", "GROUP/VERSION/KIND,KIND" and, of the core
/// group, "v1/KIND,KIND" (D-3).
bool selects_api(const std::vector<std::string>& words, std::string_view api_version, std::string_view kind);

/// Error: kInvalid, the word is none of these forms.
Result<void> check_api_selector(const std::string& word);

}  // namespace shiplog
