#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
/// One cluster gets some of them, so that one that does not answer leaves turns to the others. Threads: the loop.
class ListTurns {
 public:
  ListTurns(size_t most, size_t most_of_one, Executor*& loop) : most_{most}, most_of_one_{most_of_one}, loop_{loop} {}
  /// `begin` runs now or later, and ends with give_back(), at once or later.
  void take(const std::string& cluster, std::function<void()> begin);
  void give_back(const std::string& cluster);

 private:
  struct OfCluster {
    size_t under_way = 0;
    std::deque<std::function<void()>> waiting;
  };
  void begin_next();

  const size_t most_, most_of_one_;
  Executor*& loop_;
  size_t under_way_ = 0;
  std::map<std::string, OfCluster> clusters_;
  std::deque<std::string> next_;  // each cluster once that has a list waiting and may begin one
};

/// Lists a scope of a member and watches it from there on, so that its collection follows the member. What a member
/// sends is limited in each direction: pages and lines in bytes and in values, and all objects by the member's budget;
/// no more of a watch is received before the last bytes are taken in. A failure is retried after 1 s to a minute; only
/// a version that is too old is followed by a list at once, if the last one is not new.
/// Threads: all on the loop, unless it says otherwise.
class MemberSource : public std::enable_shared_from_this<MemberSource> {
 public:
  /// What all sources share; outlives them.
  struct Shared {
    Executor* loop = nullptr;
    Random* random = nullptr;
    ListTurns turns{16, 4, loop};
    Compressor compressor;
    /// The member's client. Threads: any; may block.
    std::function<Result<std::shared_ptr<HttpClient>>(const std::string& cluster)> client;
    /// The source of the cluster that holds the most. Empty: it is not known.
    std::function<std::shared_ptr<MemberSource>(const std::string& cluster)> biggest;
    /// A source has another problem() than before. `full`: its objects do not fit.
    std::function<void(const CachedScope& scope, const std::string& problem, bool full)> on_problem = {};
  };
  MemberSource(CachedScope scope, Shared& shared, std::shared_ptr<CacheBudget> budget, std::function<void()> changed)
      : shared_{shared}, budget_{std::move(budget)}, collection_{std::move(scope), std::move(changed)} {}
  ~MemberSource();
  MemberSource(const MemberSource&) = delete;
  MemberSource& operator=(const MemberSource&) = delete;

  void start();
  /// The client is another one: the address or the credentials have changed. What is under way ends, and the member is
  /// listed: versions of one server say nothing about another one.
  void use_other_client();
  /// Drops the objects, as if they did not fit, for what does.
  void give_room();
  /// What is held of the budget.
  size_t bytes() const;
  /// For good: nothing is taken in any more. Threads: any.
  void stop();

  CachedCollection& collection() { return collection_; }
  const CachedCollection& collection() const { return collection_; }
  const CachedScope& scope() const { return collection_.scope(); }
  /// What is wrong with it at present; empty: nothing. Threads: any.
  std::string problem() const;
  /// It is listed, has failed, or takes long: a reader has nothing to wait for. Threads: any.
  bool settled() const;
  /// Lists and watches that have failed. Threads: any.
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  void list();
  void next_page(const std::string& token);
  void take_page(const Result<HttpResponse>& response);
  Result<void> take_metadata(const Value& metadata);
  Result<void> take_items(const Value& list);
  Result<CachedObject::Ptr> cached(Value object, CacheBudget::Use use);
  Result<CachedObject::Ptr> changed_object(const Value& object);
  void watch();
  HttpRequest watch_request(int64_t seconds) const;
  void take_bytes(std::string_view bytes, const std::function<void()>& more);
  Result<void> extend_line(std::string_view bytes);
  bool charge_line();
  Result<void> take_line(std::string_view line);
  void watch_ended(const Result<void>& ended);
  void fail(const Error& error);
  void end_attempt();
  void note_problem(const std::string& text, bool full);
  bool within_new_list() const;
  void later(Millis delay, void (MemberSource::*step)());
  bool over() const { return stopped_.load(); }

  Shared& shared_;
  const std::shared_ptr<CacheBudget> budget_;
  CachedCollection collection_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> late_{false};  // readers have waited long enough for the first list
  std::atomic<uint64_t> failures_{0};
  CachedObjects fresh_;  // of the list that is under way
  std::string fresh_version_;
  int page_limit_ = 0;
  std::string page_token_;
  std::shared_ptr<HttpClient> client_;
  std::weak_ptr<HttpClient> listed_with_;
  std::string line_;         // the beginning of the next one
  size_t line_charged_ = 0;  // bytes of the budget for line_
  int failed_times_ = 0;     // in a row
  uint64_t attempt_ = 0;     // callbacks and timers of earlier lists and watches are ignored
  UtcMillis began_watch_;
  std::optional<UtcMillis> listed_at_;
  mutable std::mutex mutex_;
  std::string problem_;
  std::shared_ptr<HttpClient::Stream> stream_;
};

}  // namespace shiplog::api
