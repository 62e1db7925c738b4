#pragma once

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
    size_t height = 0;  ///< levels of objects and arrays, with its own
  };

  /// Parts that begin alike.
  class Slot {
   public:
    /// The part that `rest` begins with; nullptr: none that is known.
    const Part* find(std::string_view rest) {
      for (const Part& part : parts_) {
        const size_t size = part.text.size();
        if (size == 0 || size > rest.size() || std::memcmp(part.text.data(), rest.data(), size) != 0) continue;
        missed_ = 0;
        return &part;
      }
      return nullptr;
    }

    void keep(std::string_view text, const Value& value, size_t height) {
      if (text.size() < kShortest || text.size() > kLongest) return;
      // Where all differ, as where a name stands in them, few are worth the copy.
      constexpr uint32_t kPatience = 32;
      constexpr uint32_t kFew = 16;
      if (++missed_ > kPatience && missed_ % kFew != 0) return;
      Part& oldest = parts_[next_++ % parts_.size()];
      oldest.text.assign(text);
      oldest.value = value;
      oldest.height = height;
    }

   private:
    std::array<Part, 4> parts_;
    uint32_t next_ = 0;
    uint32_t missed_ = 0;  // since the last one that was found
  };

  /// Of the object or array at `at` in the text from `begin` to `end`; nullptr: too near to an end of the text.
  Slot* slot(const char* begin, const char* at, const char* end) {
    if (static_cast<size_t>(at - begin) < kKey || static_cast<size_t>(end - at) < kShortest) return nullptr;
    // With what stands before it, which is its key.
    constexpr uint64_t kMix = 0x9E3779B97F4A7C15U;
    uint64_t mixed = word(at - kKey) * kMix;
    mixed = (mixed ^ (mixed >> 32U) ^ word(at)) * kMix;
    mixed = (mixed ^ (mixed >> 32U) ^ word(at + sizeof mixed)) * kMix;
    return &slots_[mixed >> (64U - kSlotBits)];
  }

 private:
  static constexpr size_t kKey = 8;
  // A shorter one is read in the time that it takes to find it.
  static constexpr size_t kShortest = 24;
  static constexpr size_t kLongest = 4096;
  static constexpr unsigned kSlotBits = 9;

  static uint64_t word(const char* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  std::array<Slot, size_t{1} << kSlotBits> slots_;
};

}  // namespace shiplog
