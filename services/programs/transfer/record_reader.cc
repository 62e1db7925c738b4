#include "services/programs/transfer/record_reader.h"

#include <utility>

namespace shiplog {
namespace {

constexpr size_t kAtOnce = 512;
// A tail waits longer for records that are known to be stored. Nothing within this time: the journal ends in a gap.
constexpr Millis kPatience{500};

}  // namespace

Result<bool> is_trimmed(Journal& journal) {
  SHIPLOG_TRY(const Offset oldest, journal.oldest());
  return oldest.value > 1;
}

Result<RecordReader> RecordReader::open(Journal& journal, std::optional<Offset> end) {
  SHIPLOG_TRY(const Offset head, journal.head());
  SHIPLOG_TRY(auto tail, journal.tail(Offset{0}));
  return RecordReader{std::move(tail), end ? std::min(*end, head) : head};
}

Result<std::optional<JournalRecord>> RecordReader::next() {
  if (waiting_.empty() && at_ < end_) {
    SHIPLOG_TRY(auto records, tail_->next(kAtOnce, kPatience));
    for (JournalRecord& record : records) waiting_.push_back(std::move(record));
  }
  if (waiting_.empty() || waiting_.front().offset >= end_) return std::optional<JournalRecord>{};
  std::optional<JournalRecord> first{std::move(waiting_.front())};
  waiting_.pop_front();
  at_ = Offset{first->offset.value + 1};
  return first;
}

}  // namespace shiplog
