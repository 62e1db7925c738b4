#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/compression/compression.h"
#include "services/api/search/cached_collection.h"
#include "services/http/client.h"
#include "services/runtime/executor.h"

namespace shiplog::api {

/// How many lists of members may be under way at once, each of which holds a page of text: the others wait their turn.
/// Threads: the loop.
class ListTurns {
 public:
  ListTurns(size_t most, Executor*& loop) : most_{most}, loop_{loop} {}
  /// `begin` runs now or later, and ends with give_back(), at once or later.
  void take(std::function<void()> begin);
  void give_back();

 private:
  const size_t most_;
  Executor*& loop_;
  size_t under_way_ = 0;
  std::deque<std::function<void()>> waiting_;
};

/// Lists a scope of a member and watches it from there on, so that its collection follows the member. What a member
/// sends is limited in each direction: pages and lines in bytes and in values, and all objects by the member's budget;
/// no more of a watch is received before the last bytes are taken in. A failure is retried after 1 s to a minute.
/// Threads: all on the loop, unless it says otherwise.
class MemberSource : public std::enable_shared_from_this<MemberSource> {
 public:
  /// What all sources share; outlives them.
  struct Shared {
    Executor* loop = nullptr;
    Random* random = nullptr;
    ListTurns turns{16, loop};
    Compressor compressor;
    /// The member's client. Threads: any; may block.
    std::function<Result<std::shared_ptr<HttpClient>>(const std::string& cluster)> client;
  };
  MemberSource(CachedScope scope, Shared& shared, std::shared_ptr<CacheBudget> budget, std::function<void()> changed)
      : shared_{shared}, budget_{std::move(budget)}, collection_{std::move(scope), std::move(changed)} {}

  void start();
  /// For good: nothing is taken in any more. Threads: any.
  void stop();

  CachedCollection& collection() { return collection_; }
  const CachedCollection& collection() const { return collection_; }
  const CachedScope& scope() const { return collection_.scope(); }
  /// What is wrong with it at present; empty: nothing. Threads: any.
  std::string problem() const;
  /// It is listed, or has failed: a reader has nothing to wait for. Threads: any.
  bool settled() const;
  /// Lists and watches that have failed. Threads: any.
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  void list();
  void next_page(const std::string& token);
  void take_page(const Result<HttpResponse>& response);
  Result<void> take_items(const Value& list);
  Result<CachedObject::Ptr> cached(Value object);
  void watch();
  void take_bytes(std::string_view bytes, const std::function<void()>& more);
  Result<void> take_line(std::string_view line);
  void watch_ended(const Result<void>& ended);
  void fail(const Error& error);
  void later(Millis delay, void (MemberSource::*step)());
  bool over() const { return stopped_.load(); }

  Shared& shared_;
  const std::shared_ptr<CacheBudget> budget_;
  CachedCollection collection_;
  std::atomic<bool> stopped_{false};
  std::atomic<uint64_t> failures_{0};
  CachedObjects fresh_;  // of the list that is under way
  std::string fresh_version_;
  int page_limit_ = 0;
  std::string page_token_;
  std::shared_ptr<HttpClient> client_;
  std::string line_;      // the beginning of the next one
  int status_ = 0;        // of the watch
  int failed_times_ = 0;  // in a row
  uint64_t attempt_ = 0;  // callbacks of earlier lists and watches are ignored
  UtcMillis began_watch_;
  mutable std::mutex mutex_;
  std::string problem_;
  std::shared_ptr<HttpClient::Stream> stream_;
};

}  // namespace shiplog::api
