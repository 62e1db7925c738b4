#include "services/cel/type_rules.h"

namespace shiplog::cel {
namespace {

using Kind = CelType::Kind;

CelOverload signature(std::vector<CelType> arguments, CelType result) {
  CelOverload overload;
  overload.arguments = std::move(arguments);
  overload.result = std::move(result);
  return overload;
}

std::vector<CelOverload> order_signatures() {
  std::vector<CelOverload> all;
  for (const Kind kind : {Kind::kBool, Kind::kString, Kind::kBytes, Kind::kTimestamp, Kind::kDuration}) {
    all.push_back(signature({kind, kind}, Kind::kBool));
  }
  for (const Kind left : {Kind::kInt, Kind::kUint, Kind::kDouble}) {
    for (const Kind right : {Kind::kInt, Kind::kUint, Kind::kDouble}) {
      all.push_back(signature({left, right}, Kind::kBool));
    }
  }
  return all;
}

std::vector<CelOverload> same_kind(std::initializer_list<Kind> kinds) {
  std::vector<CelOverload> all;
  for (const Kind kind : kinds) all.push_back(signature({kind, kind}, kind));
  return all;
}

std::vector<CelOverload> sum_signatures(bool add) {
  auto all = same_kind({Kind::kInt, Kind::kUint, Kind::kDouble, Kind::kDuration});
  all.push_back(signature({Kind::kTimestamp, Kind::kDuration}, Kind::kTimestamp));
  if (!add) {
    all.push_back(signature({Kind::kTimestamp, Kind::kTimestamp}, Kind::kDuration));
    return all;
  }
  all.push_back(signature({Kind::kDuration, Kind::kTimestamp}, Kind::kTimestamp));
  for (const Kind kind : {Kind::kString, Kind::kBytes}) all.push_back(signature({kind, kind}, kind));
  const CelType list = CelType::list(CelType::parameter("A"));
  all.push_back(signature({list, list}, list));
  return all;
}

std::vector<CelOverload> signatures_of(CelOperator operation) {
  const CelType a = CelType::parameter("A");
  switch (operation) {
    case CelOperator::kNot:
      return {signature({Kind::kBool}, Kind::kBool)};
    case CelOperator::kNegate:
      return {signature({Kind::kInt}, Kind::kInt), signature({Kind::kDouble}, Kind::kDouble)};
    case CelOperator::kAdd:
      return sum_signatures(true);
    case CelOperator::kSubtract:
      return sum_signatures(false);
    case CelOperator::kMultiply:
    case CelOperator::kDivide:
      return same_kind({Kind::kInt, Kind::kUint, Kind::kDouble});
    case CelOperator::kModulo:
      return same_kind({Kind::kInt, Kind::kUint});
    case CelOperator::kEqual:
    case CelOperator::kNotEqual:
      return {signature({a, a}, Kind::kBool)};
    case CelOperator::kLess:
    case CelOperator::kLessOrEqual:
    case CelOperator::kGreater:
    case CelOperator::kGreaterOrEqual:
      return order_signatures();
    case CelOperator::kIn:
      return {signature({a, CelType::list(a)}, Kind::kBool),
              signature({a, CelType::map(a, CelType::parameter("B"))}, Kind::kBool)};
  }
  return {};
}

bool takes_null(const CelType& type) {
  return type.is(Kind::kTimestamp) || type.is(Kind::kDuration) || type.is(Kind::kObject) || type.is(Kind::kExtension) ||
         type.is(Kind::kOptional);
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
  if (formal.is(Kind::kParameter)) return is_bindable(actual, formal, bindings);
  if (formal.is_dyn()) return true;
  if (actual.is_dyn()) {
    for (const CelType& parameter : formal.parameters()) is_assignable(actual, parameter, bindings);
    return true;
  }
  if (actual.is(Kind::kNull) && takes_null(formal)) return true;
  if (actual.kind() != formal.kind() || actual.name() != formal.name()) return false;
  if (formal.is(Kind::kObject)) return actual.object() == formal.object();
  if (formal.is(Kind::kType)) return true;
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
    case Kind::kParameter: {
      const auto bound = bindings.find(type.name());
      return bound == bindings.end() ? CelType{} : bound->second;
    }
    case Kind::kList:
      return CelType::list(substituted(type.parameters()[0], bindings));
    case Kind::kMap:
      return CelType::map(substituted(type.parameters()[0], bindings), substituted(type.parameters()[1], bindings));
    case Kind::kOptional:
      return CelType::optional(substituted(type.parameters()[0], bindings));
    case Kind::kType:
      return type.parameters().empty() ? type : CelType::type_of(substituted(type.parameters()[0], bindings));
    case Kind::kDyn:
    case Kind::kError:
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kTimestamp:
    case Kind::kDuration:
    case Kind::kExtension:
    case Kind::kObject:
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
    case Kind::kDyn:
    case Kind::kError:
    case Kind::kParameter:
      return true;
    case Kind::kNull:
      return value.is(V::kNull);
    case Kind::kBool:
      return value.is(V::kBool);
    case Kind::kInt:
      return value.is(V::kInt);
    case Kind::kUint:
      return value.is(V::kUint);
    case Kind::kDouble:
      return value.is(V::kDouble);
    case Kind::kString:
      return value.is(V::kString);
    case Kind::kBytes:
      return value.is(V::kBytes);
    case Kind::kList:
      return value.is(V::kList);
    case Kind::kMap:
    case Kind::kObject:
      return value.is(V::kMap);
    case Kind::kTimestamp:
      return value.is(V::kTimestamp);
    case Kind::kDuration:
      return value.is(V::kDuration);
    case Kind::kType:
      return value.is(V::kType);
    case Kind::kOptional:
      return value.is(V::kOptional);
    case Kind::kExtension:
      return value.is(V::kExtension) && value.as_extension()->type_name() == type.name();
  }
  return false;
}

}  // namespace shiplog::cel
