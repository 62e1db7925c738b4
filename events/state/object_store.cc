#include "events/state/object_store.h"

#include <iterator>
#include <utility>

#include "events/base/check.h"

namespace shiplog {
namespace {

const ObjectStore::Objects kNoObjects;
const Value kNull;

}  // namespace

const Object* ObjectStore::find(const ObjectKey& key) const {
  const auto type = objects_.find(key.type);
  if (type == objects_.end()) return nullptr;
  const auto* node = type->second.find(key.ns, key.name);
  return node == nullptr ? nullptr : &node->second;
}

const Value& ObjectStore::value_of(const ObjectKey& key) const {
  const Object* object = find(key);
  return object == nullptr ? kNull : object->value;
}

Revision ObjectStore::revision_of(const ObjectKey& key) const {
  const Object* object = find(key);
  return object == nullptr ? Revision{} : object->revision;
}

const ObjectStore::Objects& ObjectStore::objects(std::string_view type) const {
  const auto found = objects_.find(type);
  return found == objects_.end() ? kNoObjects : found->second.sorted();
}

std::ranges::subrange<ObjectStore::Objects::const_iterator> ObjectStore::objects(std::string_view type,
                                                                                 std::string_view ns) const {
  const Objects& all = objects(type);
  const auto first = all.lower_bound(Name{std::string{ns}, ""});
  // No namespace name contains a byte below '-', so this is the first name after all of the namespace's.
  const auto last = all.lower_bound(Name{std::string{ns} + '\x01', ""});
  return {first, last};
}

void ObjectStore::share_with_neighbour(const ObjectKey& key, Value& value) const {
  const Objects& all = objects(key.type);
  const auto behind = all.lower_bound(NamedMap<Object>::Less::View{key.ns, key.name});
  if (behind != all.begin()) return value.share_with(std::prev(behind)->second.value);
  if (behind != all.end()) value.share_with(behind->second.value);
}

std::vector<std::string> ObjectStore::types() const {
  std::vector<std::string> names;
  names.reserve(objects_.size());
  for (const auto& [type, objects] : objects_) names.push_back(type);
  return names;
}

size_t ObjectStore::object_count() const {
  size_t count = 0;
  for (const auto& [type, objects] : objects_) count += objects.sorted().size();
  return count;
}

Object ObjectStore::exchange(const ObjectKey& key, Object object) {
  SHIPLOG_CHECK(!object.value.is_null(), "a stored object has a value");
  auto type = objects_.find(key.type);
  if (type == objects_.end()) type = objects_.try_emplace(key.type.str()).first;
  return std::exchange(type->second.find_or_make(key.ns, key.name)->second, std::move(object));
}

Object ObjectStore::take(const ObjectKey& key) {
  const auto type = objects_.find(key.type);
  SHIPLOG_CHECK(type != objects_.end(), "an object that is erased exists");
  auto* const node = type->second.find(key.ns, key.name);
  SHIPLOG_CHECK(node != nullptr, "an object that is erased exists");
  Object object = std::move(node->second);
  type->second.erase(node);
  return object;
}

}  // namespace shiplog
