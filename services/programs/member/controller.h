#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/runtime/role.h"

namespace shiplog::member {

/// A role that consists of pure functions.
struct Controller {
  std::string name;
  std::vector<std::string> types;  ///< the types of its keys
  std::string owner_kind;  ///< kind in owner references to its keys: a change of an owned object enqueues the owner;
                           ///< may be empty
  Decide decide;
  /// May be empty.
  std::function<Millis(const State& state, const ObjectKey& key, UtcMillis now)> look_again;
  /// Further keys that a change enqueues; may be empty.
  std::function<void(const State& state, const Change& change, std::vector<ObjectKey>& wake)> also_wake;
};

std::unique_ptr<Role> run_controller(Controller controller);

}  // namespace shiplog::member
