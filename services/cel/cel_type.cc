#include "services/cel/cel_type.h"

#include <utility>

namespace shiplog::cel {

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

CelType CelType::list(CelType item) {
  return CelType{std::make_shared<const Node>(Node{Kind::kList, "", {std::move(item)}, nullptr})};
}

CelType CelType::map(CelType key, CelType value) {
  return CelType{std::make_shared<const Node>(Node{Kind::kMap, "", {std::move(key), std::move(value)}, nullptr})};
}

CelType CelType::optional(CelType value) {
  return CelType{std::make_shared<const Node>(Node{Kind::kOptional, "", {std::move(value)}, nullptr})};
}

CelType CelType::type_of(CelType type) {
  return CelType{std::make_shared<const Node>(Node{Kind::kType, "", {std::move(type)}, nullptr})};
}

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
  const auto with_parameters = [&](std::string name) {
    if (parameters().empty()) return name;
    name += "(";
    for (size_t i = 0; i < parameters().size(); ++i) name += (i == 0 ? "" : ", ") + parameters()[i].text();
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
      return with_parameters("list");
    case Kind::kMap:
      return with_parameters("map");
    case Kind::kTimestamp:
      return "timestamp";
    case Kind::kDuration:
      return "duration";
    case Kind::kType:
      return with_parameters("type");
    case Kind::kOptional:
      return with_parameters("optional_type");
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
