#include "services/cel/type_rules.h"

namespace shiplog::cel {
namespace {

using TypeKind = CelType::Kind;

CelOverload signature(std::vector<CelType> arguments, CelType result) {
  CelOverload overload;
  overload.arguments = std::move(arguments);
  overload.result = std::move(result);
  return overload;
}

std::vector<CelOverload> order_signatures() {
  std::vector<CelOverload> all;
  for (const TypeKind kind :
       {TypeKind::kBool, TypeKind::kString, TypeKind::kBytes, TypeKind::kTimestamp, TypeKind::kDuration}) {
    all.push_back(signature({kind, kind}, TypeKind::kBool));
  }
  for (const TypeKind left : {TypeKind::kInt, TypeKind::kUint, TypeKind::kDouble}) {
    for (const TypeKind right : {TypeKind::kInt, TypeKind::kUint, TypeKind::kDouble}) {
      all.push_back(signature({left, right}, TypeKind::kBool));
    }
  }
  return all;
}

std::vector<CelOverload> same_kind(std::initializer_list<TypeKind> kinds) {
  std::vector<CelOverload> all;
  for (const TypeKind kind : kinds) all.push_back(signature({kind, kind}, kind));
  return all;
}

std::vector<CelOverload> sum_signatures(bool add) {
  auto all = same_kind({TypeKind::kInt, TypeKind::kUint, TypeKind::kDouble, TypeKind::kDuration});
  all.push_back(signature({TypeKind::kTimestamp, TypeKind::kDuration}, TypeKind::kTimestamp));
  if (!add) {
    all.push_back(signature({TypeKind::kTimestamp, TypeKind::kTimestamp}, TypeKind::kDuration));
    return all;
  }
  all.push_back(signature({TypeKind::kDuration, TypeKind::kTimestamp}, TypeKind::kTimestamp));
  for (const TypeKind kind : {TypeKind::kString, TypeKind::kBytes}) all.push_back(signature({kind, kind}, kind));
  const CelType list = CelType::list(CelType::parameter("A"));
  all.push_back(signature({list, list}, list));
  return all;
}

std::vector<CelOverload> signatures_of(CelOperator operation) {
  const CelType a = CelType::parameter("A");
  switch (operation) {
    case CelOperator::kNot:
      return {signature({TypeKind::kBool}, TypeKind::kBool)};
    case CelOperator::kNegate:
      return {signature({TypeKind::kInt}, TypeKind::kInt), signature({TypeKind::kDouble}, TypeKind::kDouble)};
    case CelOperator::kAdd:
      return sum_signatures(true);
    case CelOperator::kSubtract:
      return sum_signatures(false);
    case CelOperator::kMultiply:
    case CelOperator::kDivide:
      return same_kind({TypeKind::kInt, TypeKind::kUint, TypeKind::kDouble});
    case CelOperator::kModulo:
      return same_kind({TypeKind::kInt, TypeKind::kUint});
    case CelOperator::kEqual:
    case CelOperator::kNotEqual:
      return {signature({a, a}, TypeKind::kBool)};
    case CelOperator::kLess:
    case CelOperator::kLessOrEqual:
    case CelOperator::kGreater:
    case CelOperator::kGreaterOrEqual:
      return order_signatures();
    case CelOperator::kIn:
      return {signature({a, CelType::list(a)}, TypeKind::kBool),
              signature({a, CelType::map(a, CelType::parameter("B"))}, TypeKind::kBool)};
  }
  return {};
}

bool takes_null(const CelType& type) {
  return type.is(TypeKind::kTimestamp) || type.is(TypeKind::kDuration) || type.is(TypeKind::kObject) ||
         type.is(TypeKind::kExtension) || type.is(TypeKind::kOptional);
}

bool is_bindable(const CelType& actual, const CelType& formal, CelTypeBindings& bindings) {
  const auto [bound, is_new] = bindings.emplace(formal.name(), actual);
  if (is_new || is_assignable(actual, bound->second)) return true;
  if (!is_assignable(bound->second, actual)) return false;
  bound->second = actual;
  return true;
}

}  // namespace

bool is_assignable(const CelType& actual, const CelType& formal, CelTypeBindings& bindings) {
  if (formal.is(TypeKind::kParameter)) return is_bindable(actual, formal, bindings);
  if (formal.is_dyn()) return true;
  if (actual.is_dyn()) {
    for (const CelType& parameter : formal.parameters()) is_assignable(actual, parameter, bindings);
    return true;
  }
  if (actual.is(TypeKind::kNull) && takes_null(formal)) return true;
  if (actual.kind() != formal.kind() || actual.name() != formal.name()) return false;
  if (formal.is(TypeKind::kObject)) return actual.object() == formal.object();
  if (formal.is(TypeKind::kType)) return true;
  if (actual.parameters().size() != formal.parameters().size()) return false;
  for (size_t i = 0; i < formal.parameters().size(); ++i) {
    if (!is_assignable(actual.parameters()[i], formal.parameters()[i], bindings)) return false;
  }
  return true;
}

bool is_assignable(const CelType& actual, const CelType& formal) {
  CelTypeBindings bindings;
  return is_assignable(actual, formal, bindings);
}

CelType substituted(const CelType& type, const CelTypeBindings& bindings) {
  switch (type.kind()) {
    case TypeKind::kParameter: {
      const auto bound = bindings.find(type.name());
      return bound == bindings.end() ? CelType{} : bound->second;
    }
    case TypeKind::kList:
      return CelType::list(substituted(type.parameters()[0], bindings));
    case TypeKind::kMap:
      return CelType::map(substituted(type.parameters()[0], bindings), substituted(type.parameters()[1], bindings));
    case TypeKind::kOptional:
      return CelType::optional(substituted(type.parameters()[0], bindings));
    case TypeKind::kType:
      return type.parameters().empty() ? type : CelType::type_of(substituted(type.parameters()[0], bindings));
    case TypeKind::kDyn:
    case TypeKind::kError:
    case TypeKind::kNull:
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kUint:
    case TypeKind::kDouble:
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kTimestamp:
    case TypeKind::kDuration:
    case TypeKind::kExtension:
    case TypeKind::kObject:
      return type;
  }
  return type;
}

const std::vector<CelOverload>& operator_signatures(CelOperator operation) {
  static const auto kAll = [] {
    std::vector<std::vector<CelOverload>> all;
    for (int at = 0; at <= static_cast<int>(CelOperator::kIn); ++at) {
      all.push_back(signatures_of(static_cast<CelOperator>(at)));
    }
    return all;
  }();
  return kAll[static_cast<size_t>(operation)];
}

bool has_kind(const CelValue& value, const CelType& type) {
  using V = CelValue::Kind;
  switch (type.kind()) {
    case TypeKind::kDyn:
    case TypeKind::kError:
    case TypeKind::kParameter:
      return true;
    case TypeKind::kNull:
      return value.is(V::kNull);
    case TypeKind::kBool:
      return value.is(V::kBool);
    case TypeKind::kInt:
      return value.is(V::kInt);
    case TypeKind::kUint:
      return value.is(V::kUint);
    case TypeKind::kDouble:
      return value.is(V::kDouble);
    case TypeKind::kString:
      return value.is(V::kString);
    case TypeKind::kBytes:
      return value.is(V::kBytes);
    case TypeKind::kList:
      return value.is(V::kList);
    case TypeKind::kMap:
    case TypeKind::kObject:
      return value.is(V::kMap);
    case TypeKind::kTimestamp:
      return value.is(V::kTimestamp);
    case TypeKind::kDuration:
      return value.is(V::kDuration);
    case TypeKind::kType:
      return value.is(V::kType);
    case TypeKind::kOptional:
      return value.is(V::kOptional);
    case TypeKind::kExtension:
      return value.is(V::kExtension) && value.as_extension()->type_name() == type.name();
  }
  return false;
}

}  // namespace shiplog::cel
