#include "services/programs/transfer/journal_copy.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <string_view>
#include <utility>

#include "events/codec/codec.h"
#include "events/codec/outline.h"
#include "events/fold/fold.h"
#include "services/programs/transfer/record_reader.h"

namespace shiplog {
namespace {

/// Appends with many records under way, up to a number of bytes.
class Appender {
 public:
  Appender(Journal& to, size_t most_bytes) : to_{to}, most_bytes_{most_bytes} {}
  ~Appender() { wait_for_all(); }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  Result<void> append(const JournalRecord& record) {
    const size_t size = record.bytes.size();
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return failed_ || under_way_ == 0 || bytes_under_way_ + size <= most_bytes_; });
      if (failed_) return *failed_;
      ++under_way_;
      bytes_under_way_ += size;
    }
    to_.append(record.bytes, [this, size, wanted = record.offset](Result<Offset> stored) {
      const std::lock_guard lock{mutex_};
      --under_way_;
      bytes_under_way_ -= size;
      if (stored) {
        same_offsets_ = same_offsets_ && stored.value() == wanted;
      } else if (!failed_) {
        failed_ = std::move(stored).error();
      }
      changed_.notify_all();
    });
    return ok();
  }

  Result<void> finish() {
    wait_for_all();
    if (failed_) return *failed_;
    return ok();
  }
  /// After finish().
  bool same_offsets() const { return same_offsets_; }

 private:
  void wait_for_all() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return under_way_ == 0; });
  }

  Journal& to_;
  const size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t under_way_ = 0;
  size_t bytes_under_way_ = 0;
  std::optional<Error> failed_;
  bool same_offsets_ = true;
};

Error differs(const Journal& from, const Journal& to, const std::string& how) {
  return {ErrorCode::kConflict, to.describe() + " is not empty, and does not hold the first records of " +
                                    from.describe() + ": " + how +
                                    ". Nothing was written; name a target that is empty, or one that an interrupted "
                                    "copy of this journal has left"};
}

/// Reads what the target has, beside the source, which stands behind it afterwards.
Result<void> compare_found(Journal& from, Journal& to, RecordReader& source, CopyProgress& progress) {
  SHIPLOG_TRY(auto target, RecordReader::open(to));
  while (true) {
    SHIPLOG_TRY(const auto found, target.next());
    if (!found) return ok();
    SHIPLOG_TRY(const auto wanted, source.next());
    if (!wanted) return differs(from, to, "it has more records than the source");
    if (wanted->bytes != found->bytes) {
      return differs(from, to,
                     "its record at offset " + std::to_string(found->offset.value) +
                         " is another than that at offset " + std::to_string(wanted->offset.value) + " of the source");
    }
    ++progress.found;
    progress.at = Offset{wanted->offset.value + 1};
    if (wanted->offset != found->offset) progress.same_offsets = false;
  }
}

void add_record(JournalDigest& digest, const JournalRecord& record) {
  ++digest.entries;
  digest.bytes += record.bytes.size();
  digest.content = siphash128(to_string(digest.content) + to_string(siphash128(record.bytes)));
  digest.last = record.offset;
}

std::string number(uint64_t count) { return std::to_string(count); }

}  // namespace

Result<CopyProgress> copy_records(Journal& from, Journal& to, const CopyOptions& options) {
  SHIPLOG_TRY(const bool trimmed, is_trimmed(from));
  if (trimmed && !options.from_snapshot) {
    SHIPLOG_TRY(const Offset oldest, from.oldest());
    return Error{ErrorCode::kGone, from.describe() + " begins at offset " + std::to_string(oldest.value) +
                                       ": what was before is trimmed, and a copy could not be folded without a "
                                       "snapshot. Use `shiplogctl backup` and `shiplogctl restore` instead"};
  }
  SHIPLOG_TRY(auto source, RecordReader::open(from, options.end));
  CopyProgress progress;
  progress.end = source.end();
  SHIPLOG_TRY(compare_found(from, to, source, progress));
  Appender appender{to, options.most_bytes_under_way};
  while (true) {
    SHIPLOG_TRY(const auto record, source.next());
    if (!record) break;
    SHIPLOG_TRY(appender.append(*record));
    ++progress.entries;
    progress.bytes += record->bytes.size();
    progress.at = Offset{record->offset.value + 1};
    if (options.progress) options.progress(progress);
  }
  SHIPLOG_TRY(appender.finish());
  progress.same_offsets = progress.same_offsets && appender.same_offsets();
  return progress;
}

Result<JournalDigest> digest_of(Journal& journal, const DigestOptions& options) {
  SHIPLOG_TRY(auto reader, RecordReader::open(journal, options.end));
  JournalDigest digest;
  State state;
  if (options.base != nullptr) state = *options.base;
  std::string last;
  while (true) {
    SHIPLOG_TRY(auto record, reader.next());
    if (!record) break;
    add_record(digest, *record);
    if (options.fold && (options.base == nullptr || record->offset >= options.base_next)) {
      const auto where = [&] { return journal.describe() + ", offset " + std::to_string(record->offset.value); };
      const auto entry = decode(record->bytes);
      if (!entry) return entry.error().context(where());
      if (const Folded folded = fold(state, entry.value()); folded.stop) {
        return Error{ErrorCode::kCorrupt, where() + ": " + *folded.stop};
      }
    }
    last = std::move(record->bytes);
  }
  if (!last.empty()) {
    digest.last_id = entry_id_in(last);
    if (const auto entry = decode(last)) digest.last_time = entry.value().time;
  }
  digest.folded = options.fold;
  digest.revision = state.revision();
  digest.state = state.hash();
  return digest;
}

Result<JournalDigest> verify_copy(Journal& from, Journal& to, const DigestOptions& of_source) {
  auto reading = std::async(std::launch::async, [&] { return digest_of(from, of_source); });
  DigestOptions of_target = of_source;
  of_target.end = std::nullopt;
  auto copied = digest_of(to, of_target);
  SHIPLOG_TRY(const JournalDigest original, reading.get());
  SHIPLOG_TRY(const JournalDigest copy, std::move(copied));
  const auto wrong = [&](const std::string& what, const std::string& there, const std::string& here) {
    return Error{ErrorCode::kCorrupt, "the copy " + to.describe() + " differs from " + from.describe() + ": " + what +
                                          " " + here + " instead of " + there +
                                          ". Delete the target and copy again, and look for another program that "
                                          "writes to it"};
  };
  if (copy.entries != original.entries) return wrong("entries:", number(original.entries), number(copy.entries));
  if (copy.last_id != original.last_id)
    return wrong("last entry:", to_string(original.last_id), to_string(copy.last_id));
  if (copy.content != original.content) {
    return wrong("hash of the records:", to_string(original.content), to_string(copy.content));
  }
  if (copy.state != original.state) return wrong("state hash:", to_string(original.state), to_string(copy.state));
  return copy;
}

}  // namespace shiplog
