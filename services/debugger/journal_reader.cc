#include "services/debugger/journal_reader.h"

#include <algorithm>

#include "events/codec/codec.h"

namespace shiplog::debugger {
namespace {

constexpr Millis kPatience{500};

}  // namespace

Result<JournalReader> JournalReader::open(std::shared_ptr<Journal> journal, Offset from) {
  SHIPLOG_TRY(const Offset head, journal->head());
  return JournalReader{std::move(journal), from, head};
}

Result<bool> JournalReader::refresh() {
  SHIPLOG_TRY(const Offset head, journal_->head());
  const bool grown = head > head_;
  head_ = std::max(head, head_);
  // A block that is not full may have more entries now.
  if (grown) std::erase_if(blocks_, [](const Block& block) { return block.records.size() < kBlock; });
  return grown;
}

Offset JournalReader::begin_of(size_t number) const {
  const size_t first = number * kBlock;
  if (first < offsets_.size()) return offsets_[first];
  return offsets_.empty() ? from_ : Offset{offsets_.back().value + 1};
}

Result<JournalReader::Block> JournalReader::read(size_t number) {
  const Offset begin = begin_of(number);
  if (!tail_ || tail_at_ != begin) {
    SHIPLOG_TRY(tail_, journal_->tail(begin));
    tail_at_ = begin;
  }
  Block block;
  block.number = number;
  while (block.records.size() < kBlock && tail_at_ < head_) {
    auto more = tail_->next(kBlock - block.records.size(), kPatience);
    if (!more) {
      tail_.reset();
      block.error = more.error().context(journal_->describe());
      break;
    }
    if (more.value().empty()) break;  // offsets have gaps: a journal may end before its head
    for (JournalRecord& record : more.value()) {
      tail_at_ = Offset{record.offset.value + 1};
      if (record.offset < head_) block.records.push_back(std::move(record));
    }
  }
  block.decoded.resize(block.records.size());
  for (size_t place = 0; place < block.records.size(); ++place) {
    if (number * kBlock + place == offsets_.size()) offsets_.push_back(block.records[place].offset);
  }
  return block;
}

Result<JournalReader::Block*> JournalReader::block(size_t number) {
  const auto found = std::ranges::find(blocks_, number, &Block::number);
  if (found != blocks_.end()) {
    if (found != blocks_.begin()) {
      Block used = std::move(*found);
      blocks_.erase(found);
      blocks_.push_front(std::move(used));
    }
    return &blocks_.front();
  }
  SHIPLOG_TRY(auto made, read(number));
  blocks_.push_front(std::move(made));
  if (blocks_.size() > kMostBlocks) blocks_.pop_back();
  return &blocks_.front();
}

Result<std::optional<DebugRecord>> JournalReader::at(size_t index) {
  // The offsets of all blocks before have to be known.
  for (size_t known = offsets_.size() / kBlock; known < index / kBlock; ++known) {
    SHIPLOG_TRY(const Block* before, block(known));
    if (before->error) return *before->error;
    if (before->records.size() < kBlock) return std::optional<DebugRecord>{};
  }
  SHIPLOG_TRY(Block * holder, block(index / kBlock));
  const size_t place = index % kBlock;
  if (place >= holder->records.size()) {
    if (holder->error) {
      const Error error = *holder->error;
      blocks_.pop_front();  // what may be retried is read again
      return error;
    }
    return std::optional<DebugRecord>{};
  }
  const JournalRecord& record = holder->records[place];
  if (!holder->decoded[place]) {
    auto entry = decode(record.bytes);
    if (!entry) {
      return entry.error().context(journal_->describe() + ", offset " + std::to_string(record.offset.value));
    }
    holder->decoded[place] = std::make_shared<const Entry>(std::move(entry).value());
  }
  return std::optional{DebugRecord{record.offset, holder->decoded[place]}};
}

}  // namespace shiplog::debugger
