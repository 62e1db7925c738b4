#pragma once

#include <map>
#include <set>
#include <string>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/value.h"

namespace shiplog::test {

/// What a consumer of feeds does with their events (docs/guide/feeds.md): takes each once, in any order, and rebuilds
/// objects and state hash from nothing else.
class FeedConsumer {
 public:
  /// False: an event with this id was taken before.
  bool take(const Value& event) {
    if (!ids_.insert(event["id"].str()).second) return false;
    ++of_type_[event["type"].str()];
    const Value& change = event["data"]["change"];
    if (change.is_null()) return true;
    const std::string key = change["type"].str() + "/" + change["namespace"].str() + "/" + change["name"].str();
    const int64_t revision = change["revision"].as_int();
    twice_ += revisions_.insert(revision).second ? 0 : 1;
    Kept& kept = objects_[key];
    // Events of several families are not ordered among each other: the newest revision counts, also of a removal.
    if (revision > kept.revision) kept = {revision, change};
    return true;
  }

  /// Every revision up to this one was made by exactly one change that was taken; 0: none, or one is missing.
  int64_t complete_to() const {
    if (twice_ > 0 || revisions_.empty() || *revisions_.begin() != 1) return 0;
    const int64_t newest = *revisions_.rbegin();
    return static_cast<int64_t>(revisions_.size()) == newest ? newest : 0;
  }
  std::string hash() const {
    Hash128 sum;
    for (const auto& [key, kept] : objects_) {
      if (kept.change["operation"].str() != "removed") sum += hash_in(kept.change["hash"].str());
    }
    sum += siphash128("revision=" + std::to_string(revisions_.empty() ? 0 : *revisions_.rbegin()));
    return to_string(sum);
  }
  /// Canonical JSON by TYPE/NAMESPACE/NAME of what exists.
  std::map<std::string, std::string> objects() const {
    std::map<std::string, std::string> live;
    for (const auto& [key, kept] : objects_) {
      if (kept.change["operation"].str() != "removed") live[key] = to_json(kept.change["object"]);
    }
    return live;
  }
  const std::map<std::string, int>& of_type() const { return of_type_; }
  size_t events() const { return ids_.size(); }

 private:
  struct Kept {
    int64_t revision = 0;
    Value change;
  };

  static Hash128 hash_in(const std::string& hex) {
    return {std::stoull(hex.substr(16), nullptr, 16), std::stoull(hex.substr(0, 16), nullptr, 16)};
  }

  std::set<std::string> ids_;
  std::set<int64_t> revisions_;
  int twice_ = 0;
  std::map<std::string, Kept> objects_;
  std::map<std::string, int> of_type_;
};

}  // namespace shiplog::test
