#include "services/adapters/vault/journal_key_store.h"

#include <chrono>
#include <future>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::string_view kKey = "key/";
constexpr std::string_view kFleet = "fleet/";
constexpr std::string_view kRoll = "roll";
constexpr size_t kMostAbsent = 100'000;
constexpr std::chrono::seconds kTryAgain{1};

}  // namespace

Result<std::unique_ptr<JournalKeyStore>> JournalKeyStore::open(std::shared_ptr<Journal> log, Millis roll_after) {
  SHIPLOG_TRY(auto tail, log->tail(Offset{0}));
  std::unique_ptr<JournalKeyStore> store{new JournalKeyStore{std::move(log), std::move(tail), roll_after}};
  {
    const std::lock_guard lock{store->mutex_};
    SHIPLOG_TRY(store->refresh());
  }
  store->thread_ = std::thread{[self = store.get()] { self->run(); }};
  return store;
}

JournalKeyStore::~JournalKeyStore() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool JournalKeyStore::is_new() {
  const std::lock_guard lock{mutex_};
  return fleets_.empty();
}

Result<void> JournalKeyStore::claim(const std::string& fingerprint) {
  const bool first = is_new();
  if (first) {
    SHIPLOG_TRY(append_now(std::string{kFleet} + fingerprint + "\n{}"));
  }
  {
    const std::lock_guard lock{mutex_};
    SHIPLOG_TRY(refresh());
    // Of two processes that begin together with keys of their own the log has one first.
    if (!fleets_.empty() && fleets_.begin()->second == fingerprint) return ok();
  }
  if (first) {
    SHIPLOG_TRY(append_now(std::string{kFleet} + fingerprint));
  }
  return Error{ErrorCode::kInvalid, log_->describe() +
                                        " holds keys that another fleet's key has wrapped: give this process the same "
                                        "fleet.key as the others have (a file in --keys-dir)"};
}

Result<std::optional<std::string>> JournalKeyStore::find(std::string_view id) {
  const std::lock_guard lock{mutex_};
  const auto known = [&]() -> std::optional<std::string> {
    const auto found = keys_.find(id);
    return found == keys_.end() ? std::nullopt : std::optional{found->second.wrapped};
  };
  if (auto wrapped = known()) return wrapped;
  if (absent_.contains(id) || condemned_.contains(id)) return std::optional<std::string>{};
  SHIPLOG_TRY(refresh());
  auto wrapped = known();
  if (!wrapped) {
    if (absent_.size() >= kMostAbsent) absent_.clear();
    absent_.emplace(id);
  }
  return wrapped;
}

Result<bool> JournalKeyStore::destroyed(std::string_view id) {
  const std::lock_guard lock{mutex_};
  return condemned_.contains(id) || buried_.contains(id);
}

Result<bool> JournalKeyStore::changed() {
  const std::lock_guard lock{mutex_};
  SHIPLOG_TRY(refresh());
  return std::exchange(looked_at_, read_to_) != read_to_;
}

Result<std::vector<std::pair<std::string, std::string>>> JournalKeyStore::all() {
  const std::lock_guard lock{mutex_};
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [id, key] : keys_) all.emplace_back(id, key.wrapped);
  return all;
}

Result<std::string> JournalKeyStore::newest_of(const ObjectKey& object) {
  const std::lock_guard lock{mutex_};
  const std::string name = to_string(object);
  if (!by_object_.contains(name)) {
    SHIPLOG_TRY(refresh());
  }
  const auto found = by_object_.find(name);
  return found == by_object_.end() ? std::string{} : found->second.rbegin()->second;
}

Result<void> JournalKeyStore::add(const std::string& id, const ObjectKey& object, const std::string& wrapped) {
  const std::string name = to_string(object);
  const Value value = Value::object({{"object", name}, {"wrapped", base64_encode(wrapped)}});
  SHIPLOG_TRY(const Offset at, append_now(std::string{kKey} + id + "\n" + to_json(value)));
  const std::lock_guard lock{mutex_};
  if (!condemned_.contains(id)) insert(id, {name, wrapped, at.value});
  return ok();
}

Result<void> JournalKeyStore::destroy(const std::vector<std::string>& ids) {
  const std::lock_guard lock{mutex_};
  for (const std::string& id : ids) {
    if (absent_.contains(id) || !condemned_.insert(id).second) continue;
    if (keys_.contains(id)) {
      erase(id);
      to_bury_.push_back(id);
    } else {
      unseen_.insert(id);
    }
  }
  wake_.notify_all();
  return ok();
}

Result<std::vector<StoredKey>> JournalKeyStore::list() {
  const std::lock_guard lock{mutex_};
  SHIPLOG_TRY(refresh());
  std::vector<StoredKey> keys;
  for (const auto& [name, ids] : by_object_) {
    SHIPLOG_TRY(const ObjectKey object, parse_object_key(name));
    for (const auto& [offset, id] : ids) keys.push_back({id, keys_.at(id).wrapped, object});
  }
  return keys;
}

Result<std::string> JournalKeyStore::fingerprint() {
  const std::lock_guard lock{mutex_};
  SHIPLOG_TRY(refresh());
  return fleets_.empty() ? std::string{} : fleets_.begin()->second;
}

std::vector<ObjectKey> JournalKeyStore::to_look_after() {
  const std::lock_guard lock{mutex_};
  std::vector<ObjectKey> objects;
  for (const auto& [name, ids] : by_object_) {
    if (auto object = parse_object_key(name)) objects.push_back(std::move(object).value());
  }
  return objects;
}

void JournalKeyStore::insert(const std::string& id, Stored key) {
  erase(id);
  by_object_[key.object][key.offset] = id;
  keys_[id] = std::move(key);
}

void JournalKeyStore::erase(const std::string& id) {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return;
  const auto object = by_object_.find(found->second.object);
  object->second.erase(found->second.offset);
  if (object->second.empty()) by_object_.erase(object);
  keys_.erase(found);
}

// Counting the head first makes the tail wait for all that is stored before it.
Result<void> JournalKeyStore::refresh() {
  SHIPLOG_TRY(const Offset head, log_->head());
  if (head.value < read_to_) {
    return Error{ErrorCode::kCorrupt, log_->describe() + " ends at offset " + std::to_string(head.value) +
                                          ", but this process has read it up to " + std::to_string(read_to_) +
                                          ": the topic was deleted and made anew, and the keys of all Secrets with it. "
                                          "Restore the topic, or restart this process and replace the Secrets that it "
                                          "names"};
  }
  while (true) {
    SHIPLOG_TRY(const auto records, tail_->next(1000, Millis{0}));
    if (records.empty()) return ok();
    for (const JournalRecord& record : records) {
      SHIPLOG_TRY(fold(record));
    }
  }
}

Result<void> JournalKeyStore::fold(const JournalRecord& record) {
  read_to_ = record.offset.value + 1;
  const std::string_view bytes = record.bytes;
  const size_t key_ends = bytes.find('\n');
  const bool tombstone = key_ends == std::string_view::npos;
  const std::string_view name = bytes.substr(0, key_ends);
  if (name == kRoll) return ok();
  if (name.starts_with(kFleet)) {
    const std::string_view fingerprint = name.substr(kFleet.size());
    if (tombstone) {
      std::erase_if(fleets_, [&](const auto& fleet) { return fleet.second == fingerprint; });
    } else {
      fleets_[record.offset.value] = fingerprint;
    }
    return ok();
  }
  const auto damaged = [&] {
    return Error{ErrorCode::kCorrupt, log_->describe() + ": the record at offset " +
                                          std::to_string(record.offset.value) +
                                          " is not one of a key store: does another program write to it?"};
  };
  if (!name.starts_with(kKey)) return damaged();
  const std::string id{name.substr(kKey.size())};
  if (tombstone) {
    erase(id);
    condemned_.erase(id);
    unseen_.erase(id);
    if (absent_.size() >= kMostAbsent) absent_.clear();
    absent_.insert(id);
    if (buried_.size() >= kMostAbsent) buried_.clear();
    buried_.insert(id);
    tombstones_ = true;
    return ok();
  }
  const auto value = parse_stored_json(bytes.substr(key_ends + 1));
  const auto wrapped = value ? base64_decode(value.value()["wrapped"].as_string()) : std::nullopt;
  if (!wrapped) return damaged();
  if (condemned_.contains(id)) {
    if (unseen_.erase(id) > 0) to_bury_.push_back(id);
    return ok();
  }
  insert(id, {value.value()["object"].str(), *wrapped, record.offset.value});
  return ok();
}

Result<Offset> JournalKeyStore::append_now(std::string bytes) {
  // Shared: the journal's thread is still inside set_value() when get() returns.
  const auto answer = std::make_shared<std::promise<Result<Offset>>>();
  log_->append(std::move(bytes), [answer](Result<Offset> stored) { answer->set_value(std::move(stored)); });
  auto stored = answer->get_future().get();
  // A record of unknown fate does no harm: ids are random, tombstones are repeated.
  if (!stored) return Error{ErrorCode::kUnavailable, stored.error().message};
  return stored;
}

Result<void> JournalKeyStore::bury_some() {
  std::string id;
  {
    const std::lock_guard lock{mutex_};
    if (to_bury_.empty()) {
      SHIPLOG_TRY(refresh());
      // A key is stored before the text that it seals: what is not read by now was destroyed by another process.
      for (const std::string& gone : unseen_) condemned_.erase(gone);
      unseen_.clear();
      return ok();
    }
    id = to_bury_.front();
  }
  SHIPLOG_TRY(append_now(std::string{kKey} + id));
  const std::lock_guard lock{mutex_};
  to_bury_.pop_front();
  tombstones_ = true;
  if (to_bury_.empty()) {
    SHIPLOG_TRY(refresh());
  }
  return ok();
}

void JournalKeyStore::run() {
  constexpr auto kNever = Steady::time_point::max();
  auto roll_at = kNever;
  std::unique_lock lock{mutex_};
  while (true) {
    if (!to_bury_.empty() || !unseen_.empty()) {
      lock.unlock();
      const auto buried = bury_some();
      lock.lock();
      if (buried) continue;
      log::warn("vault.destroy_late", {log::kv("reason", buried.error().message)});
      if (closing_) return;  // the next process to start destroys them
      wake_.wait_for(lock, kTryAgain, [this] { return closing_; });
      continue;
    }
    if (closing_) return;
    if (tombstones_) {
      tombstones_ = false;
      roll_at = Steady::now() + std::chrono::milliseconds{roll_after_.value};
    }
    if (Steady::now() >= roll_at) {
      lock.unlock();
      const bool rolled = append_now(std::string{kRoll} + "\n{}").has_value();
      lock.lock();
      roll_at = rolled ? kNever : Steady::now() + kTryAgain;
      continue;
    }
    if (roll_at == kNever) {
      wake_.wait(lock);
    } else {
      wake_.wait_until(lock, roll_at);
    }
  }
}

}  // namespace shiplog
