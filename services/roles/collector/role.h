#pragma once

#include <functional>
#include <memory>

#include "services/adapters/members/members.h"
#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Told of a Work whose object's status or health could not be read, in upstream's words: no entry says why (T-3, T-4).
using UnreadStatus = std::function<void(const ObjectKey& work, const Error& error)>;

/// Role "collector": looks at the members and their objects, and sums Works up into bindings and templates. `members`
/// outlives the service, and so does `resolver`, which asks interpreter webhooks; without one what needs them stays as
/// it is.
std::unique_ptr<Role> make_collector_role(Members& members, QuestionResolver* resolver = nullptr,
                                          UnreadStatus unread = {});

}  // namespace shiplog
