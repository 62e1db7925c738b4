#include "services/programs/verification/remade_projection.h"

#include <utility>

#include "projections/store/snapshot.h"

namespace shiplog {
namespace {

constexpr size_t kBatch = 1000;

}  // namespace

Result<std::unique_ptr<RemadeProjection>> RemadeProjection::make(const std::string& file, const std::string& base) {
  auto made = std::make_unique<RemadeProjection>();
  if (file.empty()) return made;
  SHIPLOG_TRY(store::remove_database(file));
  if (!base.empty()) {
    SHIPLOG_TRY(store::write_snapshot(base, file));
  }
  SHIPLOG_TRY(auto opened, Projections::open(file));
  if (!opened.restored.rebuilt.empty()) return Error{ErrorCode::kCorrupt, base + ": " + opened.restored.rebuilt};
  made->projections_ = std::move(opened.projections);
  made->next_ = opened.restored.next;
  if (!State::restore(opened.restored.meta, std::move(opened.restored.objects), std::move(opened.restored.seen),
                      made->state_, opened.restored.requests)) {
    return Error{ErrorCode::kCorrupt, base + ": its objects do not hash to what it recorded"};
  }
  return made;
}

Result<void> RemadeProjection::take(Offset offset, Entry entry, const std::optional<proof::Digest>& leaf) {
  Folded folded = fold(state_, entry);
  if (folded.stop) return Error{ErrorCode::kCorrupt, *folded.stop};
  next_ = Offset{offset.value + 1};
  if (!projections_) return ok();
  waiting_.push_back({offset, std::move(entry), std::move(folded), leaf});
  return waiting_.size() < kBatch ? ok() : flush();
}

Result<void> RemadeProjection::flush() {
  std::vector<FoldedEntry> batch;
  batch.reserve(waiting_.size());
  for (const Taken& taken : waiting_) batch.push_back({taken.offset, taken.entry, taken.folded, taken.leaf});
  SHIPLOG_TRY(projections_->apply(batch, state_.meta()));
  waiting_.clear();
  return ok();
}

Result<Reader> RemadeProjection::read(Revision oldest) {
  SHIPLOG_TRY(flush());
  if (oldest > Revision{0}) {
    SHIPLOG_TRY(projections_->trim_history(oldest));
  }
  return projections_->reader();
}

}  // namespace shiplog
