#include <ostream>

#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kAddress = "sqlite:FILE|kafka:BROKER,.../FLEET";

void add_kafka(CLI::App& sub, std::vector<std::string>& settings, int& replicas) {
  sub.add_option("--kafka-option", settings, "A setting of librdkafka; can be repeated")->type_name("KEY=VALUE");
  sub.add_option("--kafka-replicas", replicas, "Replicas of created topics; 0: three, or as many as there are brokers")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
}

}  // namespace

void Program::add_journal() {
  auto* journal = app_->add_subcommand("journal", "Work on a fleet's journals");
  journal->require_subcommand(1);
  journal->fallthrough();
  auto* sub =
      add(*journal, "copy", "Copy a fleet's record, ephemera and keys to another backend", [this]() -> Result<int> {
        SHIPLOG_TRY(copy_journals(copy_, out_, err_));
        return 0;
      });
  sub->add_option("--from", copy_.from, "The fleet's journal; stop its processes first")
      ->required()
      ->type_name(kAddress);
  sub->add_option("--to", copy_.to, "An empty target, or what an interrupted copy has left, which is continued")
      ->required()
      ->type_name(kAddress);
  sub->add_option("--from-keys-dir", copy_.from_keys_dir,
                  "Folder of fleet.key and pki [beside a journal file; on Kafka the --keys-dir of a process]")
      ->type_name("DIR");
  sub->add_option("--to-keys-dir", copy_.to_keys_dir, "Folder to copy them to [beside a journal file]")
      ->type_name("DIR");
  sub->add_flag("--no-verify", copy_.no_verify, "Do not read, fold and compare both journals afterwards");
  add_kafka(*sub, copy_.kafka, copy_.kafka_replicas);
}

void Program::add_backup() {
  auto* sub = add(*app_, "backup", "Back up a fleet, which may be running", [this]() -> Result<int> {
    usage_ = true;
    if (backup_.data_dir.empty() && backup_.journal.empty()) {
      return Error{ErrorCode::kBadRequest, "name the fleet: --data-dir or --journal"};
    }
    usage_ = false;
    SHIPLOG_TRY(backup_fleet(backup_, out_));
    return 0;
  });
  sub->add_option("--data-dir", backup_.data_dir, "The data folder of a process: for its journal and its snapshots")
      ->type_name("DIR");
  sub->add_option("--journal", backup_.journal, "The fleet's journal [sqlite:DATA-DIR/journal.db]")
      ->type_name(kAddress);
  sub->add_option("--kafka-option", backup_.kafka, "A setting of librdkafka; can be repeated")->type_name("KEY=VALUE");
  sub->add_option("--keys-dir", backup_.keys_dir, "Folder of fleet.key and pki [beside a journal file]")
      ->type_name("DIR");
  sub->add_option("--to", backup_.to, "A new folder")->required()->type_name("DIR");
}

void Program::add_restore() {
  auto* sub =
      add(*app_, "restore", "Make a fleet of a backup, as of its end or an earlier moment", [this]() -> Result<int> {
        usage_ = true;
        if (restore_.to_data_dir.empty() == restore_.to_journal.empty()) {
          return Error{ErrorCode::kBadRequest, "name the target: --to-data-dir or --to-journal"};
        }
        if (!restore_.to_journal.empty() && restore_.to_keys_dir.empty()) {
          return Error{ErrorCode::kBadRequest, "--to-journal needs --to-keys-dir, for fleet.key and pki"};
        }
        usage_ = false;
        SHIPLOG_TRY(restore_backup(restore_, out_));
        return 0;
      });
  sub->add_option("--from", restore_.from, "The folder of the backup")->required()->type_name("DIR");
  sub->add_option("--to-data-dir", restore_.to_data_dir, "A new folder: the --data-dir of the restored fleet")
      ->type_name("DIR");
  sub->add_option("--to-journal", restore_.to_journal, "Topics on Kafka, which must be empty")
      ->type_name("kafka:BROKER,.../FLEET");
  sub->add_option("--to-keys-dir", restore_.to_keys_dir, "With --to-journal: a folder for fleet.key and pki")
      ->type_name("DIR");
  auto* revision = sub->add_option("--to-revision", restore_.to_revision, "Leave out what came after this revision")
                       ->check(CLI::NonNegativeNumber)
                       ->type_name("REVISION");
  sub->add_option("--to-time", restore_.to_time, "Leave out what came after this time: 2024-05-01T12:00:00Z")
      ->excludes(revision)
      ->type_name("TIME");
  add_kafka(*sub, restore_.kafka, restore_.kafka_replicas);
}

}  // namespace shiplog::ctl
