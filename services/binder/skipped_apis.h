#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/state/fleet_options.h"

namespace shiplog::binder {

/// --skipped-propagating-apis leaves objects of this kind out (D-3). Its words are "GROUP", "GROUP/VERSION",
/// "GROUP/VERSION/KIND,KIND" and, of the core group, "v1/KIND,KIND".
bool skips_api(const FleetOptions& options, std::string_view api_version, std::string_view kind);

/// Error: kInvalid, the word is none of these forms.
Result<void> check_skipped_api(const std::string& word);

}  // namespace shiplog::binder
