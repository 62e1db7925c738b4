#pragma once

#include <cstddef>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/named_map.h"
#include "events/state/object.h"

namespace shiplog {

/// Objects by type, namespace and name: to be walked in order, and to be found at once. The part of State that its
/// views are derived from.
class ObjectStore {
 public:
  using Name = ObjectName;
  using Objects = NamedMap<Object>::Sorted;

  /// nullptr when there is no such object.
  const Object* find(const ObjectKey& key) const;
  /// The object's value, or null.
  const Value& value_of(const ObjectKey& key) const;
  /// 0 when there is no such object.
  Revision revision_of(const ObjectKey& key) const;
  /// All objects of a type, sorted by namespace and name.
  const Objects& objects(std::string_view type) const;
  /// Those of one namespace.
  std::ranges::subrange<Objects::const_iterator> objects(std::string_view type, std::string_view ns) const;
  /// The object of the type that was written last, or null: the next one is often of the same origin, or is changed for
  /// the same reason in the same second, and is alike.
  const Value& latest(std::string_view type) const;
  /// Types that have ever had an object, sorted.
  std::vector<std::string> types() const;
  size_t object_count() const;

 protected:
  ObjectStore() = default;
  ObjectStore(const ObjectStore&) = default;
  ObjectStore(ObjectStore&&) noexcept = default;
  ObjectStore& operator=(const ObjectStore&) = default;
  ObjectStore& operator=(ObjectStore&&) noexcept = default;
  ~ObjectStore() = default;

  /// Adds or replaces. The object that was there; one without a value when there was none.
  Object exchange(const ObjectKey& key, Object object);
  /// nullptr when there is no such object.
  Object* edit_object(const ObjectKey& key) { return const_cast<Object*>(find(key)); }
  /// The object, which must exist.
  Object take(const ObjectKey& key);

 private:
  struct OfType {
    NamedMap<Object> objects;
    Value latest;  // null once it is removed: no text stays longer than the object that has it
  };
  std::map<std::string, OfType, std::less<>> types_;
};

}  // namespace shiplog
