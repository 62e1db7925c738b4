#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "services/api/context.h"
#include "services/api/webhooks/review.h"

namespace shiplog::api {

/// What came of asking.
struct Hooked {
  std::optional<Denial> denial;
  Value object;  ///< as the mutating webhooks leave it
  std::vector<std::string> warnings;
};
using OnHooked = std::function<void(Hooked)>;

/// Whether some webhook's rules match a request for this kind, so that it has to be asked. Cheap when there are none.
bool must_ask(const Server& server, const Context& context, bool mutating, const std::string& operation,
              const std::string& subresource);

/// The action that this request is: who, how, which resource. Object, old object and name are the caller's to fill in.
HookedAction action_of(const Context& context, const std::string& operation, bool dry_run);

/// Asks the mutating webhooks that match, one after the other in the order of their configurations' names, each about
/// what the one before left (ADM-2); once more those that want to see what later ones did. Reads the projection: call
/// where that may block. `then` comes once, here or on a worker thread.
void ask_mutating(const ServerPtr& server, const ContextPtr& context, HookedAction action, OnHooked then);

/// Asks the validating webhooks that match, all at once. The first denial in the order of the configurations counts.
void ask_validating(const ServerPtr& server, const ContextPtr& context, HookedAction action, OnHooked then);

}  // namespace shiplog::api
