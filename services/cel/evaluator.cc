#include "services/cel/evaluator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "events/base/utf8.h"
#include "services/cel/operators.h"
#include "services/cel/patch_object.h"
#include "services/cel/program.h"
#include "services/cel/type_rules.h"

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

// Upstream's costs of making a list or a map.
constexpr uint64_t kListCost = 10;
constexpr uint64_t kMapCost = 30;
constexpr uint64_t kObjectCost = 40;

/// As an error names a key.
std::string key_in_words(const CelValue& key) {
  if (key.is(Kind::kString)) return printable(key.as_string(), 200);
  if (key.is(Kind::kInt)) return std::to_string(key.as_int());
  if (key.is(Kind::kUint)) return std::to_string(key.as_uint());
  if (key.is(Kind::kBool)) return key.as_bool() ? "true" : "false";
  if (key.is(Kind::kDouble)) return std::to_string(key.as_double());
  return key.type_of().text();
}

std::optional<int64_t> list_index(const CelValue& key) {
  if (key.is(Kind::kInt)) return key.as_int();
  if (key.is(Kind::kUint) && key.as_uint() <= INT64_MAX) return static_cast<int64_t>(key.as_uint());
  if (key.is(Kind::kDouble) && std::trunc(key.as_double()) == key.as_double() && std::abs(key.as_double()) < 0x1p53) {
    return static_cast<int64_t>(key.as_double());
  }
  return std::nullopt;
}

/// What is at `key`; nullopt: nothing is, and `missing` tells what to report. Errors are error values.
std::optional<CelValue> item_at(const CelValue& target, const CelValue& key, std::string& missing) {
  missing = "no such key: ";
  if (target.is(Kind::kMap)) return target.as_map().find(key);
  if (!target.is(Kind::kList)) return std::nullopt;
  const auto at = list_index(key);
  if (!at) return CelValue::error("unsupported index type '" + key.type_of().text() + "' in list");
  missing = "index out of bounds: ";
  if (*at < 0 || static_cast<uint64_t>(*at) >= target.as_list().size()) return std::nullopt;
  return target.as_list().at(static_cast<size_t>(*at));
}

/// The field of that name; nullopt: there is none, as in null, in a number and in a text. Errors are error values.
std::optional<CelValue> field_at(const CelValue& target, const std::string& name) {
  if (target.is(Kind::kMap)) return target.as_map().field(name);
  if (target.is(Kind::kList)) return CelValue::error("unsupported index type 'string' in list");
  return std::nullopt;
}

CelValue optional_of(std::optional<CelValue> value) {
  if (!value) return CelValue::none();
  if (value->is_error()) return *std::move(value);
  return CelValue::some(*std::move(value));
}

}  // namespace

CelValue cost_limit_exceeded() { return CelValue::error(std::string{kCostLimitExceeded}); }

CelValue CelEvaluator::evaluate(const CelNode& node) {
  if (meter_.exceeded()) return cost_limit_exceeded();
  switch (node.kind) {
    case CelNode::Kind::kLiteral:
      return literal(node);
    case CelNode::Kind::kIdentifier:
      meter_.charge(1);
      return slots_[node.slot];
    case CelNode::Kind::kSelect:
      return select(node);
    case CelNode::Kind::kPresence:
      return presence(node);
    case CelNode::Kind::kIndex:
      return index(node);
    case CelNode::Kind::kCall:
      return call(node);
    case CelNode::Kind::kOperator:
      return operation(node);
    case CelNode::Kind::kAnd:
    case CelNode::Kind::kOr:
      return logic(node);
    case CelNode::Kind::kConditional:
      return conditional(node);
    case CelNode::Kind::kList:
      return list(node);
    case CelNode::Kind::kMap:
      return map(node);
    case CelNode::Kind::kObject:
      return object(node);
    case CelNode::Kind::kMacro:
      return macro(node);
  }
  return CelValue::no_such_overload();
}

/// Upstream charges nothing for literals. A long expression may have thousands in each step of a loop.
CelValue CelEvaluator::literal(const CelNode& node) {
  if (++literals_ % kLiteralsOfUnit == 0) meter_.charge(1);
  return node.literal;
}

CelValue CelEvaluator::select(const CelNode& node) {
  const CelValue target = evaluate(*node.children[0]);
  meter_.charge(1 + node.name.size() / kBytesOfUnit);
  if (target.is_error()) return target;
  // What follows an optional is optional, too.
  if (target.is(Kind::kOptional)) {
    return target.as_optional() == nullptr ? target : optional_of(field_at(*target.as_optional(), node.name));
  }
  auto found = field_at(target, node.name);
  if (node.optional) return optional_of(std::move(found));
  return found ? *std::move(found) : CelValue::error("no such key: " + node.name);
}

CelValue CelEvaluator::presence(const CelNode& node) {
  const CelValue target = evaluate(*node.children[0]);
  if (target.is_error()) return target;
  const CelValue* inner = target.is(Kind::kOptional) ? target.as_optional() : &target;
  if (inner == nullptr) return CelValue::boolean(false);
  meter_.charge(node.name.size() / kBytesOfUnit);
  const auto found = field_at(*inner, node.name);
  if (found && found->is_error()) return *found;
  return CelValue::boolean(found.has_value());
}

CelValue CelEvaluator::index(const CelNode& node) {
  const CelValue target = evaluate(*node.children[0]);
  if (target.is_error()) return target;
  const CelValue key = evaluate(*node.children[1]);
  if (!meter_.charge(1 + text_size(key) / kBytesOfUnit)) return cost_limit_exceeded();
  if (key.is_error()) return key;
  std::string missing;
  if (target.is(Kind::kOptional)) {
    return target.as_optional() == nullptr ? target : optional_of(item_at(*target.as_optional(), key, missing));
  }
  auto found = item_at(target, key, missing);
  if (node.optional) return optional_of(std::move(found));
  return found ? *std::move(found) : CelValue::error(missing + key_in_words(key));
}

CelValue CelEvaluator::call(const CelNode& node) {
  std::vector<CelValue> arguments;
  arguments.reserve(node.children.size());
  for (const auto& child : node.children) {
    arguments.push_back(evaluate(*child));
    if (arguments.back().is_error()) return arguments.back();
  }
  for (const CelOverload* overload : node.overloads) {
    bool fits = true;
    for (size_t i = 0; fits && i < arguments.size(); ++i) fits = has_kind(arguments[i], overload->arguments[i]);
    if (!fits) continue;
    // The implementation reads its arguments.
    const uint64_t bytes =
        std::transform_reduce(arguments.begin(), arguments.end(), uint64_t{0}, std::plus<>{}, text_size);
    if (!meter_.charge(bytes / kBytesOfUnit)) return cost_limit_exceeded();
    const CelImplementation& implementation = node.prepared ? node.prepared : overload->call;
    CelValue result = implementation(arguments, meter_);
    meter_.charge(overload->cost ? overload->cost(arguments, result) : 1);
    return result;
  }
  return CelValue::no_such_overload();
}

CelValue CelEvaluator::operation(const CelNode& node) {
  const CelValue a = evaluate(*node.children[0]);
  if (a.is_error()) return a;
  if (node.children.size() == 1) return operate(node.operation, a, meter_);
  const CelValue b = evaluate(*node.children[1]);
  if (b.is_error()) return b;
  if (meter_.exceeded()) return cost_limit_exceeded();
  return operate(node.operation, a, b, meter_);
}

/// An operand that decides wins over errors of the others, whatever their order.
CelValue CelEvaluator::logic(const CelNode& node) {
  const bool decisive = node.kind == CelNode::Kind::kOr;
  std::optional<CelValue> error;
  for (const auto& child : node.children) {
    CelValue value = evaluate(*child);
    if (value.is(Kind::kBool)) {
      if (value.as_bool() == decisive) return value;
    } else if (!error) {
      error = value.is_error() ? std::move(value) : CelValue::no_such_overload();
    }
  }
  return error ? *std::move(error) : CelValue::boolean(!decisive);
}

CelValue CelEvaluator::conditional(const CelNode& node) {
  const CelValue condition = evaluate(*node.children[0]);
  if (condition.is_error()) return condition;
  if (!condition.is(Kind::kBool)) return CelValue::no_such_overload();
  return evaluate(*node.children[condition.as_bool() ? 1 : 2]);
}

CelValue CelEvaluator::list(const CelNode& node) {
  meter_.charge(kListCost);
  std::vector<CelValue> items;
  items.reserve(node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i) {
    CelValue item = evaluate(*node.children[i]);
    if (item.is_error()) return item;
    if (!node.optional_entries.empty() && node.optional_entries[i]) {
      if (!item.is(Kind::kOptional)) return CelValue::no_such_overload();
      if (item.as_optional() == nullptr) continue;
      item = CelValue{*item.as_optional()};
    }
    items.push_back(std::move(item));
  }
  return CelValue::list(std::move(items));
}

CelValue CelEvaluator::map(const CelNode& node) {
  meter_.charge(kMapCost + node.children.size() / kLiteralsOfUnit);
  return entries(node);
}

CelValue CelEvaluator::object(const CelNode& node) {
  meter_.charge(kObjectCost + node.children.size() / kLiteralsOfUnit);
  CelValue fields = entries(node);
  return fields.is_error() ? fields : patch_object(node.name, fields.shared_map());
}

CelValue CelEvaluator::entries(const CelNode& node) {
  std::vector<std::pair<CelValue, CelValue>> entries;
  entries.reserve(node.children.size() / 2);
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    CelValue key = evaluate(*node.children[i]);
    if (key.is_error()) return key;
    if (!key.is(Kind::kString) && !key.is(Kind::kInt) && !key.is(Kind::kUint) && !key.is(Kind::kBool)) {
      return CelValue::error("unsupported key type");
    }
    charge_key(key);
    CelValue value = evaluate(*node.children[i + 1]);
    if (value.is_error()) return value;
    if (!node.optional_entries.empty() && node.optional_entries[i / 2]) {
      if (!value.is(Kind::kOptional)) return CelValue::no_such_overload();
      if (value.as_optional() == nullptr) continue;
      value = CelValue{*value.as_optional()};
    }
    entries.emplace_back(std::move(key), std::move(value));
  }
  const size_t count = entries.size();
  CelValue made = CelValue::map(std::move(entries));
  if (made.is_error() || made.as_map().size() == count) return made;
  return CelValue::error("Failed with repeated key");
}

}  // namespace shiplog::cel
