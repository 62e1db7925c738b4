#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/journal/journal.h"

namespace shiplog {

/// What a topic is recognized by. A topic only grows at its end and is trimmed at its beginning; one that was deleted
/// and created again, or has lost records, differs.
struct TopicIdentity {
  std::string topic;   ///< "production.journal"
  Offset first;        ///< of its oldest record; `end` if there is none
  std::string digest;  ///< of that record; empty: there is none
  Offset end;          ///< every record is before it
  bool operator==(const TopicIdentity&) const = default;
};

/// As a record of a keyed topic: "TOPIC\nfirst=0 digest=... end=17".
std::string to_text(const TopicIdentity& identity);
/// Error: kCorrupt.
Result<TopicIdentity> topic_identity_from(std::string_view record);

/// Why what was `found` is not the topic that was `recorded`; nullopt: it is, perhaps longer or trimmed.
std::optional<std::string> difference(const TopicIdentity& recorded, const TopicIdentity& found);

/// Errors: those of the journal.
Result<TopicIdentity> identify(Journal& journal, const std::string& topic);

/// Recognizes the topics of a fleet by what all its processes have recorded about them in a keyed topic. Threads: one.
class TopicIdentities {
 public:
  struct Options {
    std::shared_ptr<Journal> log;  ///< the keyed topic
    std::map<std::string, std::shared_ptr<Journal>> topics;
    /// Called before a topic that differs is looked at again: a deposed partition leader may report an earlier end for
    /// a moment.
    std::function<void()> pause;
    int tries = 4;
  };
  explicit TopicIdentities(Options options) : options_{std::move(options)} {}

  /// Compares every topic with what is recorded, and records what is new. Errors: kCorrupt, a topic differs, with what
  /// to do; those of the journals.
  Result<void> check();

 private:
  Result<void> read_log();
  Result<TopicIdentity> check_topic(const std::string& topic, Journal& journal) const;
  Result<void> record(const TopicIdentity& identity);

  Options options_;
  std::unique_ptr<Journal::Tail> tail_;
  Offset read_to_;
  std::map<std::string, TopicIdentity> recorded_;
};

}  // namespace shiplog
