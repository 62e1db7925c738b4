#include "services/api/storage_objects.h"

namespace shiplog::api {

void StorageObjects::load(const State& state) {
  for (const std::string& type : state.types()) {
    int64_t objects = 0;
    for ([[maybe_unused]] const auto& object : state.objects(type)) ++objects;
    add(type, objects);
  }
}

void StorageObjects::on_folded(const State& /*state*/, const DecodedRecord& /*record*/, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.created()) add(change.object.type, 1);
    if (change.removed()) add(change.object.type, -1);
  }
}

void StorageObjects::add(std::string_view type, int64_t objects) {
  static const metrics::GaugeFamily family{"apiserver_storage_objects", "Stored objects by resource.", {"resource"}};
  auto found = counts_.find(type);
  if (found == counts_.end()) {
    found = counts_.try_emplace(std::string{type}).first;
    found->second.gauge = family.with({found->first});
  }
  ResourceCount& count = found->second;
  count.objects += objects;
  count.gauge.set(static_cast<double>(count.objects));
}

}  // namespace shiplog::api
