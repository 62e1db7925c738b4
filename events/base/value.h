#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shiplog {

/// A JSON value: what a Kubernetes object is made of. 16 bytes; strings up to 14 bytes are stored inside. Copies share
/// their content and split when one of them is edited, so a copy costs one counter and the version before a change can
/// be kept beside the version after it. Members of an object are sorted by key, so equal values look alike everywhere.
/// Reading what is not there gives null, and a fallback from the as_ functions: `v["spec"]["replicas"].as_int(1)`.
/// Threads: copies may live on different threads; one Value is edited by one thread.
class Value {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };
  struct Member;
  using Array = std::vector<Value>;
  using Object = std::vector<Member>;

  Value() noexcept = default;
  Value(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): literals read as JSON
  template <std::same_as<bool> B>
  Value(B value) noexcept : kind_{Kind::kBool} {  // NOLINT(google-explicit-constructor)
    payload_.integer = value ? 1 : 0;
  }
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value(I value)
  noexcept : kind_{Kind::kInt} {  // NOLINT(google-explicit-constructor)
    payload_.integer = static_cast<int64_t>(value);
  }
  Value(double value) noexcept : kind_{Kind::kDouble} {  // NOLINT(google-explicit-constructor)
    payload_.real = value;
  }
  Value(std::string_view text);                                      // NOLINT(google-explicit-constructor)
  Value(const char* text) : Value(std::string_view{text}) {}         // NOLINT(google-explicit-constructor)
  Value(const std::string& text) : Value(std::string_view{text}) {}  // NOLINT(google-explicit-constructor)
  Value(const Value& other) noexcept {
    take_bytes(other);
    if (counted()) share();
  }
  Value(Value&& other) noexcept {
    take_bytes(other);
    other.kind_ = Kind::kNull;
  }
  Value& operator=(const Value& other) noexcept {
    Value copy{other};
    return *this = std::move(copy);
  }
  Value& operator=(Value&& other) noexcept {
    if (this == &other) return *this;
    // What is released may hold `other` (`v = std::move(v.edit("child"))`): move out first.
    Value held{std::move(other)};
    if (counted()) release();
    take_bytes(held);
    held.kind_ = Kind::kNull;
    return *this;
  }
  ~Value() {
    if (counted()) release();
  }

  /// `Value::object({{"name", "nginx"}, {"replicas", 3}})`
  static Value object(std::initializer_list<std::pair<std::string_view, Value>> members = {});
  /// `Value::array({1, 2, 3})`
  static Value array(std::initializer_list<Value> items = {});
  static Value array(Array items);
  /// Members in any order; of equal keys the last wins.
  static Value object(Object members);

  Kind kind() const noexcept { return kind_; }
  bool is_null() const noexcept { return kind_ == Kind::kNull; }
  bool is_bool() const noexcept { return kind_ == Kind::kBool; }
  bool is_int() const noexcept { return kind_ == Kind::kInt; }
  bool is_number() const noexcept { return kind_ == Kind::kInt || kind_ == Kind::kDouble; }
  bool is_string() const noexcept { return kind_ == Kind::kString; }
  bool is_array() const noexcept { return kind_ == Kind::kArray; }
  bool is_object() const noexcept { return kind_ == Kind::kObject; }
  /// Null, false, 0, "", [] or {}: what Go's omitempty leaves out.
  bool is_empty() const noexcept;

  bool as_bool(bool fallback = false) const noexcept { return is_bool() ? payload_.integer != 0 : fallback; }
  /// Whole doubles within range count as integers.
  int64_t as_int(int64_t fallback = 0) const noexcept;
  double as_double(double fallback = 0) const noexcept;
  /// Valid as long as this value is neither edited nor destroyed.
  std::string_view as_string(std::string_view fallback = "") const noexcept;
  std::string str() const { return std::string{as_string()}; }

  /// Members of an object, items of an array, else 0.
  size_t size() const noexcept;
  /// Empty unless an array.
  std::span<const Value> items() const noexcept;
  /// Empty unless an object.
  std::span<const Member> members() const noexcept;
  /// nullptr when this is no object or has no such member. A member that is null is found.
  const Value* find(std::string_view key) const noexcept;
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  const Value& operator[](std::string_view key) const noexcept;
  const Value& operator[](const char* key) const noexcept { return (*this)[std::string_view{key}]; }
  template <std::integral I>
  const Value& operator[](I index) const noexcept {
    return item(static_cast<size_t>(index));
  }

  /// The member for writing; made (as null) when missing. Anything that is no object becomes an empty object first.
  Value& edit(std::string_view key);
  /// `edit("a").edit("b") = value`
  void set(std::string_view key, Value value) { edit(key) = std::move(value); }
  /// False when there was no such member.
  bool erase(std::string_view key);
  /// The items for writing. Anything that is no array becomes an empty array first.
  Array& edit_items();
  void push_back(Value value) { edit_items().push_back(std::move(value)); }

  /// Deep equality. 1 and 1.0 differ.
  bool operator==(const Value& other) const noexcept;

 private:
  struct Text;
  struct ArrayBlock;
  struct ObjectBlock;
  static constexpr uint8_t kInline = 14;  // longest string stored inside
  static constexpr uint8_t kHeap = 15;

  const Value& item(size_t index) const noexcept;
  // Whether the content is elsewhere, behind a counter. Values are moved by the hundred for each entry: these are
  // inline.
  bool counted() const noexcept { return kind_ > Kind::kString || (kind_ == Kind::kString && length_ == kHeap); }
  void take_bytes(const Value& other) noexcept {
    std::memcpy(static_cast<void*>(this), static_cast<const void*>(&other), sizeof(Value));
  }
  void share() noexcept;
  void release() noexcept;
  Object& edit_members();

  union Payload {
    int64_t integer;
    double real;
    Text* text;
    ArrayBlock* array;
    ObjectBlock* object;
    char small[8];
  };
  // A short string runs on from payload_.small into tail_: the two are adjacent (checked in value.cc).
  Payload payload_ = {.integer = 0};
  char tail_[6] = {};
  uint8_t length_ = 0;  // of an inline string, or kHeap
  Kind kind_ = Kind::kNull;
};

struct Value::Member {
  Value key_text;  // always a string
  Value value;
  std::string_view key() const noexcept { return key_text.as_string(); }
  bool operator==(const Member&) const = default;
};

}  // namespace shiplog
