#pragma once

#include <optional>
#include <utility>

#include "events/decision.h"

namespace shiplog::member {

/// Builds a decision. Updates that change nothing are omitted, so that repeated decisions terminate.
class Changes {
 public:
  void create(const ObjectKey& key, Value value) { decision_.events.push_back(ObjectCreated{key, std::move(value)}); }
  void update(const ObjectKey& key, const Object& from, Value value) {
    if (value == from.value) return;
    decision_.events.push_back(ObjectUpdated{key, std::move(value)});
    expect(key, from);
  }
  void update_status(const ObjectKey& key, const Object& from, Value value) {
    if (value == from.value) return;
    decision_.events.push_back(StatusUpdated{key, std::move(value)});
    expect(key, from);
  }
  void remove(const ObjectKey& key, const Object& from) {
    decision_.events.push_back(DeletionRequested{.object = key});
    expect(key, from);
  }
  /// The decision is invalid if this object has changed.
  void expect(const ObjectKey& key, const Object& object) { decision_.expects.push_back({key, object.revision}); }

  size_t size() const { return decision_.events.size(); }
  bool empty() const { return decision_.events.empty(); }
  /// Nothing when nothing changes.
  Decided take() {
    if (decision_.events.empty()) return Nothing{};
    return std::move(decision_);
  }

 private:
  Decision decision_;
};

}  // namespace shiplog::member
