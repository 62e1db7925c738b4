#include "services/cel/macros.h"

#include <array>
#include <string_view>
#include <utility>

namespace shiplog::cel {
namespace {

/// A macro with one or two variables. `condition`: the last but one argument is one.
struct MacroForm {
  std::string_view name;
  CelMacro macro;
  size_t variables;
  size_t arguments;  // without the receiver
  bool condition;
};

constexpr std::array<MacroForm, 20> kForms = {{{"all", CelMacro::kAll, 1, 2, false},
                                               {"all", CelMacro::kAll, 2, 3, false},
                                               {"exists", CelMacro::kExists, 1, 2, false},
                                               {"exists", CelMacro::kExists, 2, 3, false},
                                               {"exists_one", CelMacro::kExistsOne, 1, 2, false},
                                               {"exists_one", CelMacro::kExistsOne, 2, 3, false},
                                               {"existsOne", CelMacro::kExistsOne, 1, 2, false},
                                               {"existsOne", CelMacro::kExistsOne, 2, 3, false},
                                               {"filter", CelMacro::kFilter, 1, 2, false},
                                               {"map", CelMacro::kMap, 1, 2, false},
                                               {"map", CelMacro::kMap, 1, 3, true},
                                               {"transformList", CelMacro::kMap, 2, 3, false},
                                               {"transformList", CelMacro::kMap, 2, 4, true},
                                               {"transformMap", CelMacro::kTransformMap, 2, 3, false},
                                               {"transformMap", CelMacro::kTransformMap, 2, 4, true},
                                               {"transformMapEntry", CelMacro::kTransformMapEntry, 2, 3, false},
                                               {"transformMapEntry", CelMacro::kTransformMapEntry, 2, 4, true},
                                               {"sortBy", CelMacro::kSortBy, 1, 2, false},
                                               {"optMap", CelMacro::kOptionalMap, 1, 2, false},
                                               {"optFlatMap", CelMacro::kOptionalFlatMap, 1, 2, false}}};

std::optional<MacroError> expand_has(CelNode& call) {
  CelNode& argument = *call.children[0];
  if (argument.kind != CelNode::Kind::kSelect || argument.optional) {
    return MacroError{argument.offset, "invalid argument to has() macro"};
  }
  std::unique_ptr<CelNode> selected = std::move(call.children[0]);
  call.kind = CelNode::Kind::kPresence;
  call.name = selected->name;
  call.height = selected->height;
  call.children = std::move(selected->children);
  return std::nullopt;
}

}  // namespace

std::optional<MacroError> expand_macro(CelNode& call) {
  if (!call.member) {
    return call.name == "has" && call.children.size() == 1 ? expand_has(call) : std::nullopt;
  }
  for (const MacroForm& form : kForms) {
    if (form.name != call.name || form.arguments + 1 != call.children.size()) continue;
    for (size_t i = 1; i <= form.variables; ++i) {
      const CelNode& variable = *call.children[i];
      if (variable.kind != CelNode::Kind::kIdentifier) {
        return MacroError{variable.offset, "argument must be a simple name"};
      }
      if (i == 2 && variable.name == call.variables[0]) {
        return MacroError{variable.offset, "duplicate variable name: " + variable.name};
      }
      call.variables.push_back(variable.name);
    }
    call.kind = CelNode::Kind::kMacro;
    call.macro = form.macro;
    call.has_condition = form.condition;
    const auto begin = call.children.begin() + 1;
    call.children.erase(begin, begin + static_cast<ptrdiff_t>(form.variables));
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace shiplog::cel
