#pragma once

#include <compare>
#include <concepts>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/value.h"
#include "events/base/well_known_texts.h"

namespace shiplog {

class SharedText;
template <class Text>
concept OtherText = std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, SharedText>;

/// A text that does not change: what the keys of objects are made of. 16 bytes. As in a Value, up to 14 bytes lie
/// inside, a well-known text takes no memory, and copies of a longer one share it: to copy a key takes no memory.
/// Threads: as Value. One that was moved from is to be assigned to, or destroyed.
class SharedText {
 public:
  SharedText() noexcept : value_{Value::empty_text()} {}
  SharedText(std::string_view text)  // NOLINT(google-explicit-constructor): a key is made of what texts there are
      : value_{text.size() < kShortestWellKnown ? Value{text} : Value::interned(text)} {}
  SharedText(const char* text) : SharedText(std::string_view{text}) {}         // NOLINT(google-explicit-constructor)
  SharedText(const std::string& text) : SharedText(std::string_view{text}) {}  // NOLINT(google-explicit-constructor)
  /// The string that `value` is, shared with it; empty when it is none.
  static SharedText of(const Value& value) {
    SharedText text;
    if (value.is_string()) text.value_ = value;
    return text;
  }

  /// Valid as long as this is.
  std::string_view view() const noexcept { return value_.text(); }
  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor): it is one
  std::string str() const { return std::string{view()}; }

  bool empty() const noexcept { return value_.place() == 0; }
  size_t size() const noexcept { return view().size(); }
  bool starts_with(std::string_view text) const noexcept { return view().starts_with(text); }
  bool ends_with(std::string_view text) const noexcept { return view().ends_with(text); }
  size_t find(std::string_view text, size_t from = 0) const noexcept { return view().find(text, from); }
  size_t find(char wanted, size_t from = 0) const noexcept { return view().find(wanted, from); }
  size_t rfind(char wanted) const noexcept { return view().rfind(wanted); }
  /// Valid as long as this is.
  std::string_view substr(size_t from, size_t size = std::string_view::npos) const { return view().substr(from, size); }

  // Of those that are compared many are one text, or short ones.
  bool operator==(const SharedText& other) const noexcept {
    return value_.words() == other.value_.words() || view() == other.view();
  }
  std::strong_ordering operator<=>(const SharedText& other) const noexcept {
    if (value_.words() == other.value_.words()) return std::strong_ordering::equal;
    return Value::compare_texts(value_, other.value_);
  }
  friend bool operator==(const SharedText& a, std::string_view b) noexcept { return a.view() == b; }
  friend bool operator==(const SharedText& a, const std::string& b) noexcept { return a.view() == b; }
  friend bool operator==(const SharedText& a, const char* b) noexcept { return a.view() == b; }
  friend std::strong_ordering operator<=>(const SharedText& a, std::string_view b) noexcept { return a.view() <=> b; }
  friend std::strong_ordering operator<=>(const SharedText& a, const std::string& b) noexcept { return a.view() <=> b; }
  friend std::strong_ordering operator<=>(const SharedText& a, const char* b) noexcept { return a.view() <=> b; }

  friend std::string operator+(std::string&& a, const SharedText& b) { return std::move(a += b.view()); }
  friend std::string operator+(const SharedText& a, const SharedText& b) { return a.str().append(b.view()); }
  friend std::string operator+(const SharedText& a, char b) { return a.str() += b; }
  template <OtherText Text>
  friend std::string operator+(const Text& a, const SharedText& b) {
    return std::string{a}.append(b.view());
  }
  template <OtherText Text>
  friend std::string operator+(const SharedText& a, const Text& b) {
    return a.str().append(b);
  }
  friend std::ostream& operator<<(std::ostream& out, const SharedText& text) { return out << text.view(); }

 private:
  friend class Value;

  Value value_;  // always a string
};

inline Value::Value(const SharedText& text) noexcept : Value{text.value_} {}

}  // namespace shiplog
