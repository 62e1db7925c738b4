#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace shiplog {

/// Texts that stand in the objects of every fleet and are too long to lie inside a Value: names of members that the
/// APIs of Kubernetes, Karmada and shiplog define, their labels and annotations, names of types, and a few versions and
/// reasons. They are part of the program: Values of them take no memory and no counter, and no name of a user is ever
/// added.
inline constexpr size_t kShortestWellKnown = 15;
inline constexpr size_t kLongestWellKnown = 63;

/// The same text in the program's own memory; nullptr: it is none of them.
const char* well_known_text(std::string_view text);

/// A number of a text of kShortestWellKnown bytes or more, for tables of such texts.
uint64_t mixed_text(std::string_view text);
/// The same as above, where mixed_text(text) is at hand and the length is within the two bounds.
const char* well_known_text(std::string_view text, uint64_t mixed);

/// All of them, for tests.
std::span<const std::string_view> well_known_texts();

}  // namespace shiplog
