#include "events/slots.h"

#include <charconv>

#include "events/base/hash.h"

namespace shiplog {

int slot_of(std::string_view name) { return static_cast<int>(siphash128(name).lo % kSlots); }

std::string slot_lease(std::string_view role, int slot) { return std::string{role} + ":" + std::to_string(slot); }

std::string_view role_of_lease(std::string_view lease) { return lease.substr(0, lease.find(':')); }

std::optional<int> slot_of_lease(std::string_view lease) {
  const size_t colon = lease.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  lease.remove_prefix(colon + 1);
  int slot = -1;
  const auto [end, error] = std::from_chars(lease.data(), lease.data() + lease.size(), slot);
  if (error != std::errc{} || end != lease.data() + lease.size() || slot < 0 || slot >= kSlots) return std::nullopt;
  return slot;
}

}  // namespace shiplog
