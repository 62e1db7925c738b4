#pragma once

#include <atomic>
#include <bit>
#include <compare>
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

class SharedText;

/// A JSON value: what a Kubernetes object is made of. 16 bytes; strings up to 14 bytes are stored inside. Copies share
/// their content and split when one of them is edited, so a copy costs one counter and the version before a change can
/// be kept beside the version after it. Members of an object are sorted by key, so equal values look alike everywhere;
/// they lie in one block of memory with its counter. Member names that the APIs define are not stored at all
/// (well_known_texts.h).
/// Reading what is not there gives null, and a fallback from the as_ functions: `v["spec"]["replicas"].as_int(1)`.
/// Threads: copies may live on different threads; one Value is edited by one thread.
class Value {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };
  struct Member;
  using Array = std::vector<Value>;
  using Object = std::vector<Member>;

  constexpr Value() noexcept = default;
  Value(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): literals read as JSON
  template <std::same_as<bool> B>
  Value(B value) noexcept  // NOLINT(google-explicit-constructor)
      : payload_{.integer = value ? 1 : 0}, meta_{meta(Kind::kBool)} {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value(I value)
  noexcept  // NOLINT(google-explicit-constructor)
      : payload_{.integer = static_cast<int64_t>(value)}, meta_{meta(Kind::kInt)} {}
  Value(double value) noexcept  // NOLINT(google-explicit-constructor)
      : payload_{.real = value}, meta_{meta(Kind::kDouble)} {}
  Value(std::string_view text);                                      // NOLINT(google-explicit-constructor)
  Value(const char* text) : Value(std::string_view{text}) {}         // NOLINT(google-explicit-constructor)
  Value(const std::string& text) : Value(std::string_view{text}) {}  // NOLINT(google-explicit-constructor)
  /// The same text, shared (base/shared_text.h).
  Value(const SharedText& text) noexcept;  // NOLINT(google-explicit-constructor)
  Value(const Value& other) noexcept : payload_{other.payload_}, meta_{other.meta_} {
    if (counted()) share();
  }
  Value(Value&& other) noexcept {
    take_bytes(other);
    other.meta_ = 0;
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
    held.meta_ = 0;
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
  /// The same of what lies elsewhere: what is taken becomes null.
  static Value taking_items(std::span<Value> items);
  static Value taking_members(std::span<Member> members);
  /// A string. Unlike Value{text} it takes no memory when it is a well-known text (base/well_known_texts.h).
  static Value interned(std::string_view text);

  Kind kind() const noexcept { return static_cast<Kind>(meta_ >> kKindShift); }
  bool is_null() const noexcept { return kind() == Kind::kNull; }
  bool is_bool() const noexcept { return kind() == Kind::kBool; }
  bool is_int() const noexcept { return kind() == Kind::kInt; }
  bool is_number() const noexcept { return kind() == Kind::kInt || kind() == Kind::kDouble; }
  bool is_string() const noexcept { return kind() == Kind::kString; }
  bool is_array() const noexcept { return kind() == Kind::kArray; }
  bool is_object() const noexcept { return kind() == Kind::kObject; }
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
  // Inlined, or the words of a literal would be computed at each call.
  template <size_t N>
  [[gnu::always_inline]] const Value* find(
      const char (&key)[N]) const noexcept {  // NOLINT(modernize-avoid-c-arrays): literals are
    const size_t size = __builtin_strlen(key);
    if (!__builtin_constant_p(size)) return find(std::string_view{key, size});
    return size > kInline ? find_long({key, size}) : find_short(short_text(key));
  }
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  template <size_t N>
  [[gnu::always_inline]] bool contains(const char (&key)[N]) const noexcept {  // NOLINT(modernize-avoid-c-arrays)
    return find(key) != nullptr;
  }
  const Value& operator[](std::string_view key) const noexcept { return or_null(find(key)); }
  template <class P>
  requires std::same_as<P, const char*> || std::same_as<P, char*>
  const Value& operator[](const P& key) const noexcept { return (*this)[std::string_view{key}]; }
  /// Of a literal, whose words the compiler computes.
  template <size_t N>
  [[gnu::always_inline]] const Value& operator[](
      const char (&key)[N]) const noexcept {  // NOLINT(modernize-avoid-c-arrays)
    return or_null(find(key));
  }
  template <std::integral I>
  const Value& operator[](I index) const noexcept {
    return item(static_cast<size_t>(index));
  }

  /// The member for writing; made (as null) when missing. Anything that is no object becomes an empty object first.
  Value& edit(std::string_view key);
  /// The member becomes `value`. One that has the same JSON stays, and what is shared with copies of this stays shared.
  void set(std::string_view key, Value value);
  /// False when there was no such member.
  bool erase(std::string_view key);
  /// The items for writing. Anything that is no array becomes an empty array first.
  Array& edit_items();
  void push_back(Value value) { edit_items().push_back(std::move(value)); }

  /// Takes from `other` each part that has the same JSON there, at the same place: such parts are in memory once. The
  /// JSON of this stays. In an array or object that is shared with another value, a part is replaced in a copy of that
  /// array or object. Copies are made of the first shared one on the path from the root and of what is only in it: the
  /// event that is being applied shares that one, and is freed soon. Nothing below a second shared one is replaced: the
  /// other value would keep the part, and the copy would only take memory.
  void share_with(const Value& other);

  /// Deep equality. 1 and 1.0 differ.
  bool operator==(const Value& other) const noexcept;

 private:
  // What is behind a pointer begins with its counter.
  struct Counted {
    std::atomic<uint32_t> refs;
    uint32_t capacity;  // of an object's block, in members
  };
  struct EditedArray;

  // Meta: the kind in the highest byte; below it, of a string, its length, or one of the two numbers that say where it
  // is; of an array, whether it is an EditedArray. The lower six bytes go on with a short string, or have the size of a
  // long one, of an object, or of an array that was not edited.
  static constexpr unsigned kKindShift = 56;
  static constexpr unsigned kPlaceShift = 48;
  static constexpr uint64_t kSizeMask = (uint64_t{1} << kPlaceShift) - 1;
  static constexpr size_t kInline = 14;  // longest string stored inside
  static constexpr uint8_t kStatic = 15;
  static constexpr uint8_t kHeap = 16;
  static constexpr uint8_t kEdited = 1;

  static constexpr uint64_t meta(Kind kind, uint8_t place = 0, size_t size = 0) noexcept {
    return static_cast<uint64_t>(kind) << kKindShift | uint64_t{place} << kPlaceShift | size;
  }

  /// The two words of a short string: equal strings have equal ones.
  struct Words {
    uint64_t payload;
    uint64_t meta;
    bool operator==(const Words&) const = default;
  };
  Words words() const noexcept {
    Words words;
    std::memcpy(&words, static_cast<const void*>(this), sizeof words);
    return words;
  }
  // Of a literal: computed at compile time, where the caller is inlined.
  template <size_t N>
  [[gnu::always_inline]] static Words short_text(const char (&text)[N]) noexcept {  // NOLINT(modernize-avoid-c-arrays)
    const auto byte = [&](size_t at) { return uint64_t{static_cast<unsigned char>(at < N ? text[at] : '\0')}; };
    const auto word = [&]<size_t... I>(size_t from, std::index_sequence<I...>) {
      return ((byte(from + I) << (8 * I)) | ...);
    };
    return {word(0, std::make_index_sequence<8>{}),
            word(8, std::make_index_sequence<kInline - 8>{}) |
                meta(Kind::kString, static_cast<uint8_t>(__builtin_strlen(text)))};
  }
  static Words short_text(std::string_view text) noexcept;

  // For SharedText, which is always a string, or null once it was moved from.
  friend class SharedText;
  std::string_view text() const noexcept {
    if (place() <= kInline) return {reinterpret_cast<const char*>(this), place()};
    return {place() == kStatic ? payload_.chars : heap_text(), stored_size()};
  }
  static Value empty_text() noexcept {
    Value made;
    made.meta_ = meta(Kind::kString);
    return made;
  }
  static std::strong_ordering compare_texts(const Value& a, const Value& b) noexcept;
  static uint64_t lead(const Value& text) noexcept;

  const Value& item(size_t index) const noexcept;
  const Value* find_short(Words key) const noexcept;
  const Value* find_long(std::string_view key) const noexcept;
  static const Value& or_null(const Value* found) noexcept { return found != nullptr ? *found : kNullValue; }
  static bool before(const Value& a, const Value& b) noexcept;
  static size_t sort_members(std::span<Member> members);
  enum class Doubles : uint8_t { kByValue, kByBits };  // which of 0.0 and -0.0, or two NaNs, are equal
  template <Doubles>
  static bool equal(const Value& a, const Value& b) noexcept;
  /// How many arrays and objects are shared with other values on the path from the root to a value, itself included.
  enum class SharedOnPath : uint8_t { kNone, kOne, kMore };
  /// `above`: of what contains this. `own`: references to this that the caller itself has made.
  SharedOnPath shared_on_path(SharedOnPath above, uint32_t own) const noexcept;
  /// Whether this equals `other`. `made`: what the caller is to replace this by; null: nothing, as it was shared
  /// before, was changed in place, or has nothing in common. `shared`: shared_on_path() of this.
  bool share(const Value& other, SharedOnPath shared, Value& made);
  bool share_items(const Value& other, SharedOnPath shared, Value& made);
  bool share_members(const Value& other, SharedOnPath shared, Value& made);

  // Whether the content is elsewhere, behind a counter. Values are moved by the hundred for each entry: these are
  // inline.
  bool counted() const noexcept { return meta_ >= meta(Kind::kString, kHeap); }
  uint8_t place() const noexcept { return static_cast<uint8_t>(meta_ >> kPlaceShift); }
  size_t stored_size() const noexcept { return meta_ & kSizeMask; }
  // Word by word: a load of both at once would wait for the two stores that made them.
  void take_bytes(const Value& other) noexcept {
    payload_ = other.payload_;
    meta_ = other.meta_;
  }
  void share() const noexcept {
    if (payload_.counted != nullptr) payload_.counted->refs.fetch_add(1, std::memory_order_relaxed);
  }
  bool sole() const noexcept { return payload_.counted->refs.load(std::memory_order_acquire) == 1; }
  void release() noexcept;
  void destroy() noexcept;
  void make_block(size_t size, size_t capacity);
  void make_own();
  // A string has no capacity: its text begins there.
  char* heap_text() const noexcept { return reinterpret_cast<char*>(payload_.counted) + sizeof(std::atomic<uint32_t>); }
  Member* block() const noexcept;  // of an object that is not empty
  Value& insert(std::string_view key);
  size_t lower_bound(const Value& key) const noexcept;

  union Payload {
    int64_t integer;
    double real;
    Counted* counted;   // nullptr: an empty object or array
    const char* chars;  // of a string that is stored nowhere else than in the program
    EditedArray* edited;
  };
  static const Value kNullValue;

  // A short string runs on from payload_ into meta_: the two are adjacent (checked in value.cc).
  Payload payload_ = {.integer = 0};
  uint64_t meta_ = 0;
};

struct Value::Member {
  Value key_text;  // always a string
  Value value;
  std::string_view key() const noexcept { return key_text.as_string(); }
  bool operator==(const Member&) const = default;
};

struct Value::EditedArray {
  Counted counted;
  Array items;
};

inline std::string_view Value::as_string(std::string_view fallback) const noexcept {
  return is_string() ? text() : fallback;
}

inline size_t Value::size() const noexcept {
  if (is_array() && place() == kEdited) return payload_.edited->items.size();
  return is_array() || is_object() ? stored_size() : 0;
}

inline std::span<const Value> Value::items() const noexcept {
  if (!is_array() || payload_.counted == nullptr) return {};
  if (place() == kEdited) return payload_.edited->items;
  return {reinterpret_cast<const Value*>(payload_.counted + 1), stored_size()};
}

inline Value::Member* Value::block() const noexcept { return reinterpret_cast<Member*>(payload_.counted + 1); }

inline std::span<const Value::Member> Value::members() const noexcept {
  if (!is_object() || payload_.counted == nullptr) return {};
  return {block(), stored_size()};
}

}  // namespace shiplog
