#pragma once

#include <span>
#include <string_view>

namespace shiplog {

/// A file of schemas/kinds that is embedded in the binary.
struct EmbeddedDocument {
  std::string_view name;   ///< path below schemas/kinds: "builtin/messages.txt", "karmada/works.work.karmada.io.yaml"
  std::string_view bytes;  ///< a .txt unchanged; a .yaml as compact JSON, which is faster to parse at start
};

/// All embedded files, sorted by name.
std::span<const EmbeddedDocument> embedded_kinds();

}  // namespace shiplog
