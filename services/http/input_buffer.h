#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

/// Internal to services/http.
namespace shiplog {

/// Bytes that were received and not parsed yet. Takes memory only while it holds some, or is about to.
class InputBuffer {
 public:
  InputBuffer() = default;
  InputBuffer(InputBuffer&& other) noexcept
      : bytes_{std::move(other.bytes_)},
        capacity_{std::exchange(other.capacity_, 0)},
        begin_{std::exchange(other.begin_, 0)},
        end_{std::exchange(other.end_, 0)} {}
  InputBuffer& operator=(InputBuffer&&) = delete;
  ~InputBuffer() = default;

  std::string_view unread() const { return {bytes_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  size_t capacity() const { return capacity_; }

  /// Makes room behind what is unread: by moving that to the front; when there is none still, by taking `wanted` bytes
  /// in all. Returns how many can be received at space(); 0: it is full.
  size_t reserve(size_t wanted) {
    if (empty()) begin_ = end_ = 0;
    if (end_ == capacity_ && begin_ > 0) {
      std::copy(bytes_.get() + begin_, bytes_.get() + end_, bytes_.get());
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == capacity_ && wanted > capacity_) {
      auto grown = std::make_unique_for_overwrite<char[]>(wanted);
      std::copy(bytes_.get(), bytes_.get() + end_, grown.get());
      bytes_ = std::move(grown);
      capacity_ = wanted;
    }
    return capacity_ - end_;
  }
  char* space() { return bytes_.get() + end_; }
  void received(size_t count) { end_ += count; }
  void consume(size_t count) { begin_ += count; }

  /// Gives its memory back. Nothing may be unread.
  void release() {
    bytes_.reset();
    capacity_ = begin_ = end_ = 0;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t begin_ = 0;  // bytes_[begin_, end_) is unread
  size_t end_ = 0;
};

}  // namespace shiplog
