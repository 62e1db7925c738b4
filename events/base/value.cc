#include "events/base/value.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>

namespace shiplog {

struct Value::Text {
  std::atomic<uint32_t> refs;
  size_t size;
  char* data() { return reinterpret_cast<char*>(this + 1); }
};
struct Value::ArrayBlock {
  std::atomic<uint32_t> refs{1};
  Array items;
};
struct Value::ObjectBlock {
  std::atomic<uint32_t> refs{1};
  Object members;
};

namespace {

const Value kNullValue;

template <class Members>
auto lower_bound_key(Members& members, std::string_view key) {
  return std::lower_bound(members.begin(), members.end(), key,
                          [](const auto& member, std::string_view wanted) { return member.key() < wanted; });
}

}  // namespace

Value::Value(std::string_view text) : kind_{Kind::kString} {
  static_assert(sizeof(Value) == 16);
  static_assert(offsetof(Value, tail_) == 8, "a short string runs on from payload_ into tail_");
  if (text.size() <= kInline) {
    length_ = static_cast<uint8_t>(text.size());
    if (!text.empty()) std::memcpy(reinterpret_cast<char*>(this), text.data(), text.size());
    return;
  }
  length_ = kHeap;
  void* memory = ::operator new(sizeof(Text) + text.size());
  payload_.text = new (memory) Text{1, text.size()};
  std::memcpy(payload_.text->data(), text.data(), text.size());
}

void Value::share() noexcept {
  switch (kind_) {
    case Kind::kString:
      payload_.text->refs.fetch_add(1, std::memory_order_relaxed);
      break;
    case Kind::kArray:
      payload_.array->refs.fetch_add(1, std::memory_order_relaxed);
      break;
    case Kind::kObject:
      payload_.object->refs.fetch_add(1, std::memory_order_relaxed);
      break;
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kDouble:
      break;
  }
}

void Value::release() noexcept {
  switch (kind_) {
    case Kind::kString:
      if (length_ == kHeap && payload_.text->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        payload_.text->~Text();
        ::operator delete(payload_.text);
      }
      break;
    case Kind::kArray:
      if (payload_.array->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete payload_.array;
      break;
    case Kind::kObject:
      if (payload_.object->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete payload_.object;
      break;
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kDouble:
      break;
  }
  kind_ = Kind::kNull;
}

Value Value::object(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Value made;
  made.edit_members().reserve(members.size());
  for (const auto& [key, value] : members) made.set(key, value);
  return made;
}

Value Value::object(Object members) {
  const auto before = [](const Member& a, const Member& b) { return a.key() < b.key(); };
  const auto not_before = [&](const Member& a, const Member& b) { return !before(a, b); };
  // What this program wrote itself is sorted.
  if (std::adjacent_find(members.begin(), members.end(), not_before) != members.end()) {
    std::stable_sort(members.begin(), members.end(), before);
    Object unique;
    unique.reserve(members.size());
    for (Member& member : members) {
      if (!unique.empty() && unique.back().key() == member.key()) {
        unique.back() = std::move(member);
      } else {
        unique.push_back(std::move(member));
      }
    }
    members = std::move(unique);
  }
  Value made;
  made.edit_members() = std::move(members);
  return made;
}

Value Value::array(std::initializer_list<Value> items) { return array(Array(items)); }

Value Value::array(Array items) {
  Value made;
  made.edit_items() = std::move(items);
  return made;
}

bool Value::is_empty() const noexcept {
  switch (kind_) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return payload_.integer == 0;
    case Kind::kDouble:
      return payload_.real == 0;
    case Kind::kString:
      return as_string().empty();
    case Kind::kArray:
    case Kind::kObject:
      return size() == 0;
  }
  return true;
}

int64_t Value::as_int(int64_t fallback) const noexcept {
  if (is_int()) return payload_.integer;
  if (kind_ == Kind::kDouble && std::trunc(payload_.real) == payload_.real && std::abs(payload_.real) < 9.2e18) {
    return static_cast<int64_t>(payload_.real);
  }
  return fallback;
}

double Value::as_double(double fallback) const noexcept {
  if (is_int()) return static_cast<double>(payload_.integer);
  return kind_ == Kind::kDouble ? payload_.real : fallback;
}

std::string_view Value::as_string(std::string_view fallback) const noexcept {
  if (!is_string()) return fallback;
  if (length_ == kHeap) return {payload_.text->data(), payload_.text->size};
  return {reinterpret_cast<const char*>(this), length_};
}

size_t Value::size() const noexcept {
  if (is_array()) return payload_.array->items.size();
  return is_object() ? payload_.object->members.size() : 0;
}

std::span<const Value> Value::items() const noexcept {
  if (!is_array()) return {};
  return payload_.array->items;
}

std::span<const Value::Member> Value::members() const noexcept {
  if (!is_object()) return {};
  return payload_.object->members;
}

const Value* Value::find(std::string_view key) const noexcept {
  if (!is_object()) return nullptr;
  const Object& all = payload_.object->members;
  // Most objects are small and most keys short. A short key lies inside its Value with zeros after it, so two of them
  // are equal when their bytes are: a few comparisons of words instead of a search by calls of memcmp.
  constexpr size_t kFew = 16;
  if (key.size() <= kInline && all.size() <= kFew) {
    const auto words = [](const Value& value) {
      std::array<uint64_t, 2> bytes;
      std::memcpy(bytes.data(), static_cast<const void*>(&value), sizeof bytes);
      return bytes;
    };
    const auto wanted = words(Value{key});
    for (const Member& member : all) {
      const auto own = words(member.key_text);
      if (own[0] == wanted[0] && own[1] == wanted[1]) return &member.value;
    }
    return nullptr;
  }
  if (key.size() > kInline && all.size() <= kFew) {  // of long keys few have the same length
    for (const Member& member : all) {
      if (member.key_text.length_ == kHeap && member.key_text.payload_.text->size == key.size() &&
          member.key() == key) {
        return &member.value;
      }
    }
    return nullptr;
  }
  const auto found = lower_bound_key(all, key);
  return found != all.end() && found->key() == key ? &found->value : nullptr;
}

const Value& Value::operator[](std::string_view key) const noexcept {
  const Value* found = find(key);
  return found != nullptr ? *found : kNullValue;
}

const Value& Value::item(size_t index) const noexcept {
  const auto all = items();
  return index < all.size() ? all[index] : kNullValue;
}

Value::Object& Value::edit_members() {
  if (!is_object()) {
    release();
    payload_.object = new ObjectBlock;
    kind_ = Kind::kObject;
  } else if (payload_.object->refs.load(std::memory_order_acquire) != 1) {
    auto* own = new ObjectBlock;
    own->members = payload_.object->members;
    release();
    payload_.object = own;
    kind_ = Kind::kObject;
  }
  return payload_.object->members;
}

Value& Value::edit(std::string_view key) {
  // Looked up, or copied, before edit_members(): `key` may point into what that frees.
  if (is_object()) {
    const Object& present = payload_.object->members;
    const auto found = lower_bound_key(present, key);
    if (found != present.end() && found->key() == key) {
      const auto index = static_cast<size_t>(found - present.begin());
      return edit_members()[index].value;
    }
  }
  const Value key_text{key};
  Object& all = edit_members();
  return all.insert(lower_bound_key(all, key_text.as_string()), Member{key_text, Value{}})->value;
}

bool Value::erase(std::string_view key) {
  if (!contains(key)) return false;
  const Value key_text{key};
  Object& all = edit_members();
  all.erase(lower_bound_key(all, key_text.as_string()));
  return true;
}

Value::Array& Value::edit_items() {
  if (!is_array()) {
    release();
    payload_.array = new ArrayBlock;
    kind_ = Kind::kArray;
  } else if (payload_.array->refs.load(std::memory_order_acquire) != 1) {
    auto* own = new ArrayBlock;
    own->items = payload_.array->items;
    release();
    payload_.array = own;
    kind_ = Kind::kArray;
  }
  return payload_.array->items;
}

bool Value::operator==(const Value& other) const noexcept {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return payload_.integer == other.payload_.integer;
    case Kind::kDouble:
      return payload_.real == other.payload_.real;
    case Kind::kString:
      return as_string() == other.as_string();
    case Kind::kArray:
      return payload_.array == other.payload_.array || payload_.array->items == other.payload_.array->items;
    case Kind::kObject:
      return payload_.object == other.payload_.object || payload_.object->members == other.payload_.object->members;
  }
  return false;
}

}  // namespace shiplog
