#include "services/programs/shiplogd/journal_stack.h"

#include <filesystem>
#include <future>
#include <system_error>

#include "services/programs/shiplogd/journal_identity.h"
#include "services/runtime/log.h"

namespace shiplog {

JournalStack::JournalStack(Options options) : options_{std::move(options)} {}

JournalStack::~JournalStack() { stop(); }

Result<std::unique_ptr<JournalStack>> JournalStack::open(Options options) {
  std::unique_ptr<JournalStack> stack{new JournalStack{std::move(options)}};
  SHIPLOG_TRY(auto opened, Projections::open(stack->options_.projection));
  stack->projections_ = std::move(opened.projections);
  stack->restored_ = std::move(opened.restored);
  stack->queue_ = std::make_unique<ProjectionQueue>(
      ProjectionQueue::Options{.name = stack->options_.name, .projections = stack->projections_.get()});
  stack->replica_ = std::make_unique<Replica>(Replica::Options{.name = stack->options_.name,
                                                               .journal = stack->options_.journal.get(),
                                                               .executor = stack->options_.executor,
                                                               .random = stack->options_.random,
                                                               .projections = stack->projections_.get(),
                                                               .queue = stack->queue_.get(),
                                                               .tree = stack->options_.tree});
  stack->store_ = std::make_unique<api::Store>(*stack->options_.journal, *stack->replica_, stack->options_.projection,
                                               stack->queue_.get());
  return stack;
}

Result<void> JournalStack::start(std::function<void(const State&)> restored, std::function<void(const Error&)> failed) {
  SHIPLOG_TRY(check_same_journal(*options_.journal, restored_.last));
  std::promise<Result<Offset>> opened;
  options_.executor->post([&] {
    replica_->when_projection_fails(failed);
    auto from = replica_->open(std::move(restored_));
    if (from) restored(replica_->state());
    opened.set_value(std::move(from));
  });
  SHIPLOG_TRY(const Offset from, opened.get_future().get());
  log::info("journal.opened", {log::kv("name", options_.name), log::kv("journal", options_.journal->describe()),
                               log::kv("from_offset", from.value)});
  tail_ = std::make_unique<TailThread>(options_.name, *options_.journal, *replica_, *options_.executor, from,
                                       std::move(failed), outage_);
  return ok();
}

void JournalStack::start_scrub(int64_t bytes_per_second, Millis interval, bool reads_journal) {
  ScrubOptions options{.name = options_.name,
                       .journal = options_.journal.get(),
                       .reads_journal = reads_journal,
                       .projection = options_.projection,
                       .journal_damaged = [this](const Error& error) { replica_->refuse_appends(error); }};
  scrub_ = std::make_unique<ScrubThread>(std::move(options), bytes_per_second, interval);
}

Result<SnapshotInfo> JournalStack::snapshot(const std::string& target) {
  SHIPLOG_TRY(queue_->flush());
  return projections_->snapshot(target);
}

Result<Projections::Trimmed> JournalStack::trim_projection(const Projections::Expired& expired) {
  return queue_->with_projection([&](Projections& projections) { return projections.trim_some(expired); });
}

Result<sqlite::FileSpace> JournalStack::release_projection(int64_t keep) {
  return queue_->with_projection([&](Projections& projections) { return projections.release_some(keep); });
}

void JournalStack::stop() {
  scrub_.reset();
  tail_.reset();
  if (queue_) queue_->stop();  // open() may have failed before there was one
}

uint64_t bytes_of_journal(const std::string& file) {
  uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code absent;
    const uintmax_t size = std::filesystem::file_size(file + suffix, absent);
    if (!absent) bytes += size;
  }
  return bytes;
}

}  // namespace shiplog
