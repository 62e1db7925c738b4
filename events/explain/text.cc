#include "events/explain/text.h"

#include "events/explain/fact_texts.h"

namespace shiplog {
namespace explain {

std::string text(const Text& fact, const Explanation&) { return fact.text; }

}  // namespace explain

std::string text_of(const Fact& fact, const Explanation& of) {
  return std::visit([&](const auto& kind) { return explain::text(kind, of); }, static_cast<const FactVariant&>(fact));
}

std::string text_of(const Fact& fact) {
  static const Explanation kNone;
  return text_of(fact, kNone);
}

}  // namespace shiplog
