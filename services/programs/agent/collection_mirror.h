#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/error.h"
#include "events/base/random.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/adapters/members/members.h"
#include "services/runtime/executor.h"

namespace shiplog::agent {

/// Follows one collection of an API server: lists it page by page, then watches it, for ever.
///
///   listing ──all pages──► watching ──stream ended, or silent for too long──► watching again, from where it was
///      ▲ └─failed: pause─┘     │
///      └────410: too far behind┘
///
/// Pauses grow from 0.2 s to 30 s, with jitter. Threads: the executor.
class CollectionMirror {
 public:
  struct Options {
    Members* server = nullptr;
    std::string name;        ///< of the server, as Members knows it
    std::string path;        ///< "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works"
    std::string query = {};  ///< "fieldSelector=...", for both list and watch
    Executor* executor = nullptr;
    Random* random = nullptr;
    /// All objects there are.
    std::function<void(std::vector<Value> objects)> listed;
    /// `type`: "ADDED", "MODIFIED" or "DELETED".
    std::function<void(std::string_view type, const Value& object)> changed;
    /// Called whenever it fails, and with nullptr when it works again.
    std::function<void(const Error* error)> trouble = {};
  };
  explicit CollectionMirror(Options options);
  ~CollectionMirror();
  CollectionMirror(const CollectionMirror&) = delete;
  CollectionMirror& operator=(const CollectionMirror&) = delete;

  void start();
  /// Reads everything again, soon.
  void list_again();
  /// Everything was listed at least once.
  bool complete() const { return complete_; }

 private:
  struct Listing;
  void list(std::shared_ptr<Listing> listing);
  void take_page(const std::shared_ptr<Listing>& listing, const Result<MemberResponse>& page);
  void watch();
  void on_event(const Value& event);
  void on_end(const Result<void>& end);
  void failed(const Error& error);
  void later(Millis delay, std::function<void()> run);
  void guard_silence();

  const Options options_;
  std::unique_ptr<MemberWatch> stream_;
  std::string resource_version_;  // from where to watch; empty: list first
  uint64_t attempt_ = 0;          // what belongs to an earlier one has no effect
  int failures_ = 0;
  bool complete_ = false;
  bool in_trouble_ = false;
  UtcMillis heard_;  // the last event, bookmarks included
  UtcMillis watching_since_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::agent
