#include "projections/preparation.h"

#include <algorithm>
#include <utility>

#include "events/base/check.h"
#include "projections/decisions/decision_projection.h"

namespace shiplog {
namespace {

constexpr size_t kMany = 64;

PreparedText kept(const sqlite::PackedText& packed) { return {std::string{packed.bytes}, packed.compressed}; }

}  // namespace

Preparation::Preparation(std::span<const FoldedEntry> batch, sqlite::TextPacker& own, sqlite::TextPacker& of_helper)
    : batch_{batch}, own_{own}, prepared_(batch.size()), states_{new std::atomic<int>[batch.size()]} {
  for (size_t index = 0; index < batch.size(); ++index) states_[index].store(kFree, std::memory_order_relaxed);
  if (batch.size() < kMany) return;
  helper_ = std::async(std::launch::async, [this, &of_helper] {
    for (size_t index = batch_.size(); index-- > 0 && !stopped_.load(std::memory_order_relaxed);) {
      if (!take(index)) return;
      prepare(index, of_helper);
    }
  });
}

Preparation::~Preparation() {
  stopped_ = true;
  if (helper_.valid()) helper_.wait();
}

const PreparedRows& Preparation::of(size_t index) {
  if (take(index)) {
    // With some more: alone, between what is written, each would find the dictionary outside of the processor's caches.
    constexpr size_t kRun = 32;
    prepare(index, own_);
    for (size_t more = index + 1; more < std::min(index + kRun, batch_.size()) && take(more); ++more) {
      prepare(more, own_);
    }
  } else {
    states_[index].wait(kTaken, std::memory_order_acquire);
  }
  return prepared_[index];
}

bool Preparation::take(size_t index) {
  int free = kFree;
  return states_[index].compare_exchange_strong(free, kTaken, std::memory_order_acquire);
}

void Preparation::prepare(size_t index, sqlite::TextPacker& packer) {
  const FoldedEntry& folded = batch_[index];
  PreparedRows& made = prepared_[index];
  for (const Change& change : folded.folded.changes) {
    auto& base = made.bases.emplace_back();
    if (!change.created()) continue;
    SHIPLOG_CHECK(change.json, "a change carries its JSON");
    base = kept(packer.pack(*change.json));
  }
  for (const Event& event : folded.entry.events) {
    auto& explanation = made.explanations.emplace_back();
    if (const auto json = explanation_json(event)) explanation = kept(packer.pack(*json));
  }
  states_[index].store(kDone, std::memory_order_release);
  states_[index].notify_one();
}

}  // namespace shiplog
