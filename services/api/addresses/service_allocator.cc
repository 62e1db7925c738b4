#include "services/api/addresses/service_allocator.h"

#include "services/api/addresses/allocate.h"

namespace shiplog::api {

Result<Value> ServiceAllocator::propose(const ObjectKey& key, const Value& old, Value service, Random& random) {
  const std::lock_guard lock{mutex_};
  return with_addresses(key, old, std::move(service), ranges_, index_, random);
}

void ServiceAllocator::load(const State& state) {
  const std::lock_guard lock{mutex_};
  index_ = state.services();
  ranges_ = state.options().service_ranges();
}

void ServiceAllocator::on_folded(const State& state, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type == type::kService) {
      const std::lock_guard lock{mutex_};
      index_.update(change.object, change.before, change.after);
    } else if (change.object.type == kFleetOptionsType) {
      const std::lock_guard lock{mutex_};
      ranges_ = state.options().service_ranges();
    }
  }
}

}  // namespace shiplog::api
