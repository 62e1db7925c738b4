#pragma once

#include <functional>
#include <memory>
#include <string>

#include "services/programs/shiplogd/options.h"
#include "services/programs/shiplogd/retention.h"
#include "services/programs/shiplogd/snapshots.h"

namespace shiplog {

/// The snapshots and the retention of a process, for both journals.
class Upkeep {
 public:
  /// `shared`: the folder beside a journal file, which processes of one machine share; empty: the journal is on Kafka.
  /// Error: kInvalid, an option.
  static Result<std::unique_ptr<Upkeep>> make(const ServeOptions& options, const std::string& shared);
  ~Upkeep();

  /// Before the projection `file` of a journal ("journal", "ephemera") is opened.
  Result<void> prepare(const std::string& name, Journal& journal, const std::string& file) const;
  /// Before the stacks start. `acts`: this process leads for the role "control"; on the executor.
  void observe(JournalStack& record, JournalStack& ephemera, Executor& executor, const std::function<bool()>& acts);
  /// `leads`: the same, not from the executor.
  void start(std::function<bool()> leads);
  /// Waits for what is under way. The executor must still run.
  void stop();

 private:
  explicit Upkeep(const ServeOptions& options) : options_{options} {}
  SnapshotPlaces places_of(const std::string& name) const;

  const ServeOptions& options_;
  std::string folder_;
  bool on_kafka_ = false;
  std::unique_ptr<SnapshotStore> store_;
  JournalStack* record_ = nullptr;
  JournalStack* ephemera_ = nullptr;
  Executor* executor_ = nullptr;
  std::unique_ptr<Snapshots> record_snapshots_, ephemera_snapshots_;
  std::unique_ptr<Retention> record_retention_, ephemera_retention_;
};

}  // namespace shiplog
