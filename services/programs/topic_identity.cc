#include "services/programs/topic_identity.h"

#include <charconv>
#include <future>

#include "events/base/hash.h"

namespace shiplog {
namespace {

constexpr Millis kPatience{1'000};
constexpr int kMostWaits = 10;
constexpr size_t kBatch = 256;

/// The word after `name` in `text`; nullopt: there is none.
std::optional<std::string_view> field(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find(' '));
}

std::optional<Offset> offset_field(std::string_view text, std::string_view name) {
  const auto word = field(text, name);
  if (!word) return std::nullopt;
  Offset offset;
  const char* end = word->data() + word->size();
  const auto parsed = std::from_chars(word->data(), end, offset.value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return offset;
}

std::string text_of(Offset offset) { return std::to_string(offset.value); }

}  // namespace

std::string to_text(const TopicIdentity& identity) {
  return identity.topic + "\nfirst=" + text_of(identity.first) + " digest=" + identity.digest +
         " end=" + text_of(identity.end);
}

Result<TopicIdentity> topic_identity_from(std::string_view record) {
  const size_t line = record.find('\n');
  const std::string_view value = line == std::string_view::npos ? std::string_view{} : record.substr(line + 1);
  const auto first = offset_field(value, "first=");
  const auto digest = field(value, " digest=");
  const auto end = offset_field(value, " end=");
  if (!first || !digest || !end) {
    return Error{ErrorCode::kCorrupt, "\"" + std::string{record} + "\" does not identify a topic"};
  }
  return TopicIdentity{std::string{record.substr(0, line)}, *first, std::string{*digest}, *end};
}

std::optional<std::string> difference(const TopicIdentity& recorded, const TopicIdentity& found) {
  if (found.end < recorded.end) {
    return "it ends at offset " + text_of(found.end) + ", but has had records up to offset " +
           text_of(Offset{recorded.end.value - 1});
  }
  if (found.first < recorded.first) {
    return "it begins at offset " + text_of(found.first) + ", but records before offset " + text_of(recorded.first) +
           " had been deleted";
  }
  if (found.first == recorded.first && !recorded.digest.empty() && found.digest != recorded.digest) {
    return "its record at offset " + text_of(found.first) + " is not the one that was there before";
  }
  return std::nullopt;
}

Result<TopicIdentity> identify(Journal& journal, const std::string& topic) {
  TopicIdentity identity{topic, {}, {}, {}};
  SHIPLOG_TRY(identity.end, journal.head());
  SHIPLOG_TRY(identity.first, journal.oldest());
  if (identity.first >= identity.end) return identity;
  SHIPLOG_TRY(const auto tail, journal.tail(identity.first));
  for (int waits = 0; waits < kMostWaits; ++waits) {
    SHIPLOG_TRY(const auto records, tail->next(1, kPatience));
    if (records.empty()) continue;
    // Not at `first` if compaction has removed that one.
    identity.first = records.front().offset;
    identity.digest = to_string(siphash128(records.front().bytes));
    return identity;
  }
  return Error{ErrorCode::kUnavailable, journal.describe() + ": its oldest record cannot be read"};
}

Result<void> TopicIdentities::check() {
  SHIPLOG_TRY(read_log());
  for (const auto& [topic, journal] : options_.topics) {
    SHIPLOG_TRY(const TopicIdentity found, check_topic(topic, *journal));
    const auto known = recorded_.find(topic);
    if (found.digest.empty() || (known != recorded_.end() && known->second == found)) continue;
    SHIPLOG_TRY(record(found));
  }
  return ok();
}

Result<void> TopicIdentities::read_log() {
  SHIPLOG_TRY(const Offset head, options_.log->head());
  if (!tail_) {
    SHIPLOG_TRY(tail_, options_.log->tail(Offset{0}));
  }
  for (int waits = 0; read_to_ < head; ++waits) {
    SHIPLOG_TRY(const auto records, tail_->next(kBatch, kPatience));
    for (const JournalRecord& record : records) {
      read_to_ = Offset{record.offset.value + 1};
      SHIPLOG_TRY(TopicIdentity identity, topic_identity_from(record.bytes));
      recorded_[identity.topic] = std::move(identity);
    }
    if (records.empty() && waits >= kMostWaits) {
      return Error{ErrorCode::kUnavailable, options_.log->describe() + ": it cannot be read to its end"};
    }
  }
  return ok();
}

Result<TopicIdentity> TopicIdentities::check_topic(const std::string& topic, Journal& journal) const {
  const auto known = recorded_.find(topic);
  for (int tries = 1;; ++tries) {
    SHIPLOG_TRY(TopicIdentity found, identify(journal, topic));
    const auto differs = known == recorded_.end() ? std::nullopt : difference(known->second, found);
    if (!differs) return found;
    if (tries >= options_.tries) {
      return Error{ErrorCode::kCorrupt,
                   journal.describe() + " is not the topic that this fleet has used: " + *differs +
                       ". It was deleted and created again, or the brokers have lost records. Stop all processes of "
                       "the fleet and restore the topic from a backup. To continue with what it holds now, delete "
                       "the topic of " +
                       options_.log->describe() + ", which records this"};
    }
    options_.pause();
  }
}

Result<void> TopicIdentities::record(const TopicIdentity& identity) {
  std::promise<Result<Offset>> stored;
  options_.log->append(to_text(identity), [&stored](Result<Offset> answer) { stored.set_value(std::move(answer)); });
  SHIPLOG_TRY([[maybe_unused]] const Offset offset, stored.get_future().get());
  recorded_[identity.topic] = identity;
  return ok();
}

}  // namespace shiplog
