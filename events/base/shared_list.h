#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace shiplog {

/// A list that many have alike: copies share it, and what is in it never changes.
template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::initializer_list<T> items) : SharedList{std::vector<T>{items}} {}
  explicit SharedList(std::vector<T> items)
      : items_{items.empty() ? nullptr : std::make_shared<const std::vector<T>>(std::move(items))} {}

  const T* begin() const { return items_ ? items_->data() : nullptr; }
  const T* end() const { return items_ ? items_->data() + items_->size() : nullptr; }
  size_t size() const { return items_ ? items_->size() : 0; }
  bool empty() const { return size() == 0; }
  const T& front() const { return items_->front(); }
  const T& back() const { return items_->back(); }
  const T& operator[](size_t index) const { return (*items_)[index]; }

  bool operator==(const SharedList& other) const {
    if (items_ == other.items_) return true;
    if (size() != other.size()) return false;
    return size() == 0 || *items_ == *other.items_;
  }

 private:
  std::shared_ptr<const std::vector<T>> items_;
};

}  // namespace shiplog
