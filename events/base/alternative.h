#pragma once

#include <type_traits>
#include <variant>

namespace shiplog {

/// Whether the variant has this type.
template <class Type, class Variant>
inline constexpr bool kIsAlternative = false;
template <class Type, class... Types>
inline constexpr bool kIsAlternative<Type, std::variant<Types...>> = (std::is_same_v<Type, Types> || ...);

}  // namespace shiplog
