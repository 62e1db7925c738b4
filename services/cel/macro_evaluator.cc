// Macros: what upstream's parser expands to comprehensions is computed directly. The costs are those of the expansions.
#include <algorithm>
#include <functional>
#include <utility>

#include "services/cel/evaluator.h"

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

constexpr uint64_t kStepCost = 3;     // of all, exists, exists_one and a filter's condition, for each item
constexpr uint64_t kAppendCost = 12;  // of an item that is appended to a list
constexpr uint64_t kInsertCost = 32;  // of an entry that is put into a map

/// Calls `each` with key and value until it returns false. A list's keys are its indexes. False: `range` has no items.
bool for_each_item(const CelValue& range, CelMeter& meter,
                   const std::function<bool(CelValue key, CelValue value)>& each) {
  if (range.is(Kind::kList)) {
    const CelList& list = range.as_list();
    for (size_t i = 0; i < list.size(); ++i) {
      if (!each(CelValue::integer(static_cast<int64_t>(i)), list.at(i))) return true;
    }
    return true;
  }
  if (!range.is(Kind::kMap)) return false;
  const CelMap& map = range.as_map();
  if (!meter.charge(map.size() / kItemsOfUnit)) return true;
  for (CelValue& key : map.keys()) {
    auto value = map.find(key);
    if (!each(std::move(key), value ? *std::move(value) : CelValue{})) return true;
  }
  return true;
}

/// Whether an order is defined among the keys that items are sorted by.
bool all_comparable(const std::vector<std::pair<CelValue, CelValue>>& keyed) {
  return std::ranges::all_of(keyed,
                             [&](const auto& each) { return compare(each.first, keyed.front().first).has_value(); });
}

}  // namespace

CelValue CelEvaluator::macro(const CelNode& node) {
  const CelValue range = evaluate(*node.children[0]);
  if (range.is_error()) return range;
  meter_.charge(1);
  switch (node.macro) {
    case CelMacro::kAll:
    case CelMacro::kExists:
      return quantified(node, range);
    case CelMacro::kExistsOne:
      return counted_one(node, range);
    case CelMacro::kFilter:
    case CelMacro::kMap:
      return collected(node, range);
    case CelMacro::kTransformMap:
    case CelMacro::kTransformMapEntry:
      return collected_map(node, range);
    case CelMacro::kSortBy:
      return sorted(node, range);
    case CelMacro::kOptionalMap:
    case CelMacro::kOptionalFlatMap:
      return optional_macro(node, range);
  }
  return CelValue::no_such_overload();
}

CelValue CelEvaluator::optional_macro(const CelNode& node, const CelValue& target) {
  if (!target.is(Kind::kOptional)) return CelValue::no_such_overload();
  if (target.as_optional() == nullptr) return target;
  slots_[node.slot] = *target.as_optional();
  CelValue result = evaluate(*node.children[1]);
  if (result.is_error()) return result;
  if (node.macro == CelMacro::kOptionalMap) return CelValue::some(std::move(result));
  return result.is(Kind::kOptional) ? result : CelValue::no_such_overload();
}

void CelEvaluator::take_item(const CelNode& node, const CelValue& range, const CelValue& key, const CelValue& value) {
  if (node.variables.size() == 2) {
    slots_[node.slot] = key;
    slots_[node.slot + 1] = value;
  } else {
    slots_[node.slot] = range.is(Kind::kMap) ? key : value;
  }
}

/// all and exists. An item that decides wins over errors of others.
CelValue CelEvaluator::quantified(const CelNode& node, const CelValue& range) {
  const bool decisive = node.macro == CelMacro::kExists;
  std::optional<CelValue> error;
  bool decided = false;
  const bool has_items = for_each_item(range, meter_, [&](CelValue key, CelValue value) {
    take_item(node, range, key, value);
    if (!meter_.charge(kStepCost)) return false;
    CelValue result = evaluate(*node.children[1]);
    if (result.is(Kind::kBool)) {
      decided = result.as_bool() == decisive;
    } else if (!error) {
      error = result.is_error() ? std::move(result) : CelValue::no_such_overload();
    }
    return !decided && !meter_.exceeded();
  });
  if (!has_items) return CelValue::no_such_overload();
  if (meter_.exceeded()) return cost_limit_exceeded();
  if (decided) return CelValue::boolean(decisive);
  return error ? *std::move(error) : CelValue::boolean(!decisive);
}

CelValue CelEvaluator::counted_one(const CelNode& node, const CelValue& range) {
  int64_t count = 0;
  CelValue failed;
  const bool has_items = for_each_item(range, meter_, [&](CelValue key, CelValue value) {
    take_item(node, range, key, value);
    if (!meter_.charge(kStepCost)) return false;
    CelValue result = evaluate(*node.children[1]);
    if (!result.is(Kind::kBool)) {
      failed = result.is_error() ? std::move(result) : CelValue::no_such_overload();
      return false;
    }
    count += result.as_bool() ? 1 : 0;
    return !meter_.exceeded();
  });
  if (!has_items) return CelValue::no_such_overload();
  if (meter_.exceeded()) return cost_limit_exceeded();
  return failed.is_error() ? failed : CelValue::boolean(count == 1);
}

/// filter, map and transformList.
CelValue CelEvaluator::collected(const CelNode& node, const CelValue& range) {
  const bool filters = node.macro == CelMacro::kFilter;
  std::vector<CelValue> items;
  CelValue failed;
  const bool has_items = for_each_item(range, meter_, [&](CelValue key, CelValue value) {
    take_item(node, range, key, value);
    if (filters || node.has_condition) {
      if (!meter_.charge(kStepCost)) return false;
      CelValue condition = evaluate(*node.children[1]);
      if (!condition.is(Kind::kBool)) {
        failed = condition.is_error() ? std::move(condition) : CelValue::no_such_overload();
        return false;
      }
      if (!condition.as_bool()) return true;
    }
    if (!meter_.charge(kAppendCost)) return false;
    CelValue item =
        filters ? (range.is(Kind::kMap) ? std::move(key) : std::move(value)) : evaluate(*node.children.back());
    if (item.is_error()) {
      failed = std::move(item);
      return false;
    }
    items.push_back(std::move(item));
    return !meter_.exceeded();
  });
  if (!has_items) return CelValue::no_such_overload();
  if (meter_.exceeded()) return cost_limit_exceeded();
  return failed.is_error() ? failed : CelValue::list(std::move(items));
}

/// transformMap and transformMapEntry.
CelValue CelEvaluator::collected_map(const CelNode& node, const CelValue& range) {
  std::vector<std::pair<CelValue, CelValue>> entries;
  CelValue failed;
  const auto fail = [&](CelValue value) {
    failed = value.is_error() ? std::move(value) : CelValue::no_such_overload();
    return false;
  };
  const bool has_items = for_each_item(range, meter_, [&](CelValue key, CelValue value) {
    take_item(node, range, key, value);
    if (!meter_.charge(kStepCost + kInsertCost)) return false;
    if (node.has_condition) {
      CelValue condition = evaluate(*node.children[1]);
      if (!condition.is(Kind::kBool)) return fail(std::move(condition));
      if (!condition.as_bool()) return true;
    }
    CelValue result = evaluate(*node.children.back());
    if (result.is_error()) return fail(std::move(result));
    if (node.macro == CelMacro::kTransformMap) {
      charge_key(key);
      entries.emplace_back(std::move(key), std::move(result));
      return !meter_.exceeded();
    }
    if (!result.is(Kind::kMap)) return fail(std::move(result));
    if (!meter_.charge(result.as_map().size())) return false;
    for (CelValue& entry : result.as_map().keys()) {
      auto found = result.as_map().find(entry);
      charge_key(entry);
      entries.emplace_back(std::move(entry), found ? *std::move(found) : CelValue{});
    }
    return !meter_.exceeded();
  });
  if (!has_items) return CelValue::no_such_overload();
  if (meter_.exceeded()) return cost_limit_exceeded();
  if (failed.is_error()) return failed;
  const size_t count = entries.size();
  CelValue made = CelValue::map(std::move(entries));
  if (made.is_error() || made.as_map().size() == count) return made;
  return CelValue::error("insert failed: key already exists");
}

CelValue CelEvaluator::sorted(const CelNode& node, const CelValue& range) {
  if (!range.is(Kind::kList)) return CelValue::no_such_overload();
  std::vector<std::pair<CelValue, CelValue>> keyed;
  const CelList& list = range.as_list();
  for (size_t i = 0; i < list.size(); ++i) {
    CelValue item = list.at(i);
    slots_[node.slot] = item;
    if (!meter_.charge(kAppendCost)) return cost_limit_exceeded();
    CelValue key = evaluate(*node.children[1]);
    if (key.is_error()) return key;
    // Each is compared some twenty times, with as many bytes.
    if (!meter_.charge(cost_size(key))) return cost_limit_exceeded();
    keyed.emplace_back(std::move(key), std::move(item));
  }
  if (!keyed.empty() && !all_comparable(keyed)) return CelValue::error("list elements must be comparable");
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return compare(a.first, b.first).value_or(0) < 0; });
  std::vector<CelValue> items;
  items.reserve(keyed.size());
  for (auto& each : keyed) items.push_back(std::move(each.second));
  return CelValue::list(std::move(items));
}

}  // namespace shiplog::cel
