#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "services/runtime/metrics.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// `apiserver_storage_objects`: how many objects of each resource one journal holds. Threads: the fold thread.
class StorageObjects final : public Observer {
 public:
  /// From a restored state.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  struct ResourceCount {
    int64_t objects = 0;
    metrics::Gauge gauge = {};
  };
  void add(std::string_view type, int64_t objects);

  std::map<std::string, ResourceCount, std::less<>> counts_;
};

}  // namespace shiplog::api
