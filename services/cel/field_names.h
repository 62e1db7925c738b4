#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shiplog::cel {

/// A property's name as an expression has it: "a.b" is "a__dot__b", "namespace" is "__namespace__". nullopt: an
/// expression cannot name it. Source: Kubernetes' documentation of validation rules, "Escaping".
std::optional<std::string> escape_field_name(std::string_view name);

/// The name that escape_field_name() gave `escaped` for; nullopt: for none.
std::optional<std::string> unescape_field_name(std::string_view escaped);

/// A word that the language keeps for itself: no identifier, but a field may be selected by it.
bool is_reserved_word(std::string_view word);

}  // namespace shiplog::cel
