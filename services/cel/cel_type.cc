#include "services/cel/cel_type.h"

#include <algorithm>
#include <utility>

namespace shiplog::cel {
namespace {

// Types of real expressions have a tenth of that.
constexpr size_t kDeepestType = 32;
constexpr size_t kMostParts = 100;
constexpr size_t kLongestTypeText = 200;

}  // namespace

CelType::CelType(Kind kind) {
  // Types without parameters are made for each expression: they share one node for each kind.
  static const auto kNodes = [] {
    std::vector<std::shared_ptr<const Node>> nodes;
    for (int at = 0; at <= static_cast<int>(Kind::kObject); ++at) {
      nodes.push_back(std::make_shared<const Node>(Node{static_cast<Kind>(at), "", {}, nullptr}));
    }
    return nodes;
  }();
  node_ = kNodes[static_cast<size_t>(kind)];
}

CelType CelType::with_parameters(Kind kind, std::vector<CelType> parameters) {
  Node node{kind, "", std::move(parameters), nullptr};
  for (CelType& parameter : node.parameters) {
    if (parameter.node_->depth >= kDeepestType || parameter.node_->parts >= kMostParts) parameter = CelType{};
    node.depth = std::max(node.depth, 1 + parameter.node_->depth);
    node.parts += parameter.node_->parts;
  }
  return CelType{std::make_shared<const Node>(std::move(node))};
}

CelType CelType::list(CelType item) { return with_parameters(Kind::kList, {std::move(item)}); }

CelType CelType::map(CelType key, CelType value) {
  return with_parameters(Kind::kMap, {std::move(key), std::move(value)});
}

CelType CelType::optional(CelType value) { return with_parameters(Kind::kOptional, {std::move(value)}); }

CelType CelType::type_of(CelType type) { return with_parameters(Kind::kType, {std::move(type)}); }

CelType CelType::parameter(std::string name) {
  return CelType{std::make_shared<const Node>(Node{Kind::kParameter, std::move(name), {}, nullptr})};
}

CelType CelType::extension(std::string name) {
  return CelType{std::make_shared<const Node>(Node{Kind::kExtension, std::move(name), {}, nullptr})};
}

CelType CelType::object(std::shared_ptr<const CelObjectType> object) {
  return CelType{std::make_shared<const Node>(Node{Kind::kObject, "", {}, std::move(object)})};
}

std::string CelType::text() const {
  std::string text = whole_text();
  return text.size() <= kLongestTypeText ? text : text.substr(0, kLongestTypeText) + "...";
}

std::string CelType::whole_text() const {
  const auto parameterized = [&](std::string name) {
    if (parameters().empty()) return name;
    name += "(";
    for (size_t i = 0; i < parameters().size(); ++i) name += (i == 0 ? "" : ", ") + parameters()[i].whole_text();
    return name + ")";
  };
  switch (kind()) {
    case Kind::kDyn:
      return "dyn";
    case Kind::kError:
      return "!error!";
    case Kind::kParameter:
    case Kind::kExtension:
      return name();
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return parameterized("list");
    case Kind::kMap:
      return parameterized("map");
    case Kind::kTimestamp:
      return "timestamp";
    case Kind::kDuration:
      return "duration";
    case Kind::kType:
      return parameterized("type");
    case Kind::kOptional:
      return parameterized("optional_type");
    case Kind::kObject:
      return object() == nullptr ? "object" : object()->name;
  }
  return "dyn";
}

bool CelType::operator==(const CelType& other) const {
  if (node_ == other.node_) return true;
  if (kind() != other.kind() || name() != other.name()) return false;
  if (kind() == Kind::kObject) return object() == other.object();
  return parameters() == other.parameters();
}

}  // namespace shiplog::cel
