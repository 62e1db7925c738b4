#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"

// Lists: Kubernetes' library and cel-go's. Source: k8s.io/apiserver/pkg/cel/library/lists.go, cost.go; cel-go,
// ext/lists.go.

namespace shiplog::cel {
namespace {

using Kind = CelValue::Kind;

// An evaluation looks at no types of items, so that all overloads of one name share an implementation.
const std::array kComparable = {CelKind::kInt,      CelKind::kUint,      CelKind::kDouble, CelKind::kBool,
                                CelKind::kDuration, CelKind::kTimestamp, CelKind::kString, CelKind::kBytes};
const std::array kSummable = {CelKind::kInt, CelKind::kUint, CelKind::kDouble, CelKind::kDuration};

/// What cel-go charges for reading the items once; of texts, also for their length.
uint64_t list_comparison_cost(CelArguments a, const CelValue&) {
  if (!a[0].is(Kind::kList)) return traversal_cost(cost_size(a[0]));
  const CelList& list = a[0].as_list();
  uint64_t cost = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const CelValue item = list.at(i);
    const bool text = item.is(Kind::kString) || item.is(Kind::kBytes);
    cost += 1 + (text ? traversal_cost(cost_size(item)) : 0);
  }
  return cost;
}

CelValue is_sorted(CelArguments a, CelMeter&) {
  const CelList& list = a[0].as_list();
  for (size_t i = 1; i < list.size(); ++i) {
    const auto order = compare(list.at(i - 1), list.at(i));
    if (!order) return CelValue::no_such_overload();
    if (*order > 0) return CelValue::boolean(false);
  }
  return CelValue::boolean(true);
}

/// `wanted`: the sign of the comparison of the chosen item with another one.
CelValue extreme(const char* name, int wanted, const CelList& list) {
  if (list.size() == 0) return CelValue::error(std::string{name} + " called on empty list");
  CelValue chosen = list.at(0);
  for (size_t i = 1; i < list.size(); ++i) {
    CelValue item = list.at(i);
    const auto order = compare(item, chosen);
    if (!order) return CelValue::no_such_overload();
    if (*order == wanted) chosen = std::move(item);
  }
  return chosen;
}

CelValue plus(const CelValue& a, const CelValue& b) {
  if (a.kind() != b.kind()) return CelValue::no_such_overload();
  int64_t sum = 0;
  uint64_t unsigned_sum = 0;
  if (a.is(Kind::kInt)) {
    if (__builtin_add_overflow(a.as_int(), b.as_int(), &sum)) return CelValue::error("integer overflow");
    return CelValue::integer(sum);
  }
  if (a.is(Kind::kUint)) {
    if (__builtin_add_overflow(a.as_uint(), b.as_uint(), &unsigned_sum)) {
      return CelValue::error("unsigned integer overflow");
    }
    return CelValue::unsigned_integer(unsigned_sum);
  }
  if (a.is(Kind::kDuration)) {
    if (__builtin_add_overflow(a.as_duration().nanos, b.as_duration().nanos, &sum)) {
      return CelValue::error("integer overflow");
    }
    return CelValue::duration({sum});
  }
  if (a.is(Kind::kDouble)) return CelValue::real(a.as_double() + b.as_double());
  return CelValue::no_such_overload();
}

/// Of an empty list: `zero`.
CelValue sum(const CelList& list, CelValue zero) {
  if (list.size() == 0) return zero;
  CelValue total = list.at(0);
  const bool number = total.is(Kind::kInt) || total.is(Kind::kUint) || total.is(Kind::kDouble);
  if (!number && !total.is(Kind::kDuration)) return CelValue::no_such_overload();
  for (size_t i = 1; i < list.size() && !total.is_error(); ++i) total = plus(total, list.at(i));
  return total;
}

CelValue index_of_item(CelArguments a, CelMeter& meter) {
  const CelList& list = a[0].as_list();
  for (size_t i = 0; i < list.size() && !meter.exceeded(); ++i) {
    if (equal(list.at(i), a[1], meter)) return CelValue::integer(static_cast<int64_t>(i));
  }
  return CelValue::integer(-1);
}

CelValue last_index_of_item(CelArguments a, CelMeter& meter) {
  const CelList& list = a[0].as_list();
  for (size_t i = list.size(); i-- > 0 && !meter.exceeded();) {
    if (equal(list.at(i), a[1], meter)) return CelValue::integer(static_cast<int64_t>(i));
  }
  return CelValue::integer(-1);
}

void add_kubernetes_lists(CelFunctions& functions) {
  for (const CelKind kind : kComparable) {
    const CelType item = kind;
    const CelType list = CelType::list(item);
    add_member(functions, "isSorted", {list}, CelKind::kBool, is_sorted, list_comparison_cost);
    add_member(
        functions, "min", {list}, item, [](CelArguments a, CelMeter&) { return extreme("min", -1, a[0].as_list()); },
        list_comparison_cost);
    add_member(
        functions, "max", {list}, item, [](CelArguments a, CelMeter&) { return extreme("max", 1, a[0].as_list()); },
        list_comparison_cost);
  }
  for (const CelKind kind : kSummable) {
    const CelValue zero = kind == CelKind::kUint       ? CelValue::unsigned_integer(0)
                          : kind == CelKind::kDouble   ? CelValue::real(0)
                          : kind == CelKind::kDuration ? CelValue::duration({0})
                                                       : CelValue::integer(0);
    add_member(
        functions, "sum", {CelType::list(kind)}, kind,
        [zero](CelArguments a, CelMeter&) { return sum(a[0].as_list(), zero); }, list_comparison_cost);
  }
  const CelType item = CelType::parameter("A");
  add_member(functions, "indexOf", {CelType::list(item), item}, CelKind::kInt, index_of_item, list_comparison_cost);
  add_member(functions, "lastIndexOf", {CelType::list(item), item}, CelKind::kInt, last_index_of_item,
             list_comparison_cost);
}

constexpr uint64_t kMadeListCost = 11;  // of a call that makes a list

uint64_t list_cost(CelArguments, const CelValue& result) { return kMadeListCost + cost_size(result); }

/// Charged before what compares items with each other; false: it is too much.
bool affordable_comparisons(const CelList& list, CelMeter& meter) {
  return affordable(meter, kMadeListCost + 2 * static_cast<uint64_t>(list.size()) * list.size());
}

CelValue slice(CelArguments a, CelMeter&) {
  const CelList& list = a[0].as_list();
  const int64_t from = a[1].as_int();
  const int64_t to = a[2].as_int();
  const std::string shown = "cannot slice(" + std::to_string(from) + ", " + std::to_string(to) + "), ";
  if (from < 0 || to < 0) return CelValue::error(shown + "negative indexes not supported");
  if (from > to) return CelValue::error(shown + "start index must be less than or equal to end index");
  if (static_cast<uint64_t>(to) > list.size()) {
    return CelValue::error(shown + "list is length " + std::to_string(list.size()));
  }
  std::vector<CelValue> items;
  for (int64_t i = from; i < to; ++i) items.push_back(list.at(static_cast<size_t>(i)));
  return CelValue::list(std::move(items));
}

/// False: it costs too much.
bool flatten_into(std::vector<CelValue>& items, const CelList& list, int64_t depth, CelMeter& meter) {
  if (!affordable(meter, 1 + list.size())) return false;
  for (size_t i = 0; i < list.size(); ++i) {
    CelValue item = list.at(i);
    if (!item.is(Kind::kList) || depth == 0) {
      items.push_back(std::move(item));
    } else if (!flatten_into(items, item.as_list(), depth - 1, meter)) {
      return false;
    }
  }
  return true;
}

CelValue flatten(CelArguments a, CelMeter& meter) {
  // Deeper lists than requests may have do not exist; the bound keeps the recursion short.
  constexpr int64_t kDeepest = 1000;
  const int64_t depth = a.size() > 1 ? a[1].as_int() : 1;
  if (depth < 0) return CelValue::error("level must be non-negative");
  std::vector<CelValue> items;
  if (!flatten_into(items, a[0].as_list(), std::min(depth, kDeepest), meter)) return unaffordable();
  return CelValue::list(std::move(items));
}

CelValue range(CelArguments a, CelMeter& meter) {
  const auto size = static_cast<uint64_t>(std::max<int64_t>(a[0].as_int(), 0));
  if (!affordable(meter, kMadeListCost + size)) return unaffordable();
  std::vector<CelValue> items;
  for (uint64_t i = 0; i < size; ++i) items.push_back(CelValue::integer(static_cast<int64_t>(i)));
  return CelValue::list(std::move(items));
}

CelValue reversed(CelArguments a, CelMeter&) {
  const CelList& list = a[0].as_list();
  std::vector<CelValue> items;
  for (size_t i = list.size(); i-- > 0;) items.push_back(list.at(i));
  return CelValue::list(std::move(items));
}

CelValue distinct(CelArguments a, CelMeter& meter) {
  const CelList& list = a[0].as_list();
  if (!affordable_comparisons(list, meter)) return unaffordable();
  std::vector<CelValue> items;
  for (size_t i = 0; i < list.size() && !meter.exceeded(); ++i) {
    CelValue item = list.at(i);
    const bool known = std::ranges::any_of(items, [&](const CelValue& other) { return equal(item, other, meter); });
    if (!known) items.push_back(std::move(item));
  }
  return CelValue::list(std::move(items));
}

/// The items of one list in the order of the keys in another one of the same size.
CelValue sorted(const CelList& list, const CelList& keys, CelMeter& meter) {
  if (list.size() != keys.size()) {
    return CelValue::error(
        "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got " +
        std::to_string(list.size()) + " and " + std::to_string(keys.size()) + " elements respectively");
  }
  if (!affordable_comparisons(list, meter)) return unaffordable();
  std::vector<std::pair<CelValue, CelValue>> pairs;
  for (size_t i = 0; i < list.size(); ++i) {
    pairs.emplace_back(keys.at(i), list.at(i));
    // All keys must have an order with the first one: then they have one with each other, NaN included.
    const CelValue& key = pairs.back().first;
    if (!affordable(meter, traversal_cost(text_size(key)))) return unaffordable();
    if (key.kind() != pairs.front().first.kind()) return CelValue::error("list elements must have the same type");
    const bool nan = key.is(Kind::kDouble) && std::isnan(key.as_double());
    if (!nan && !compare(key, key)) return CelValue::error("list elements must be comparable");
  }
  const auto is_nan = [](const CelValue& key) { return key.is(Kind::kDouble) && std::isnan(key.as_double()); };
  std::ranges::stable_sort(pairs, [&](const auto& one, const auto& other) {
    if (is_nan(one.first) || is_nan(other.first)) return !is_nan(one.first) && is_nan(other.first);
    return compare(one.first, other.first).value_or(0) < 0;
  });
  std::vector<CelValue> items;
  for (auto& [key, item] : pairs) items.push_back(std::move(item));
  return CelValue::list(std::move(items));
}

void add_more_lists(CelFunctions& functions) {
  const CelType item = CelType::parameter("T");
  const CelType list = CelType::list(item);
  const CelType any_list = CelType::list(CelKind::kDyn);
  add_member(functions, "slice", {list, CelKind::kInt, CelKind::kInt}, list, slice, list_cost);
  add_member(functions, "flatten", {CelType::list(list)}, list, flatten, list_cost);
  add_member(functions, "flatten", {any_list, CelKind::kInt}, any_list, flatten, list_cost);
  add_member(functions, "reverse", {list}, list, reversed, list_cost);
  add_member(functions, "distinct", {list}, list, distinct);
  add_function(functions, "lists.range", {CelKind::kInt}, CelType::list(CelKind::kInt), range);
  const auto first_of = [](CelArguments a, CelMeter&) {
    const CelList& items = a[0].as_list();
    return items.size() == 0 ? CelValue::none() : CelValue::some(items.at(0));
  };
  const auto last_of = [](CelArguments a, CelMeter&) {
    const CelList& items = a[0].as_list();
    return items.size() == 0 ? CelValue::none() : CelValue::some(items.at(items.size() - 1));
  };
  add_member(functions, "first", {list}, CelType::optional(item), first_of);
  add_member(functions, "last", {list}, CelType::optional(item), last_of);
  for (const CelKind kind : kComparable) {
    add_member(functions, "sort", {CelType::list(kind)}, CelType::list(kind),
               [](CelArguments a, CelMeter& meter) { return sorted(a[0].as_list(), a[0].as_list(), meter); });
    // What the macro sortBy becomes.
    add_member(functions, "@sortByAssociatedKeys", {list, CelType::list(kind)}, list,
               [](CelArguments a, CelMeter& meter) { return sorted(a[0].as_list(), a[1].as_list(), meter); });
  }
}

}  // namespace

void add_list_functions(CelFunctions& functions) {
  add_kubernetes_lists(functions);
  add_more_lists(functions);
}

}  // namespace shiplog::cel
