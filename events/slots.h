#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shiplog {

/// The keys of a role that is divided among processes belong to so many slots. Each slot has a lease of its own, whose
/// holder alone acts for the slot's keys. Part of what journals mean: another number is a new fold version.
inline constexpr int kSlots = 16;

/// From this fold version on divided roles have a lease for each slot instead of one for the role.
inline constexpr uint32_t kSlotsFoldVersion = 6;

/// The slot of a member, or of another name: the same for ever, on every machine.
int slot_of(std::string_view name);

/// The lease of a slot: "dispatcher:3". A name without a colon is that of a whole role.
std::string slot_lease(std::string_view role, int slot);
/// "dispatcher" of "dispatcher:3", and of "dispatcher".
std::string_view role_of_lease(std::string_view lease);
/// 3 of "dispatcher:3"; nullopt: it is the lease of a whole role.
std::optional<int> slot_of_lease(std::string_view lease);

}  // namespace shiplog
