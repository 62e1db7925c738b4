#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"

// sets of cel-go. Source: cel-go, ext/sets.go.

namespace shiplog::cel {
namespace {

bool has(const CelList& list, const CelValue& wanted, CelMeter& meter) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (meter.exceeded()) return false;
    if (equal(list.at(i), wanted, meter)) return true;
  }
  return false;
}

bool has_all(const CelList& list, const CelList& wanted, CelMeter& meter) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!has(list, wanted.at(i), meter)) return false;
  }
  return true;
}

bool has_any(const CelList& list, const CelList& wanted, CelMeter& meter) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (has(list, wanted.at(i), meter)) return true;
  }
  return false;
}

using Test = bool (*)(const CelList& a, const CelList& b, CelMeter& meter);

void add_test(CelFunctions& functions, const char* name, uint64_t times, Test test) {
  const CelType list = CelType::list(CelType::parameter("T"));
  add_function(functions, name, {list, list}, CelKind::kBool, [times, test](CelArguments a, CelMeter& meter) {
    // Every item of one is compared with every item of the other: charged before it is done, and what is in the items
    // while it is compared.
    const uint64_t comparisons = cost_size(a[0]) * cost_size(a[1]);
    if (!affordable(meter, comparisons * times)) return unaffordable();
    return CelValue::boolean(test(a[0].as_list(), a[1].as_list(), meter));
  });
}

}  // namespace

void add_set_functions(CelFunctions& functions) {
  add_test(functions, "sets.contains", 1, has_all);
  add_test(functions, "sets.intersects", 1, has_any);
  add_test(functions, "sets.equivalent", 2, [](const CelList& a, const CelList& b, CelMeter& meter) {
    return has_all(a, b, meter) && has_all(b, a, meter);
  });
}

}  // namespace shiplog::cel
