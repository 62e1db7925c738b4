#include "events/state/new_work.h"

#include <cstdint>

#include "events/base/hash.h"
#include "events/state/object.h"

namespace shiplog {

std::string new_work_id(const ObjectKey& work, std::string_view source) {
  const Hash128 hash = siphash128(to_string(work) + "\n" + std::string{source});
  EntryId id;
  for (size_t i = 0; i < 8; ++i) {
    id.bytes[i] = static_cast<uint8_t>(hash.hi >> (8 * i));
    id.bytes[8 + i] = static_cast<uint8_t>(hash.lo >> (8 * i));
  }
  return uid_from(id, 0);
}

Value dispatching_condition(bool suspended, UtcMillis since) {
  return Value::object({{"type", "Dispatching"},
                        {"status", suspended ? "False" : "True"},
                        {"reason", Value::interned(suspended ? "SuspendDispatching" : "Dispatching")},
                        {"message", Value::interned(suspended ? "Work dispatching is in a suspended state."
                                                              : "Work is being dispatched to member clusters.")},
                        {"lastTransitionTime", rfc3339(since)}});
}

}  // namespace shiplog
