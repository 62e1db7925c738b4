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
  const auto type = types_.find(key.type);
  if (type == types_.end()) return nullptr;
  const auto* node = type->second.objects.find(key.ns, key.name);
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
  const auto found = types_.find(type);
  return found == types_.end() ? kNoObjects : found->second.objects.sorted();
}

std::ranges::subrange<ObjectStore::Objects::const_iterator> ObjectStore::objects(std::string_view type,
                                                                                 std::string_view ns) const {
  const Objects& all = objects(type);
  const auto first = all.lower_bound(Name{std::string{ns}, ""});
  // No namespace name contains a byte below '-', so this is the first name after all of the namespace's.
  const auto last = all.lower_bound(Name{std::string{ns} + '\x01', ""});
  return {first, last};
}

const Value& ObjectStore::latest(std::string_view type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? kNull : found->second.latest;
}

std::vector<std::string> ObjectStore::types() const {
  std::vector<std::string> names;
  names.reserve(types_.size());
  for (const auto& [type, of_type] : types_) names.push_back(type);
  return names;
}

size_t ObjectStore::object_count() const {
  size_t count = 0;
  for (const auto& [type, of_type] : types_) count += of_type.objects.sorted().size();
  return count;
}

Object ObjectStore::exchange(const ObjectKey& key, Object object) {
  SHIPLOG_CHECK(!object.value.is_null(), "a stored object has a value");
  auto type = types_.find(key.type);
  if (type == types_.end()) type = types_.try_emplace(key.type.str()).first;
  type->second.latest = object.value;
  return std::exchange(type->second.objects.find_or_make(key.ns, key.name)->second, std::move(object));
}

Object ObjectStore::take(const ObjectKey& key) {
  const auto type = types_.find(key.type);
  SHIPLOG_CHECK(type != types_.end(), "an object that is erased exists");
  OfType& of_type = type->second;
  auto* const node = of_type.objects.find(key.ns, key.name);
  SHIPLOG_CHECK(node != nullptr, "an object that is erased exists");
  Object object = std::move(node->second);
  of_type.objects.erase(node);
  if (of_type.latest.members().data() == object.value.members().data()) of_type.latest = Value{};
  return object;
}

}  // namespace shiplog
