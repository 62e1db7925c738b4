#include <string>
#include <string_view>

#include "services/programs/shiplogctl/effects.h"

namespace shiplog::ctl {
namespace {

/// Mermaid lays out in the reader's browser, and stops at 500 edges by default.
constexpr size_t kMostEdges = 400;

/// Mermaid has codes for characters, "#35;", in place of escapes. Letters, digits and what is harmless stay.
std::string mermaid_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool harmless = byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          std::string_view{" .,:/-_+"}.find(c) != std::string_view::npos;
    if (harmless) {
      out += c;
    } else {
      out += "#" + std::to_string(byte) + ";";
    }
  }
  return out;
}

}  // namespace

std::string effects_mermaid(const Value& answer, size_t alike) {
  std::string text = "flowchart LR\n";
  size_t number = 0;
  for (const DrawnEffect& effect : drawn_effects(answer, alike, kMostEdges)) {
    const std::string name = "n" + std::to_string(number);
    std::string label = mermaid_escaped(effect.who.empty() ? effect.when : effect.when + " " + effect.who);
    label += (label.empty() ? "" : "<br>") + mermaid_escaped(effect.what);
    if (!effect.state.empty()) label += "<br>" + mermaid_escaped(effect.state);
    text += "  " + name + "[\"" + label + "\"]\n";
    if (number > 0) text += "  n" + std::to_string(effect.parent) + " --> " + name + "\n";
    if (!effect.state.empty()) text += "  style " + name + " stroke:#c0392b,stroke-width:2px\n";
    ++number;
  }
  return text;
}

}  // namespace shiplog::ctl
