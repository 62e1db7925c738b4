#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/shared_text.h"
#include "events/state/name_table.h"

namespace shiplog {

/// What names an object among those of its type.
struct ObjectName {
  SharedText ns;
  SharedText name;
  auto operator<=>(const ObjectName&) const = default;
};

/// A map by namespace and name: to be walked in order, and to be found in at once. Its nodes stay where they are.
template <class Mapped>
class NamedMap {
 public:
  /// An ObjectName, or a pair of views for looking one up without making it.
  struct Less {
    using is_transparent = void;
    using View = std::pair<std::string_view, std::string_view>;
    bool operator()(const ObjectName& a, const ObjectName& b) const { return a < b; }
    bool operator()(const ObjectName& a, const View& b) const { return order(a, b) < 0; }
    bool operator()(const View& a, const ObjectName& b) const { return order(b, a) > 0; }

   private:
    static std::strong_ordering order(const ObjectName& a, const View& b) {
      const auto of_namespaces = a.ns <=> b.first;
      return of_namespaces != 0 ? of_namespaces : a.name <=> b.second;
    }
  };
  using Sorted = std::map<ObjectName, Mapped, Less>;
  using Node = typename Sorted::value_type;

  NamedMap() = default;
  NamedMap(const NamedMap& other) : sorted_{other.sorted_} {
    for (Node& node : sorted_) table_.insert(&node);
  }
  NamedMap(NamedMap&&) noexcept = default;
  NamedMap& operator=(NamedMap&&) noexcept = default;
  NamedMap& operator=(const NamedMap& other) { return *this = NamedMap{other}; }
  ~NamedMap() = default;
  bool operator==(const NamedMap& other) const { return sorted_ == other.sorted_; }

  const Sorted& sorted() const { return sorted_; }
  /// nullptr when there is none.
  Node* find(std::string_view ns, std::string_view name) const { return table_.find(ns, name); }
  /// The node of that name, made when there is none.
  template <class Ns, class Name>
  Node* find_or_make(const Ns& ns, const Name& name) {
    Node* node = table_.find(ns, name);
    if (node != nullptr) return node;
    // What is restored comes in order.
    node = &*sorted_.try_emplace(sorted_.end(), ObjectName{ns, name});
    table_.insert(node);
    return node;
  }
  void erase(const Node* node) {
    table_.erase(node);
    sorted_.erase(sorted_.find(node->first));
  }

 private:
  Sorted sorted_;
  NameTable<Node> table_;
};

}  // namespace shiplog
