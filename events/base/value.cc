#include "events/base/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "events/base/check.h"
#include "events/base/well_known_texts.h"

namespace shiplog {
namespace {

// In objects of up to this many members all are compared: most are smaller.
constexpr size_t kFew = 24;

uint64_t load64(const char* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

uint64_t load32(const char* from) {
  uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

constexpr size_t text_bytes(size_t size) { return sizeof(std::atomic<uint32_t>) + size; }

}  // namespace

static_assert(std::endian::native == std::endian::little, "a short string lies in two words, its first byte lowest");

constinit const Value Value::kNullValue;

Value::Words Value::short_text(std::string_view text) noexcept {
  const size_t size = text.size();
  const char* const from = text.data();
  Words words{0, meta(Kind::kString, static_cast<uint8_t>(size))};
  if (size > 8) {
    words.payload = load64(from);
    words.meta |= load64(from + size - 8) >> (8 * (16 - size));
  } else if (size >= 4) {
    words.payload = load32(from) | load32(from + size - 4) << (8 * (size - 4));
  } else if (size > 0) {
    const auto byte = [&](size_t at) { return uint64_t{static_cast<unsigned char>(from[at])} << (8 * at); };
    words.payload = byte(0) | byte(size / 2) | byte(size - 1);
  }
  return words;
}

Value::Value(std::string_view text) {
  static_assert(sizeof(Value) == 16);
  static_assert(offsetof(Value, meta_) == 8, "a short string runs on from payload_ into meta_");
  if (text.size() <= kInline) {
    const Words words = short_text(text);
    payload_.integer = static_cast<int64_t>(words.payload);
    meta_ = words.meta;
    return;
  }
  // The bytes behind the counter are the text's, also those that a block has for its capacity.
  static_assert(offsetof(Counted, capacity) == text_bytes(0));
  void* memory = ::operator new(text_bytes(text.size()));
  std::construct_at(static_cast<std::atomic<uint32_t>*>(memory), 1U);
  payload_.counted = static_cast<Counted*>(memory);
  std::memcpy(heap_text(), text.data(), text.size());
  meta_ = meta(Kind::kString, kHeap, text.size());
}

Value Value::interned(std::string_view text) {
  const char* const known = well_known_text(text);
  if (known == nullptr) return Value{text};
  Value made;
  made.payload_.chars = known;
  made.meta_ = meta(Kind::kString, kStatic, text.size());
  return made;
}

void Value::release() noexcept {
  // Who holds the only reference need not write to the counter: no other thread can add one.
  if (payload_.counted != nullptr && (sole() || payload_.counted->refs.fetch_sub(1, std::memory_order_acq_rel) == 1)) {
    destroy();
  }
  meta_ = 0;
}

void Value::destroy() noexcept {
  switch (kind()) {
    case Kind::kString:
      ::operator delete(payload_.counted, text_bytes(stored_size()));
      break;
    case Kind::kArray:
      if (place() == kEdited) {
        delete payload_.edited;
      } else {
        auto* const items = reinterpret_cast<Value*>(payload_.counted + 1);
        std::destroy_n(items, stored_size());
        ::operator delete(payload_.counted);
      }
      break;
    case Kind::kObject:
      std::destroy_n(block(), stored_size());
      ::operator delete(payload_.counted, sizeof(Counted) + payload_.counted->capacity * sizeof(Member));
      break;
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kDouble:
      break;
  }
}

// Objects and arrays

/// This becomes an object of `size` members, which the caller makes. It was null.
void Value::make_block(size_t size, size_t capacity) {
  SHIPLOG_CHECK(capacity <= std::numeric_limits<uint32_t>::max(), "an object has fewer than 2^32 members");
  payload_.counted = nullptr;
  if (capacity > 0) {
    void* memory = ::operator new(sizeof(Counted) + capacity * sizeof(Member));
    payload_.counted = std::construct_at(static_cast<Counted*>(memory), 1U, static_cast<uint32_t>(capacity));
  }
  meta_ = meta(Kind::kObject, 0, size);
}

/// The first eight bytes of a string as a number, so that the order of numbers is the order of bytes.
uint64_t Value::lead(const Value& text) noexcept {
  const char* const at = text.place() <= kInline ? reinterpret_cast<const char*>(&text) : text.text().data();
  return __builtin_bswap64(load64(at));
}

/// The order of their bytes, of which it looks at eight at once. What was moved from is null, and its bytes mean
/// nothing.
std::strong_ordering Value::compare_texts(const Value& a, const Value& b) noexcept {
  if (!a.is_null() && !b.is_null()) {
    if (const auto order = lead(a) <=> lead(b); order != 0) return order;
  }
  return a.text() <=> b.text();
}

bool Value::before(const Value& a, const Value& b) noexcept { return compare_texts(a, b) < 0; }

/// Sorts; of equal keys the last stays. Returns how many are left; what is behind them is null.
size_t Value::sort_members(std::span<Member> members) {
  const auto less = [](const Member& a, const Member& b) { return before(a.key_text, b.key_text); };
  const auto not_less = [&](const Member& a, const Member& b) { return !less(a, b); };
  // What this program wrote itself is sorted.
  if (std::adjacent_find(members.begin(), members.end(), not_less) == members.end()) return members.size();
  if (members.size() <= kFew) {  // without the memory that the other way takes
    for (auto next = members.begin() + 1; next != members.end(); ++next) {
      std::rotate(std::upper_bound(members.begin(), next, *next, less), next, next + 1);
    }
  } else {
    std::stable_sort(members.begin(), members.end(), less);
  }
  size_t kept = 0;
  for (size_t at = 1; at < members.size(); ++at) {
    if (less(members[kept], members[at])) ++kept;
    if (kept != at) members[kept] = std::move(members[at]);
  }
  for (size_t at = kept + 1; at < members.size(); ++at) members[at] = Member{};
  return kept + 1;
}

Value Value::object(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Object made;
  made.reserve(members.size());
  for (const auto& [name, value] : members) made.push_back({interned(name), value});
  return taking_members(made);
}

Value Value::object(Object members) { return taking_members(members); }

Value Value::taking_members(std::span<Member> members) {
  const size_t kept = sort_members(members);
  Value made;
  made.make_block(kept, kept);
  if (kept > 0) {
    std::memcpy(static_cast<void*>(made.block()), members.data(), kept * sizeof(Member));
    std::memset(static_cast<void*>(members.data()), 0, kept * sizeof(Member));
  }
  return made;
}

Value Value::array(std::initializer_list<Value> items) { return array(Array(items)); }

Value Value::array(Array items) { return taking_items(items); }

Value Value::taking_items(std::span<Value> items) {
  Value made;
  if (!items.empty()) {
    void* memory = ::operator new(sizeof(Counted) + items.size_bytes());
    made.payload_.counted = std::construct_at(static_cast<Counted*>(memory), 1U, 0U);
    std::memcpy(static_cast<void*>(made.payload_.counted + 1), items.data(), items.size_bytes());
    std::memset(static_cast<void*>(items.data()), 0, items.size_bytes());
  }
  made.meta_ = meta(Kind::kArray, 0, items.size());
  return made;
}

// Reading

bool Value::is_empty() const noexcept {
  switch (kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return payload_.integer == 0;
    case Kind::kDouble:
      return payload_.real == 0;
    case Kind::kString:
      return place() == 0;
    case Kind::kArray:
    case Kind::kObject:
      return size() == 0;
  }
  return true;
}

int64_t Value::as_int(int64_t fallback) const noexcept {
  if (is_int()) return payload_.integer;
  if (kind() == Kind::kDouble && std::trunc(payload_.real) == payload_.real && std::abs(payload_.real) < 9.2e18) {
    return static_cast<int64_t>(payload_.real);
  }
  return fallback;
}

double Value::as_double(double fallback) const noexcept {
  if (is_int()) return static_cast<double>(payload_.integer);
  return kind() == Kind::kDouble ? payload_.real : fallback;
}

const Value* Value::find(std::string_view key) const noexcept {
  return key.size() <= kInline ? find_short(short_text(key)) : find_long(key);
}

// A short key lies inside its Value with zeros after it, so two of them are equal when their words are.
const Value* Value::find_short(Words key) const noexcept {
  const auto all = members();
  // A function of its own, so that the short loop needs no registers saved.
  constexpr auto kAmongMany = [](std::span<const Member> many, Words sought) __attribute__((noinline))->const Value* {
    Value wanted;
    wanted.payload_.integer = static_cast<int64_t>(sought.payload);
    wanted.meta_ = sought.meta;
    const auto found = std::ranges::lower_bound(
        many, wanted, [](const Value& a, const Value& b) { return before(a, b); }, &Member::key_text);
    return found != many.end() && found->key_text.words() == sought ? &found->value : nullptr;
  };
  if (all.size() > kFew) return kAmongMany(all, key);
  for (const Member& member : all) {
    if (member.key_text.words() == key) return &member.value;
  }
  return nullptr;
}

const Value* Value::find_long(std::string_view key) const noexcept {
  const auto all = members();
  if (all.size() <= kFew) {
    for (const Member& member : all) {  // of long keys few have the same length
      const Value& text = member.key_text;
      if (text.place() > kInline && text.stored_size() == key.size() &&
          std::memcmp(text.as_string().data(), key.data(), key.size()) == 0) {
        return &member.value;
      }
    }
    return nullptr;
  }
  const auto found = std::ranges::lower_bound(all, key, {}, &Member::key);
  return found != all.end() && found->key() == key ? &found->value : nullptr;
}

size_t Value::lower_bound(const Value& key) const noexcept {
  const auto all = members();
  const auto found = std::ranges::lower_bound(
      all, key, [](const Value& a, const Value& b) { return before(a, b); }, &Member::key_text);
  return static_cast<size_t>(found - all.begin());
}

const Value& Value::item(size_t index) const noexcept {
  const auto all = items();
  return index < all.size() ? all[index] : kNullValue;
}

// Editing

/// Makes the block of an object this Value's own.
void Value::make_own() {
  if (payload_.counted == nullptr || sole()) return;
  const auto shared = members();
  Value own;
  own.make_block(shared.size(), shared.size());
  std::ranges::uninitialized_copy(shared, std::span{own.block(), shared.size()});
  *this = std::move(own);
}

Value& Value::edit(std::string_view key) {
  // Looked up, or copied, before anything moves: `key` may point into what that frees.
  const Value* const found = find(key);
  if (found == nullptr) return insert(key);
  const auto index = reinterpret_cast<const Member*>(found - 1) - block();  // a member is its key and its value
  make_own();
  return block()[index].value;
}

void Value::set(std::string_view key, Value value) {
  const Value* const found = find(key);
  if (found == nullptr) {
    insert(key) = std::move(value);
  } else if (!equal<Doubles::kByBits>(*found, value)) {
    const auto index = reinterpret_cast<const Member*>(found - 1) - block();
    make_own();
    block()[index].value = std::move(value);
  }
}

Value& Value::insert(std::string_view key) {
  static_assert(offsetof(Member, value) == sizeof(Value));
  Value key_text = Value::interned(key);
  if (!is_object()) *this = taking_members({});
  const size_t size = stored_size();
  const size_t at = lower_bound(key_text);
  const auto shift = [](Member* to, const Member* from, size_t count) {
    if (count > 0) std::memmove(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(Member));
  };
  if (payload_.counted != nullptr && !sole()) {  // few copies get more than one new member
    Value own;
    own.make_block(0, size + 1);
    std::uninitialized_copy_n(block(), at, own.block());
    std::uninitialized_copy_n(block() + at, size - at, own.block() + at + 1);
    own.meta_ = meta(Kind::kObject, 0, size);  // the gap is filled below
    *this = std::move(own);
  } else if (payload_.counted == nullptr || payload_.counted->capacity == size) {
    // Little more than is needed: most objects live longer than they grow.
    Value larger;
    larger.make_block(0, size + std::max<size_t>(size < 4 ? 2 : 1, size / 4));
    if (payload_.counted != nullptr) {
      shift(larger.block(), block(), at);
      shift(larger.block() + at + 1, block() + at, size - at);
      meta_ = meta(Kind::kObject);  // its members have moved
    }
    *this = std::move(larger);
  } else {
    shift(block() + at + 1, block() + at, size - at);
  }
  Member* const made = std::construct_at(block() + at, Member{std::move(key_text), Value{}});
  meta_ = meta(Kind::kObject, 0, size + 1);
  return made->value;
}

bool Value::erase(std::string_view key) {
  const Value* const found = find(key);
  if (found == nullptr) return false;
  const size_t size = stored_size();
  const auto index = static_cast<size_t>(reinterpret_cast<const Member*>(found - 1) - block());
  if (!sole()) {
    Value own;
    own.make_block(0, size - 1);
    if (size > 1) {
      std::uninitialized_copy_n(block(), index, own.block());
      std::uninitialized_copy_n(block() + index + 1, size - index - 1, own.block() + index);
      own.meta_ = meta(Kind::kObject, 0, size - 1);
    }
    *this = std::move(own);
    return true;
  }
  std::destroy_at(block() + index);
  std::memmove(static_cast<void*>(block() + index), static_cast<const void*>(block() + index + 1),
               (size - index - 1) * sizeof(Member));
  meta_ = meta(Kind::kObject, 0, size - 1);
  return true;
}

Value::Array& Value::edit_items() {
  if (is_array() && place() == kEdited && sole()) return payload_.edited->items;
  auto own = std::make_unique<EditedArray>();
  own->counted.refs.store(1, std::memory_order_relaxed);
  const auto before = items();
  own->items.assign(before.begin(), before.end());
  if (counted()) release();
  payload_.edited = own.release();
  meta_ = meta(Kind::kArray, kEdited);
  return payload_.edited->items;
}

// Sharing

void Value::share_with(const Value& other) {
  Value made;
  share(other, shared_on_path(SharedOnPath::kNone, 0), made);
  if (!made.is_null()) *this = std::move(made);
}

Value::SharedOnPath Value::shared_on_path(SharedOnPath above, uint32_t own) const noexcept {
  if ((!is_array() && !is_object()) || payload_.counted == nullptr) return above;
  if (payload_.counted->refs.load(std::memory_order_acquire) - own == 1) return above;
  return above == SharedOnPath::kNone ? SharedOnPath::kOne : SharedOnPath::kMore;
}

bool Value::share(const Value& other, SharedOnPath shared, Value& made) {
  if (kind() != other.kind()) return false;
  if (words() == other.words()) return true;
  bool same = false;
  if (is_string()) {
    same = place() > kInline && equal<Doubles::kByBits>(*this, other);
  } else if (is_array() || is_object()) {
    if (shared == SharedOnPath::kMore) return equal<Doubles::kByBits>(*this, other);
    same = is_array() ? share_items(other, shared, made) : share_members(other, shared, made);
  } else {
    return is_null();
  }
  if (same) made = other;
  return same;
}

bool Value::share_items(const Value& other, SharedOnPath shared, Value& made) {
  const bool writable = shared == SharedOnPath::kNone;
  const auto mine = items();
  const auto theirs = other.items();
  bool all = mine.size() == theirs.size();
  Array copy;
  for (size_t at = 0; at < std::min(mine.size(), theirs.size()); ++at) {
    auto& item = const_cast<Value&>(mine[at]);
    Value part;
    all = item.share(theirs[at], item.shared_on_path(shared, copy.empty() ? 0 : 1), part) && all;
    if (part.is_null()) continue;
    if (!writable && copy.empty()) copy.assign(mine.begin(), mine.end());
    (writable ? item : copy[at]) = std::move(part);
  }
  if (!copy.empty()) made = taking_items(copy);
  return all;
}

bool Value::share_members(const Value& other, SharedOnPath shared, Value& made) {
  const bool writable = shared == SharedOnPath::kNone;
  const auto mine = members();
  const auto theirs = other.members();
  bool all = mine.size() == theirs.size();
  Value copy;
  size_t next = 0;
  for (size_t at = 0; at < mine.size(); ++at) {
    auto& member = const_cast<Member&>(mine[at]);
    // Nearly all keys are inside of their Values, or well known: equal ones have equal words.
    const auto same_key = [&] {
      const Value& key = theirs[next].key_text;
      return key.words() == member.key_text.words() || (key.counted() && equal<Doubles::kByBits>(key, member.key_text));
    };
    while (next < theirs.size() && !same_key() && before(theirs[next].key_text, member.key_text)) ++next;
    if (next == theirs.size() || !same_key()) {
      all = false;
      continue;
    }
    const Member& like = theirs[next++];
    Value part;
    all = member.value.share(like.value, member.value.shared_on_path(shared, copy.is_null() ? 0 : 1), part) && all;
    const bool other_key = member.key_text.words() != like.key_text.words();
    if (!other_key && part.is_null()) continue;
    if (!writable && copy.is_null()) {
      copy.make_block(mine.size(), mine.size());
      std::ranges::uninitialized_copy(mine, std::span{copy.block(), mine.size()});
    }
    Member& changed = writable ? member : copy.block()[at];
    if (other_key) changed.key_text = like.key_text;
    if (!part.is_null()) changed.value = std::move(part);
  }
  made = std::move(copy);
  return all;
}

template <Value::Doubles kDoubles>
bool Value::equal(const Value& a, const Value& b) noexcept {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return a.payload_.integer == b.payload_.integer;
    case Kind::kDouble:
      return kDoubles == Doubles::kByValue ? a.payload_.real == b.payload_.real : a.words() == b.words();
    case Kind::kString:
      if (a.words() == b.words()) return true;
      return a.place() > kInline && b.place() > kInline && a.stored_size() == b.stored_size() &&
             std::memcmp(a.as_string().data(), b.as_string().data(), a.stored_size()) == 0;
    case Kind::kArray:
      return a.words() == b.words() || std::ranges::equal(a.items(), b.items(), equal<kDoubles>);
    case Kind::kObject:
      return a.stored_size() == b.stored_size() &&
             (a.payload_.counted == b.payload_.counted ||
              std::ranges::equal(a.members(), b.members(), [](const Member& one, const Member& other) {
                return one.key_text == other.key_text && equal<kDoubles>(one.value, other.value);
              }));
  }
  return false;
}

bool Value::operator==(const Value& other) const noexcept { return equal<Doubles::kByValue>(*this, other); }

}  // namespace shiplog
