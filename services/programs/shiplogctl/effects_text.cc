#include <limits>
#include <string>

#include "services/programs/shiplogctl/effects.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

std::string line_of(const DrawnEffect& effect) {
  std::string text = effect.when;
  if (!effect.who.empty()) text += " " + effect.who + ":";
  if (!effect.what.empty()) text += (text.empty() ? "" : " ") + effect.what;
  if (!effect.state.empty()) text += " (" + effect.state + ")";
  return text;
}

/// "1 BindingPut, 3 WorkRendered"
std::string counts(const Value& kinds) {
  std::string text;
  for (const Value::Member& kind : kinds.members()) {
    text += (text.empty() ? "" : ", ") + std::to_string(kind.value.as_int()) + " " + std::string{kind.key()};
  }
  return text;
}

}  // namespace

std::string effects_text(const Value& answer, size_t alike, const Terminal& terminal) {
  std::string text;
  std::vector<std::string> indents{""};  // of what is below each depth
  for (const DrawnEffect& effect : drawn_effects(answer, alike, std::numeric_limits<size_t>::max())) {
    std::string line = line_of(effect);
    if (effect.depth > 0) {
      indents.resize(effect.depth);
      line = indents.back() + (effect.last ? "└─ " : "├─ ") + line;
      indents.push_back(indents.back() + (effect.last ? "   " : "│  "));
    }
    text += (terminal.columns > 0 ? cut(line, terminal.columns) : line) + "\n";
  }
  const std::string kinds = counts(answer["events"]);
  const bool more = answer["items"][0]["more"].as_bool();
  text +=
      "\n" + (!kinds.empty() ? "Effects: " + kinds
                             : std::string{more ? "What followed from it is not listed" : "Nothing followed from it"});
  text += "\n";
  if (const int64_t unreadable = answer["unreadable"].as_int(); unreadable > 0) {
    text += std::to_string(unreadable) + (unreadable == 1 ? " effect is" : " effects are") +
            " about objects that you may not read\n";
  }
  return text;
}

}  // namespace shiplog::ctl
