#include "services/programs/shiplogd/upkeep.h"

#include <utility>

namespace shiplog {
namespace {

constexpr const char* kNoStore =
    "a process on another machine could not start once the journal is trimmed: name a --snapshot-store that all "
    "processes of the fleet can reach";

}  // namespace

Result<std::unique_ptr<Upkeep>> Upkeep::make(const ServeOptions& options, const std::string& shared) {
  std::unique_ptr<Upkeep> upkeep{new Upkeep{options}};
  upkeep->on_kafka_ = shared.empty();
  upkeep->folder_ = shared.empty() ? options.common.data_dir : shared;
  if (!options.snapshot_store.empty()) {
    SHIPLOG_TRY(auto blobs, open_blob_store(options.snapshot_store));
    upkeep->store_ = std::make_unique<SnapshotStore>(std::move(blobs));
  }
  return upkeep;
}

Upkeep::~Upkeep() { stop(); }

SnapshotPlaces Upkeep::places_of(const std::string& name) const {
  return {name, folder_ + (name == "journal" ? "/snapshots" : "/ephemera-snapshots"), store_.get()};
}

Result<void> Upkeep::prepare(const std::string& name, Journal& journal, const std::string& file) const {
  return prepare_projection(journal, places_of(name), file);
}

void Upkeep::observe(JournalStack& record, JournalStack& ephemera, Executor& executor,
                     const std::function<bool()>& acts) {
  record_ = &record;
  ephemera_ = &ephemera;
  executor_ = &executor;
  record_snapshots_ = std::make_unique<Snapshots>(
      record, Snapshots::Options{places_of("journal"), options_.snapshot_every, true, acts}, executor);
  ephemera_snapshots_ = std::make_unique<Snapshots>(
      ephemera, Snapshots::Options{places_of("ephemera"), options_.snapshot_every, false, acts}, executor);
  record.replica().add_observer(*record_snapshots_);
  ephemera.replica().add_observer(*ephemera_snapshots_);
}

void Upkeep::start(std::function<bool()> leads) {
  RetentionOptions retention{.stack = record_,
                             .snapshots = record_snapshots_.get(),
                             .executor = executor_,
                             .journal = options_.journal_retention,
                             .history = options_.history_retention,
                             .audit = options_.audit_retention,
                             .decisions = options_.decision_retention,
                             .families = options_.family_retention,
                             .interval = options_.retention_interval,
                             .leads = leads,
                             .obstacle = on_kafka_ && !store_ ? kNoStore : ""};
  record_retention_ = std::make_unique<Retention>(retention);
  // What is kept of an Event or a Lease is what it is now: the past of the ephemera goes with their journal.
  retention.stack = ephemera_;
  retention.snapshots = ephemera_snapshots_.get();
  retention.journal = options_.ephemera_retention;
  retention.families.clear();
  retention.history = retention.audit = retention.decisions = options_.ephemera_retention.age;
  ephemera_retention_ = std::make_unique<Retention>(std::move(retention));
}

void Upkeep::stop() {
  record_retention_.reset();
  ephemera_retention_.reset();
}

}  // namespace shiplog
