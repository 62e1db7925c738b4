#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/state/state.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/ctl.h"
#include "services/programs/shiplogctl/terminal.h"

// One function per command, with the command's options.
namespace shiplog::ctl {

struct GetClustersOptions {
  std::vector<std::string> names;  ///< none: all
  std::string output;              ///< "", "wide", "json", "yaml", "name"
  std::string at;                  ///< as of this revision or time; empty: now
  bool no_headers = false;
};
Result<void> get_clusters(ServerConnection& plane, const GetClustersOptions& options, const Output& to);

/// The query parameters for a GET of the Kubernetes API as of `at` (a revision or a time); empty: now. If the server
/// does not have this revision or time, its error names the available range.
Result<HttpRequest::Query> reads_at(ServerConnection& plane, const std::string& at);

/// "deployment/nginx", or "deployment" and "nginx". Error: kBadRequest.
struct ObjectArgument {
  std::string kind, name;
};
Result<ObjectArgument> parse_object_argument(const std::vector<std::string>& words);

struct HistoryOptions {
  ObjectArgument object;
  std::string ns;
  std::string output;  ///< "", "json", "yaml"
  std::string at;      ///< as of this revision or time; empty: now
  bool chain = false;
  bool failovers = false;  ///< those of the object, or, without one, of all
  int64_t limit = 50;
};
Result<void> history(ServerConnection& plane, const HistoryOptions& options, const Output& to);

struct DiffOptions {
  std::string from, to;   ///< revisions or times; `to` empty: now
  ObjectArgument object;  ///< the name may be empty, and with it the kind
  std::string ns;         ///< empty: all
  std::string user;
  std::string output;  ///< "", "json", "yaml"
  int64_t limit = 1000;
};
Result<void> diff(ServerConnection& plane, const DiffOptions& options, const Output& to);

struct BlameOptions {
  ObjectArgument object;
  std::string ns, field, output, at;
  bool with_status = false;
  int64_t limit = 2000;  ///< versions that are examined
};
Result<void> blame(ServerConnection& plane, const BlameOptions& options, const Output& to);

struct WhyOptions {
  ObjectArgument object;
  std::string ns;
  std::string cluster;  ///< empty: all
  std::string output;   ///< "", "json"
  std::string at;       ///< as of this revision or time; empty: now
};
Result<void> why(ServerConnection& plane, const WhyOptions& options, const Output& to);

struct AuditOptions {
  std::string user, service, verb, kind, ns, name, family, trace, since, until;
  std::string output;  ///< "", "json", "yaml"
  bool refused = false;
  int64_t limit = 100;  ///< 0: all
};
Result<void> audit(ServerConnection& plane, const AuditOptions& options, const Output& to);

/// Which entries; all conditions hold together.
struct TailOptions {
  std::string family, user, service, ns, since;
  std::optional<ObjectArgument> object;
  std::string output;  ///< "", "json" (a line an entry), "yaml" (a document an entry)
  bool refused = false;
  bool since_start = false;
  bool follow = true;
};
/// Prints until the server stops or the command is interrupted.
Result<void> tail_events(ServerConnection& plane, const TailOptions& options, const Output& to);

struct VersionOptions {
  std::string output;  ///< "", "json", "yaml"
  bool client_only = false;
};
/// `version` is the client's version, which is printed first. The server is queried through `connect`, which may fail.
Result<void> print_version(const std::string& version, const std::function<Result<ServerConnection>()>& connect,
                           const VersionOptions& options, const Output& to);

struct ReplayCommandOptions {
  std::string journal;             ///< "sqlite:FILE", "kafka:BROKERS/FLEET"
  std::vector<std::string> kafka;  ///< settings of the Kafka client, KEY=VALUE
  std::optional<uint64_t> to;
  std::string snapshot;  ///< a file to start from; empty: the first entry, or what lies beside a trimmed journal
  bool verify = false;
  std::string incremental;  ///< file that records how far the journal is verified; empty: all of it is verified
  std::string with;         ///< another build's shiplogctl, which verifies the same journal; empty: none
  std::string output;       ///< "", "json", "yaml"
};
/// What a journal folds to, up to `to`. Errors: those of a replay.
Result<State> state_of_journal(const Backing& backing, const ReplayCommandOptions& options, std::ostream& progress);
/// Prints the result. Returns true if there are no differences.
Result<bool> replay_journal(const Backing& backing, const ReplayCommandOptions& options, std::ostream& out,
                            std::ostream& progress);

struct JournalCopyOptions {
  std::string from, to;                    ///< "sqlite:FILE", "kafka:BROKERS/FLEET"
  std::vector<std::string> kafka;          ///< settings of the Kafka client, KEY=VALUE
  int kafka_replicas = 0;                  ///< of topics that are made; 0: three, or as many as there are brokers
  std::string from_keys_dir, to_keys_dir;  ///< fleet.key and pki; empty: beside a journal file
  bool no_verify = false;
};
/// Copies all of a fleet: record, ephemera, keys.
Result<void> copy_journals(const JournalCopyOptions& options, std::ostream& out, std::ostream& progress);

struct BackupCommandOptions {
  std::string data_dir;            ///< of a process: its journal, unless `journal` names another one, and its snapshots
  std::string journal;             ///< "sqlite:FILE", "kafka:BROKERS/FLEET"
  std::vector<std::string> kafka;  ///< settings of the Kafka client, KEY=VALUE
  std::string keys_dir;            ///< empty: beside a journal file
  std::string to;
};
Result<void> backup_fleet(const BackupCommandOptions& options, std::ostream& out);

struct RestoreCommandOptions {
  std::string from;
  std::string to_data_dir;
  std::string to_journal;  ///< "kafka:BROKERS/FLEET"
  std::string to_keys_dir;
  std::vector<std::string> kafka;
  int kafka_replicas = 0;
  int64_t to_revision = -1;  ///< -1: all
  std::string to_time;       ///< RFC 3339; empty: all
};
Result<void> restore_backup(const RestoreCommandOptions& options, std::ostream& out);

}  // namespace shiplog::ctl
