#include "services/api/expressions/variable_depth.h"

#include <algorithm>

#include "services/cel/parser.h"

namespace shiplog::api {
namespace {

using cel::CelNode;

/// What the evaluation of a variable puts on the stack besides its expression, in levels of an expression.
constexpr size_t kLevelsOfVariable = 4;

bool is_variables(const CelNode& node) { return node.kind == CelNode::Kind::kIdentifier && node.name == "variables"; }

/// The depth of the deepest variable that the expression reads.
size_t depth_of_read(const CelNode& node, const std::map<std::string, size_t, std::less<>>& depths) {
  size_t deepest = 0;
  const bool selects = node.kind == CelNode::Kind::kSelect || node.kind == CelNode::Kind::kPresence;
  if (selects && is_variables(*node.children[0])) {
    const auto known = depths.find(node.name);
    return known == depths.end() ? 0 : known->second;
  }
  // Of another use of the whole map it is not known which of them are read.
  if (is_variables(node)) {
    for (const auto& [name, depth] : depths) deepest = std::max(deepest, depth);
  }
  for (const auto& child : node.children) deepest = std::max(deepest, depth_of_read(*child, depths));
  return deepest;
}

}  // namespace

Result<void> VariableDepths::add(const std::string& name, std::string_view expression) {
  const auto root = cel::parse_expression(expression);
  size_t depth = 0;
  if (root) depth = root.value()->height + kLevelsOfVariable + depth_of_read(*root.value(), depths_);
  const bool too_deep = depth > kDeepest;
  depths_.emplace(name, too_deep ? 0 : depth);
  if (!too_deep) return ok();
  return Error{ErrorCode::kInvalid,
               "it and the variables that it reads are nested more than " + std::to_string(kDeepest) + " levels deep"};
}

}  // namespace shiplog::api
