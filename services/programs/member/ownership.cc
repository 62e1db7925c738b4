#include "services/programs/member/ownership.h"

#include <algorithm>
#include <charconv>

#include "events/base/hash.h"
#include "events/base/json.h"

namespace shiplog::member {
namespace {

// Kubernetes' alphabet: no vowels, so that no words are formed, and no digits that resemble letters.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace

const Value& controller_of(const Value& object) {
  static const Value kNone;
  for (const Value& reference : object["metadata"]["ownerReferences"].items()) {
    if (reference["controller"].as_bool()) return reference;
  }
  return kNone;
}

std::vector<Owned> controlled_by(const State& state, const Value& owner, std::string_view type) {
  std::vector<Owned> owned;
  const std::string_view uid = uid_of(owner);
  for (const ObjectKey& key : state.dependents(uid)) {
    if (key.type != type) continue;
    const Object* object = state.find(key);
    if (object != nullptr && controller_of(object->value)["uid"].as_string() == uid) owned.push_back({key, object});
  }
  return owned;
}

Value controller_reference(const Value& owner) {
  return Value::object({{"apiVersion", owner["apiVersion"]},
                        {"kind", owner["kind"]},
                        {"name", owner["metadata"]["name"]},
                        {"uid", owner["metadata"]["uid"]},
                        {"controller", true},
                        {"blockOwnerDeletion", true}});
}

std::string name_suffix(std::string_view owner_uid, Revision as_of, size_t index) {
  uint64_t bits =
      siphash128(std::string{owner_uid} + "/" + std::to_string(as_of.value) + "/" + std::to_string(index)).lo;
  std::string suffix;
  for (int i = 0; i < 5; ++i, bits /= kAlphabet.size()) suffix += kAlphabet[bits % kAlphabet.size()];
  return suffix;
}

std::string generated_name(std::string_view base, std::string_view suffix) {
  constexpr size_t kLongest = 63;
  base = base.substr(0, kLongest - 1 - std::min(suffix.size(), kLongest - 1));
  return std::string{base} + "-" + std::string{suffix};
}

std::string template_hash(const Value& pod_template, int64_t collisions) {
  std::string text = to_json(pod_template);
  if (collisions > 0) text += std::to_string(collisions);
  std::string hash = std::to_string(fnv1a32(text));
  for (char& digit : hash) digit = kAlphabet[static_cast<unsigned char>(digit) % kAlphabet.size()];
  return hash;
}

int64_t scaled(const Value& amount, int64_t total, bool round_up, int64_t fallback) {
  if (amount.is_int()) return amount.as_int();
  const std::string_view text = amount.as_string();
  int64_t percent = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (read.ec != std::errc{} || std::string_view{read.ptr, text.data() + text.size()} != "%") return fallback;
  return (percent * total + (round_up ? 99 : 0)) / 100;
}

}  // namespace shiplog::member
