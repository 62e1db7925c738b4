#include "events/state/state.h"

#include <algorithm>
#include <utility>

#include "events/base/check.h"

namespace shiplog {
namespace {

constexpr size_t kRememberedHashes = 8192;

const Lease kNoLease;
const SettledOffsets kNothingSettled;

}  // namespace

Hash128 State::hash() const {
  Hash128 sum = meta_.hash;
  if (!unhashed_.empty()) {
    std::set<ObjectKey> missing{unhashed_.begin(), unhashed_.end()};
    for (const ObjectKey& key : missing) {
      const Object* object = find(key);
      if (object != nullptr && object->hash == Hash128{}) sum += hash_of(key, object->value);
    }
  }
  sum += siphash128("revision=" + std::to_string(meta_.revision.value));
  return sum;
}

std::optional<Hash128> State::hash_at(Revision revision) const {
  const auto found = std::ranges::lower_bound(recent_hashes_, revision, {}, &std::pair<Revision, Hash128>::first);
  if (found == recent_hashes_.end() || found->first != revision) return std::nullopt;
  return found->second;
}

void State::in_turn(size_t count, const std::function<void(size_t)>& use) {
  for (size_t number = 0; number < count; ++number) use(number);
}

void State::settle_hashes(const ForEach& for_each) {
  std::vector<Hash128> hashes(unhashed_.size());
  for_each(unhashed_.size(), [&](size_t which) {
    const Object* object = find(unhashed_[which]);
    if (object != nullptr && object->hash == Hash128{}) hashes[which] = hash_of(unhashed_[which], object->value);
  });
  for (size_t which = 0; which < unhashed_.size(); ++which) {
    Object* object = edit_object(unhashed_[which]);
    if (object == nullptr || object->hash != Hash128{}) continue;  // one can be there twice
    object->hash = hashes[which];
    meta_.hash += object->hash;
  }
  unhashed_.clear();
  if (recent_hashes_.empty() || recent_hashes_.back().first < meta_.revision) remember_hash();
}

void State::end_deferred_hashes(const ForEach& for_each) {
  if (deferred_) settle_hashes(for_each);
  deferred_ = false;
}

StateMeta State::meta() const {
  SHIPLOG_CHECK(unhashed_.empty(), "the hash of a state that is kept was computed");
  return meta_;
}

const Cluster* State::cluster(std::string_view name) const {
  const auto found = clusters().find(std::string{name});
  return found == clusters().end() ? nullptr : &found->second;
}

FeatureGates State::gates() const {
  FeatureGates gates = recorded_gates();
  if (fold_version() < 7) set_always_on_before_version_7(gates);
  return gates;
}

const Lease& State::lease(std::string_view role) const {
  const Leases::Map& leases = meta_.leases.all();
  const auto found = leases.find(std::string{role});
  return found == leases.end() ? kNoLease : found->second;
}

const SettledOffsets& State::settled(const std::string& topic, int32_t partition) const {
  const auto found = meta_.settled.find({topic, partition});
  return found == meta_.settled.end() ? kNothingSettled : found->second;
}

void State::put(const ObjectKey& key, Object object) {
  // A hash of 0 was not computed yet: it adds nothing, and has nothing to be taken away.
  const bool unhashed = deferred_ && object.hash == Hash128{};
  const Value after = object.value;
  meta_.hash += object.hash;
  const Object before = exchange(key, std::move(object));
  if (!before.value.is_null()) meta_.hash -= before.hash;
  if (unhashed && (before.value.is_null() || before.hash != Hash128{})) unhashed_.push_back(key);
  update_views(views_, *this, key, before.value, after);
}

void State::erase(const ObjectKey& key) {
  const Object before = take(key);
  meta_.hash -= before.hash;
  update_views(views_, *this, key, before.value, Value{});
}

void State::remember_hash() {
  SHIPLOG_CHECK(recent_hashes_.empty() || recent_hashes_.back().first < meta_.revision,
                "hashes are remembered in the order of revisions");
  recent_hashes_.emplace_back(meta_.revision, hash());
  if (recent_hashes_.size() > kRememberedHashes) recent_hashes_.pop_front();
}

bool State::restore(const StateMeta& meta, std::vector<std::pair<ObjectKey, Object>> objects, std::vector<EntryId> seen,
                    State& into, const std::vector<EntryId>& requests) {
  State made;
  for (auto& [key, object] : objects) {
    share_texts(key, object.value);
    made.put(key, std::move(object));
  }
  const bool same = made.meta_.hash == meta.hash;
  made.meta_ = meta;
  for (const EntryId& id : seen) made.seen_.insert(id);
  for (const EntryId& request : requests) made.requests_.insert(request);
  into = std::move(made);
  return same;
}

}  // namespace shiplog
