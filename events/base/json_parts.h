#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "events/base/value.h"

namespace shiplog {

/// Objects and arrays with the text that they were read from. Where this text stands again, its end is known: nothing
/// that begins with a whole object or array has another one at its beginning.
class JsonParts {
 public:
  struct Part {
    std::string text;  ///< empty: none
    Value value;
    size_t height = 0;              ///< levels of objects and arrays, with its own
    uint64_t middle = 0, last = 0;  // of the text: most that differ do so here
  };

  /// Parts that begin alike.
  class Slot {
   public:
    /// The part that `rest` begins with; nullptr: none that is known.
    const Part* find(std::string_view rest) const {
      for (const Part& part : parts_) {
        const size_t size = part.text.size();
        if (size == 0 || size > rest.size()) continue;
        if (part.last != last_of(rest.data(), size) || part.middle != middle_of(rest.data(), size)) continue;
        if (std::memcmp(part.text.data(), rest.data(), size) == 0) return &part;
      }
      return nullptr;
    }

    /// What was not found and has been read. The first time it is only noted: most of what is there once, as where a
    /// name stands in it, is never there again.
    void keep(std::string_view text, const Value& value, size_t height) {
      if (text.size() < kShortest || text.size() > kLongest) return;
      const uint64_t middle = middle_of(text.data(), text.size()), last = last_of(text.data(), text.size());
      const uint64_t mark = mixed(mixed(text.size(), middle), last);
      if (std::ranges::find(marks_, mark) == marks_.end()) {
        marks_[next_mark_++ % marks_.size()] = mark;
        return;
      }
      Part& oldest = parts_[next_part_++ % parts_.size()];
      oldest.text.assign(text);
      oldest.value = value;
      oldest.height = height;
      oldest.middle = middle;
      oldest.last = last;
    }

   private:
    static uint64_t middle_of(const char* text, size_t size) { return word(text + size / 2); }
    static uint64_t last_of(const char* text, size_t size) { return word(text + size - sizeof(uint64_t)); }

    std::array<Part, 4> parts_;
    std::array<uint64_t, 8> marks_ = {};
    uint32_t next_part_ = 0, next_mark_ = 0;
  };

  /// Of the object or array at `at` in the text from `begin` to `end`; nullptr: too near to an end of the text.
  Slot* slot(const char* begin, const char* at, const char* end) {
    if (static_cast<size_t>(at - begin) < kKey || static_cast<size_t>(end - at) < kShortest) return nullptr;
    // With what stands before it, which is its key.
    const uint64_t beginning = mixed(mixed(mixed(0, word(at - kKey)), word(at)), word(at + sizeof(uint64_t)));
    return &slots_[beginning >> (64U - kSlotBits)];
  }

 private:
  static constexpr size_t kKey = 8;
  // A shorter one is read in the time that it takes to find it.
  static constexpr size_t kShortest = 24;
  static constexpr size_t kLongest = 4096;
  static constexpr unsigned kSlotBits = 9;

  static uint64_t mixed(uint64_t number, uint64_t word) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15U;
    return (number ^ number >> 32U ^ word) * kOdd;
  }
  static uint64_t word(const char* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  std::array<Slot, size_t{1} << kSlotBits> slots_;
};

}  // namespace shiplog
