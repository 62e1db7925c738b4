#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/journal/journal.h"
#include "services/feeds/feed_reader.h"
#include "services/runtime/feed.h"

namespace shiplog::feeds {

/// How far each family's feed has come: all entries of the journal before this offset are in it.
using FeedPositions = std::map<Family, Offset>;

/// "api=1234 control=1234", and back. Families that are not known are left out.
std::string to_string(const FeedPositions& positions);
FeedPositions parse_positions(std::string_view text);

/// Where feeds are published. Threads: one at a time.
class FeedSink {
 public:
  virtual ~FeedSink() = default;
  /// Of the families that were ever published; a family whose feed is new or was deleted is not among them.
  virtual Result<FeedPositions> positions() = 0;
  /// Events and positions, all or nothing. After an error the sink is of no use: open another one and ask it how far
  /// the feeds have come. Error: kConflict, another process publishes now.
  virtual Result<void> publish(const std::vector<CloudEvent>& events, const FeedPositions& positions) = 0;
};

/// Publishes the feeds of a fleet while this process leads: reads what is folded, on a thread of its own, and remembers
/// nothing that the sink does not.
///
///   following ──lead(true)──▶ opening ──positions──▶ publishing ──lead(false)──▶ following
///                                ▲───────error───────────┘
///
/// Threads: any.
class FeedPublisher {
 public:
  struct Options {
    std::string projection;  ///< file
    Journal* journal = nullptr;
    Feed* feed = nullptr;  ///< tells when there is more
    /// Called before the projection is read: everything that `feed` has told of is in it then.
    std::function<Result<void>()> settle = {};
    std::vector<Family> families;
    std::function<Result<std::unique_ptr<FeedSink>>()> open;
    Millis retry{1'000};        ///< after an error
    Millis confirm{3'600'000};  ///< positions are published again after this, lest the sink forgets them
    FeedReader::Limits limits = {};
  };
  explicit FeedPublisher(Options options);
  ~FeedPublisher();
  FeedPublisher(const FeedPublisher&) = delete;
  FeedPublisher& operator=(const FeedPublisher&) = delete;

  /// Publish from now on, or end what was begun and wait. Does not block.
  void lead(bool leading);

  /// All series of this process begin with 0, also where nothing is published.
  static void declare_metrics();

 private:
  struct Round;
  void run();
  Result<void> publish_while_leading();
  Result<bool> publish_some(Round& round);
  bool leading() const;
  bool closing() const;
  void wait_for_news(Millis most);
  void wait_while_leading(Millis time);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool leading_ = false;
  bool closing_ = false;
  bool woken_ = false;
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace shiplog::feeds
