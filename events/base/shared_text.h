#pragma once

#include <compare>
#include <concepts>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/value.h"

namespace shiplog {

class SharedText;
template <class Text>
concept OtherText = std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, SharedText>;

/// A text that does not change: what the keys of objects are made of. 16 bytes. As in a Value, up to 14 bytes lie
/// inside, a well-known text takes no memory, and copies of a longer one share it: to copy a key takes no memory.
/// Threads: as Value.
class SharedText {
 public:
  SharedText() noexcept = default;
  SharedText(std::string_view text) {  // NOLINT(google-explicit-constructor): a key is made of what texts there are
    if (!text.empty()) value_ = Value::interned(text);
  }
  SharedText(const char* text) : SharedText(std::string_view{text}) {}         // NOLINT(google-explicit-constructor)
  SharedText(const std::string& text) : SharedText(std::string_view{text}) {}  // NOLINT(google-explicit-constructor)
  /// The string that `value` is, shared with it; empty when it is none.
  static SharedText of(const Value& value) {
    SharedText text;
    if (!value.as_string().empty()) text.value_ = value;
    return text;
  }

  std::string_view view() const noexcept { return value_.as_string(); }
  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor): it is one
  std::string str() const { return std::string{view()}; }
  /// The same as a JSON string.
  Value value() const { return value_.is_null() ? Value{""} : value_; }

  bool empty() const noexcept { return value_.is_null(); }
  size_t size() const noexcept { return view().size(); }
  bool starts_with(std::string_view text) const noexcept { return view().starts_with(text); }
  bool ends_with(std::string_view text) const noexcept { return view().ends_with(text); }
  size_t find(std::string_view text, size_t from = 0) const noexcept { return view().find(text, from); }
  size_t find(char wanted, size_t from = 0) const noexcept { return view().find(wanted, from); }
  size_t rfind(char wanted) const noexcept { return view().rfind(wanted); }
  /// Valid as long as this is.
  std::string_view substr(size_t from, size_t size = std::string_view::npos) const { return view().substr(from, size); }

  // One that shares the bytes of the other is equal: of keys that are looked up, most are found.
  friend bool operator==(const SharedText& a, const SharedText& b) noexcept {
    return same(a.view(), b.view()) || a.view() == b.view();
  }
  friend bool operator==(const SharedText& a, std::string_view b) noexcept { return a.view() == b; }
  friend bool operator==(const SharedText& a, const std::string& b) noexcept { return a.view() == b; }
  friend bool operator==(const SharedText& a, const char* b) noexcept { return a.view() == b; }
  friend std::strong_ordering operator<=>(const SharedText& a, const SharedText& b) noexcept {
    return same(a.view(), b.view()) ? std::strong_ordering::equal : a.view() <=> b.view();
  }
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
  static bool same(std::string_view a, std::string_view b) noexcept {
    return a.data() == b.data() && a.size() == b.size();
  }

  Value value_;  // null: empty
};

inline Value::Value(const SharedText& text) : Value{text.value()} {}

}  // namespace shiplog
