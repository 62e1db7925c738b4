#pragma once

#include <functional>
#include <memory>

#include "services/adapters/members/members.h"
#include "services/roles/dispatcher/apply_work.h"
#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "dispatcher": renders bindings and namespaces into Works and carries these to the members.
/// `open` is applied to a manifest just before it is sent: it turns the sealed strings of Secrets into plain ones.
/// Without it manifests are sent as they are. `resolver` calls interpreter webhooks;
/// without one what needs them is not rendered and not written. `members` and `resolver` outlive the service.
/// `revision_of`: for a state whose revisions are not those of the control plane, as in a member's agent.
std::unique_ptr<Role> make_dispatcher_role(Members& members,
                                           std::function<Result<Value>(const Value& manifest)> open = {},
                                           QuestionResolver* resolver = nullptr,
                                           dispatcher::RevisionOf revision_of = {});

}  // namespace shiplog
