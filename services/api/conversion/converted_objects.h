#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// What stored objects of all kinds were converted to in the last seconds, so that many watches of one change are one
/// call. What was converted by another webhook than that of the kind, or with the defaults of another definition, is
/// not found. Bounded for all kinds together. Threads: one at a time.
class ConvertedObjects {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  static constexpr auto kKept = std::chrono::seconds{5};
  static constexpr size_t kMostBytes = 32U << 20U;  ///< of their JSON

  /// `object` in the version of `wanted`; nullptr: it is not known. Valid until the next call of find() or add().
  const Value* find(const Kind& wanted, const Value& object, Moment now);
  void add(const Kind& wanted, const Value& object, const Value& converted, Moment now);
  size_t bytes() const { return bytes_; }

 private:
  struct Known {
    std::string key;
    Value conversion;                                 // of the kind
    std::shared_ptr<const SchemasByVersion> schemas;  // of the kind: they decide on defaults
    Value object;
    size_t bytes = 0;
    Moment until;
  };

  void forget_old(Moment now);
  void forget(std::list<Known>::iterator known);

  std::list<Known> known_;  // the newest first
  size_t bytes_ = 0;
  std::map<std::string, std::list<Known>::iterator> by_key_;
};

}  // namespace shiplog::api
