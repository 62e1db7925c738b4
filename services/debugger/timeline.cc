#include "services/debugger/timeline.h"

#include <algorithm>

#include "events/base/check.h"

namespace shiplog::debugger {
namespace {

/// A step back keeps a state so far before its target: the next steps back fold from there.
constexpr size_t kNear = 64;
constexpr size_t kMostNear = 3;
constexpr size_t kObjectsAnEntry = 8;

}  // namespace

JournalTimeline::JournalTimeline(JournalReader reader, State begin, TimelineOptions options)
    : reader_{std::move(reader)}, options_{options}, state_{std::move(begin)}, first_revision_{state_.revision()} {
  kept_.emplace(0, state_);
  kept_objects_ = state_.object_count();
}

Moment JournalTimeline::moment() const {
  if (position_ == 0) return {Offset{}, nullptr, nullptr, state_};
  if (!record_.entry) return {mark(position_).offset, nullptr, nullptr, state_};
  return {record_.offset, record_.entry.get(), &folded_, state_};
}

// To copy the index of eight objects takes about as long as to fold an entry.
bool JournalTimeline::worth_keeping() const {
  return position_ - kept_.rbegin()->first >= state_.object_count() / kObjectsAnEntry;
}

void JournalTimeline::keep() {
  kept_objects_ += state_.object_count();
  kept_.emplace(position_, state_);
  while (kept_objects_ > options_.most_kept_objects && kept_.size() > 2) {
    options_.keep_every *= 2;
    std::erase_if(kept_, [this](const auto& kept) {
      const bool drop = kept.first % options_.keep_every != 0;
      if (drop) kept_objects_ -= kept.second.object_count();
      return drop;
    });
  }
}

void JournalTimeline::keep_near(size_t position, const State& state) {
  if (near_.size() >= kMostNear) {
    // The farthest from the cursor.
    const auto distance = [this](size_t at) { return at > position_ ? at - position_ : position_ - at; };
    near_.erase(std::ranges::max_element(near_, {}, [&](const auto& kept) { return distance(kept.first); }));
  }
  near_.insert_or_assign(position, state);
}

Result<bool> JournalTimeline::forward() {
  if (stopped_ && position_ == marks_.size()) {
    return Error{ErrorCode::kCorrupt,
                 "the entry at offset " + std::to_string(record_.offset.value) + " stops the fold: " + *stopped_};
  }
  SHIPLOG_TRY(auto record, reader_.at(position_));
  if (!record) return false;
  record_ = std::move(*record);
  folded_ = fold(state_, *record_.entry);
  ++position_;
  if (position_ > marks_.size()) {
    marks_.push_back({record_.offset, folded_.revision, record_.entry->time});
    stopped_ = folded_.stop;
    if (!stopped_ && position_ % options_.keep_every == 0 && worth_keeping()) keep();
  }
  return true;
}

std::pair<size_t, const State*> JournalTimeline::nearest(size_t position) const {
  const auto kept = std::prev(kept_.upper_bound(position));
  std::pair<size_t, const State*> best{kept->first, &kept->second};
  if (const auto near = near_.upper_bound(position); near != near_.begin()) {
    const auto& [at, state] = *std::prev(near);
    if (at > best.first) best = {at, &state};
  }
  return best;
}

size_t JournalTimeline::kept_before(size_t position) const {
  return position == 0 ? 0 : std::prev(kept_.upper_bound(position - 1))->first;
}

void JournalTimeline::enter(size_t position, const State& state) {
  state_ = State{state};
  position_ = position;
  record_ = {};
  folded_ = {};
}

void JournalTimeline::enter_kept(size_t position) {
  const auto kept = kept_.find(position);
  SHIPLOG_CHECK(kept != kept_.end(), "kept_before() names a kept state");
  enter(position, kept->second);
}

Result<void> JournalTimeline::go(size_t position) {
  if (position == position_) return ok();
  if (position == 0) {
    enter(0, kept_.begin()->second);
    return ok();
  }
  // The entry before the target is folded here, as its changes are looked at.
  const auto [from, state] = nearest(position - 1);
  if (position < position_ || from > position_) {
    const bool back = position < position_;
    enter(from, *state);
    if (back && position - from > kNear) {
      const size_t near = position - kNear;
      while (position_ < near) {
        SHIPLOG_TRY(const bool more, forward());
        SHIPLOG_CHECK(more, "an entry that was read once is there");
      }
      keep_near(position_, state_);
    }
  }
  while (position_ < position) {
    SHIPLOG_TRY(const bool more, forward());
    if (more) continue;
    return Error{ErrorCode::kGone, "the journal ends at revision " + std::to_string(state_.revision().value) +
                                       ", entry " + std::to_string(position_)};
  }
  return ok();
}

Result<const State*> JournalTimeline::state_at(size_t position) {
  if (position == position_) return &state_;
  SHIPLOG_CHECK(position <= marks_.size(), "only the past is looked up");
  if (other_ && other_->first == position) return &other_->second;
  auto [from, nearest_state] = nearest(position);
  if (other_ && other_->first < position && other_->first > from) from = other_->first;
  if (!other_ || from != other_->first) other_.emplace(from, *nearest_state);
  if (position_ < position && position_ > from) other_.emplace(position_, state_);
  while (other_->first < position) {
    auto record = reader_.at(other_->first);
    if (!record || !record.value()) {
      other_.reset();
      if (!record) return record.error();
      return Error{ErrorCode::kGone, "the journal no longer has an entry that it had"};
    }
    fold(other_->second, *record.value()->entry);
    ++other_->first;
  }
  return &other_->second;
}

std::optional<size_t> JournalTimeline::position_of(Revision revision) const {
  if (revision == first_revision_) return 0;
  const auto found = std::ranges::lower_bound(marks_, revision, {}, &Mark::revision);
  if (found == marks_.end() || found->revision != revision) return std::nullopt;
  return static_cast<size_t>(found - marks_.begin()) + 1;
}

}  // namespace shiplog::debugger
