#pragma once

#include <span>
#include <string_view>

namespace shiplog::interpreter {

/// A file of thirdparty/ that the build has embedded in the program.
struct EmbeddedScript {
  std::string_view kind;  ///< "apps.kruise.io/v1alpha1/CloneSet"
  std::string_view text;
};

std::span<const EmbeddedScript> embedded_scripts();

}  // namespace shiplog::interpreter
