#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/runtime/role.h"

namespace shiplog::member {

/// A Service made of pure functions.
struct Controller {
  std::string name;
  std::vector<std::string> types;  ///< of the keys it decides
  std::string owner_kind;          ///< of owner references to such keys: what they own wakes them; may be empty
  Decide decide;
  /// May be empty.
  std::function<Millis(const State& state, const ObjectKey& key, UtcMillis now)> look_again;
  /// Further keys that a change wakes; may be empty.
  std::function<void(const State& state, const Change& change, std::vector<ObjectKey>& wake)> also_wake;
};

std::unique_ptr<Role> run_controller(Controller controller);

}  // namespace shiplog::member
