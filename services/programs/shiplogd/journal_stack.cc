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
  stack->replica_ = std::make_unique<Replica>(
      Replica::Options{.name = stack->options_.name,
                       .journal = stack->options_.journal.get(),
                       .executor = stack->options_.executor,
                       .random = stack->options_.random,
                       .projections = stack->projections_.get(),
                       .projector = [raw = stack.get()](auto write) { raw->project(std::move(write)); },
                       .project_here = [raw = stack.get()](const auto& write) { return raw->project_here(write); },
                       .tree = stack->options_.tree});
  stack->store_ = std::make_unique<api::Store>(*stack->options_.journal, *stack->replica_, stack->options_.projection);
  return stack;
}

Result<void> JournalStack::start(std::function<void(const State&)> restored, std::function<void(const Error&)> failed) {
  SHIPLOG_TRY(check_same_journal(*options_.journal, restored_));
  std::promise<Result<Offset>> opened;
  options_.executor->post([&] {
    auto from = replica_->open(std::move(restored_));
    if (from) restored(replica_->state());
    opened.set_value(std::move(from));
  });
  SHIPLOG_TRY(const Offset from, opened.get_future().get());
  log::info("journal.opened", {log::kv("name", options_.name), log::kv("journal", options_.journal->describe()),
                               log::kv("from_offset", from.value)});
  tail_ = std::make_unique<TailThread>(options_.name, *options_.journal, *replica_, *options_.executor, from,
                                       std::move(failed));
  return ok();
}

void JournalStack::project(std::function<void()> write) {
  to_project_.fetch_add(1, std::memory_order_relaxed);
  projector_.post([this, write = std::move(write)] {
    const std::lock_guard lock{projecting_};
    write();
    to_project_.fetch_sub(1, std::memory_order_release);
  });
}

bool JournalStack::project_here(const std::function<void()>& write) {
  // Counted as well: a thread that trims may be about to hand something over.
  int none = 0;
  if (!to_project_.compare_exchange_strong(none, 1, std::memory_order_acquire)) return false;
  const std::lock_guard lock{projecting_};
  write();
  to_project_.fetch_sub(1, std::memory_order_release);
  return true;
}

void JournalStack::start_scrub(int64_t bytes_per_second, Millis interval, bool reads_journal) {
  ScrubOptions options{.name = options_.name,
                       .journal = options_.journal.get(),
                       .reads_journal = reads_journal,
                       .projection = options_.projection,
                       .journal_damaged = [this](const Error& error) { replica_->refuse_appends(error); }};
  scrub_ = std::make_unique<ScrubThread>(std::move(options), bytes_per_second, interval);
}

Result<Projections::Trimmed> JournalStack::trim_projection(const Projections::Expired& expired) {
  const auto trimmed = std::make_shared<std::promise<Result<Projections::Trimmed>>>();
  project([this, expired, trimmed] { trimmed->set_value(projections_->trim_some(expired)); });
  return trimmed->get_future().get();
}

Result<sqlite::FileSpace> JournalStack::release_projection(int64_t keep) {
  const auto released = std::make_shared<std::promise<Result<sqlite::FileSpace>>>();
  project([this, keep, released] { released->set_value(projections_->release_some(keep)); });
  return released->get_future().get();
}

void JournalStack::stop() {
  scrub_.reset();
  tail_.reset();
  projector_.stop();
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
