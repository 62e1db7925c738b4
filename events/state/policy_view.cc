#include "events/state/policy_view.h"

namespace shiplog {

void PolicyView::update(const ObjectKey& key, const Value&, const Value& after) {
  const ObjectStore::Name name{key.ns, key.name};
  if (const auto known = policies_.find(name); known != policies_.end()) {
    index_.remove(key.ns, key.name, known->second.selectors);
  }
  if (after.is_null()) {
    policies_.erase(name);
    return;
  }
  const Policy& policy = policies_[name] = policy_from(after);
  index_.add(key.ns, key.name, policy.selectors);
}

}  // namespace shiplog
