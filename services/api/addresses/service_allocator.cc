#include "services/api/addresses/service_allocator.h"

#include "services/api/addresses/allocate.h"
#include "services/api/own_entry.h"
#include "services/runtime/log.h"

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

void ServiceAllocator::begin(Replica& replica, Random& random, std::string user_agent) {
  replica_ = &replica;
  random_ = &random;
  user_agent_ = std::move(user_agent);
  for (const auto& [name, service] : replica.state().objects(type::kService)) {
    if (lacks_cluster_ip(service.value)) lacking_.push_back({type::kService, name.ns, name.name});
  }
  if (!lacking_.empty()) log::info("services.without_cluster_ip", {log::kv("count", lacking_.size())});
  repair_next();
}

void ServiceAllocator::repair_next() {
  while (!lacking_.empty()) {
    const ObjectKey key = std::move(lacking_.back());
    lacking_.pop_back();
    const Object* stored = replica_->state().find(key);
    if (stored == nullptr || deleting(stored->value) || !lacks_cluster_ip(stored->value)) continue;
    auto given = propose(key, stored->value, stored->value, *random_);
    if (!given) {
      log::warn("service.address_failed",
                {log::kv("service", to_string(key)), log::kv("reason", given.error().message)});
      continue;
    }
    Entry entry = own_entry(user_agent_, {ObjectUpdated{key, std::move(given).value()}});
    entry.expects = {{key, stored->revision}};
    // A refusal means that the Service has been written meanwhile, and so has been given its address.
    replica_->append(std::move(entry), [this](const Result<Outcome>& outcome) {
      if (!outcome) return log::error("service.address_failed", {log::kv("reason", outcome.error().message)});
      repair_next();
    });
    return;
  }
}

}  // namespace shiplog::api
