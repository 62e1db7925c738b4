#include "services/api/conversion/converted_objects.h"

#include <iterator>
#include <utility>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

/// "": the object is not known again.
std::string key_of(const Kind& wanted, const Value& object) {
  const Value& metadata = object["metadata"];
  if (metadata["uid"].is_empty() || metadata["resourceVersion"].is_empty()) return "";
  return metadata["uid"].str() + " " + metadata["resourceVersion"].str() + " " + object["apiVersion"].str() + " " +
         wanted.version;
}

}  // namespace

const Value* ConvertedObjects::find(const Kind& wanted, const Value& object, Moment now) {
  forget_old(now);
  const auto found = by_key_.find(key_of(wanted, object));
  if (found == by_key_.end()) return nullptr;
  if (found->second->conversion == wanted.conversion && found->second->schemas == wanted.stored_schemas) {
    return &found->second->object;
  }
  forget(found->second);
  return nullptr;
}

void ConvertedObjects::add(const Kind& wanted, const Value& object, const Value& converted, Moment now) {
  forget_old(now);
  std::string key = key_of(wanted, object);
  const size_t bytes = to_json(converted).size();
  if (key.empty() || bytes > kMostBytes || by_key_.contains(key)) return;
  known_.push_front({key, wanted.conversion, wanted.stored_schemas, converted, bytes, now + kKept});
  by_key_.emplace(std::move(key), known_.begin());
  bytes_ += bytes;
  while (bytes_ > kMostBytes) forget(std::prev(known_.end()));
}

void ConvertedObjects::forget_old(Moment now) {
  while (!known_.empty() && known_.back().until < now) forget(std::prev(known_.end()));
}

void ConvertedObjects::forget(std::list<Known>::iterator known) {
  bytes_ -= known->bytes;
  by_key_.erase(known->key);
  known_.erase(known);
}

}  // namespace shiplog::api
