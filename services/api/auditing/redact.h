#pragma once

#include <string_view>

#include "events/base/value.h"

namespace shiplog::api {

/// What stands in place of a credential.
inline constexpr const char* kRedacted = "<redacted>";

/// Replaces bearer tokens in an object, a list of objects, a patch, or an object that carries others (a Work): those of
/// TokenReviews and TokenRequests, and those in Secrets of ServiceAccounts and for bootstrapping. Other data of Secrets
/// stays: whether it is recorded is the policy's to say. `resource`: what the request is about, for patches, which do
/// not name a kind.
void redact_tokens(Value& object, std::string_view resource);

}  // namespace shiplog::api
