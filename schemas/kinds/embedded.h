#pragma once

#include <span>
#include <string_view>

namespace shiplog {

/// A file of schemas/kinds inside the binary.
struct EmbeddedDocument {
  std::string_view name;   ///< path below schemas/kinds: "builtin/messages.txt", "karmada/works.work.karmada.io.yaml"
  std::string_view bytes;  ///< of a .txt as it is; a .yaml as compact JSON, which is faster to read at every start
};

/// All of them, sorted by name.
std::span<const EmbeddedDocument> embedded_kinds();

}  // namespace shiplog
