#pragma once

#include <cstddef>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/name_table.h"
#include "events/state/object.h"

namespace shiplog {

/// Objects by type, namespace and name: to be walked in order, and to be found at once. The part of State that its
/// views are derived from.
class ObjectStore {
 public:
  struct Name {
    std::string ns;
    std::string name;
    auto operator<=>(const Name&) const = default;
  };
  /// A Name, or a pair of views for looking one up without making it.
  struct NameLess {
    using is_transparent = void;
    using NameView = std::pair<std::string_view, std::string_view>;
    static NameView view(const Name& name) { return {name.ns, name.name}; }
    static NameView view(const NameView& name) { return name; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) < view(b);
    }
  };
  using Objects = std::map<Name, Object, NameLess>;

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
    OfType() = default;
    OfType(const OfType& other) : sorted{other.sorted} {
      for (auto& node : sorted) table.insert(&node);
    }
    OfType(OfType&&) noexcept = default;
    OfType& operator=(OfType&&) noexcept = default;
    OfType& operator=(const OfType& other) { return *this = OfType{other}; }
    ~OfType() = default;

    Objects sorted;
    NameTable<Objects::value_type> table;
  };

  std::map<std::string, OfType, std::less<>> objects_;
};

}  // namespace shiplog
