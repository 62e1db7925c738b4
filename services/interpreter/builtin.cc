#include "services/interpreter/builtin.h"

#include <map>
#include <string_view>

#include "services/interpreter/embedded.h"
#include "services/interpreter/native/native.h"

namespace shiplog::interpreter {
namespace {

struct BuiltinKind {
  Value text;
  std::array<bool, kOperations.size()> offers{};
};

using Kinds = std::map<std::string, BuiltinKind, std::less<>>;

/// A script offers the operations whose functions it defines at the beginning of a line.
const Kinds& kinds() {
  static const Kinds all = [] {
    Kinds found;
    for (const EmbeddedScript& script : embedded_scripts()) {
      BuiltinKind kind;
      kind.text = script.text;
      const std::string text = "\n" + std::string{script.text};
      for (size_t index = 0; index < kOperations.size(); ++index) {
        kind.offers[index] =
            text.find(std::string{"\nfunction "} + kOperations[index].function + "(") != std::string::npos;
      }
      found.emplace(std::string{script.kind}, std::move(kind));
    }
    return found;
  }();
  return all;
}

}  // namespace

std::optional<InterpreterScript> built_in(const Value& object, InterpreterOperation operation) {
  const std::string name = native::kind_of(object);
  const auto kind = kinds().find(name);
  if (kind == kinds().end() || !kind->second.offers[static_cast<size_t>(operation)]) return std::nullopt;
  return InterpreterScript{"built-in " + name + ", " + names_of(operation).field, kind->second.text, {}};
}

std::vector<std::string> built_in_kinds() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds()) names.push_back(name);
  return names;
}

}  // namespace shiplog::interpreter
