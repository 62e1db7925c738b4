#include "projections/proof/begin_tree.h"

#include "events/sqlite/connection.h"
#include "projections/proof/tree_projection.h"
#include "projections/proof/tree_query.h"
#include "projections/store/checkpoint.h"
#include "projections/store/open.h"

namespace shiplog {
namespace {

constexpr size_t kRecordsAtOnce = 512;
constexpr Millis kPatience{1'000};
constexpr int kMostWaits = 20;

}  // namespace

Result<void> begin_tree(Journal& journal, const std::string& projection) {
  SHIPLOG_TRY(const auto connection, store::open_writer(projection));
  SHIPLOG_TRY(const uint64_t size, tree_size(*connection));
  if (size > 0) return ok();
  SHIPLOG_TRY(const auto checkpoint, store::read_checkpoint(*connection));
  if (!checkpoint) return Error{ErrorCode::kCorrupt, projection + " has no checkpoint"};
  SHIPLOG_TRY(auto tree, TreeProjection::create(*connection));
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  SHIPLOG_TRY(const auto tail, journal.tail(Offset{0}));
  int waits = 0;
  for (Offset at; at < checkpoint->next && waits < kMostWaits;) {
    SHIPLOG_TRY(const auto records, tail->next(kRecordsAtOnce, kPatience));
    waits = records.empty() ? waits + 1 : 0;
    for (const JournalRecord& record : records) {
      at = Offset{record.offset.value + 1};
      if (record.offset >= checkpoint->next) break;
      SHIPLOG_TRY(tree.append(record.offset, proof::leaf_hash(record.bytes)));
    }
  }
  return transaction.commit();
}

}  // namespace shiplog
