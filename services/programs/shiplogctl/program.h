#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/programs/shiplogctl/access.h"
#include "services/programs/shiplogctl/audit_commands.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/programs/shiplogctl/completion.h"
#include "services/programs/shiplogctl/debug.h"
#include "services/programs/shiplogctl/effects.h"
#include "services/programs/shiplogctl/get_objects.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/produce.h"
#include "services/programs/shiplogctl/proof.h"
#include "services/programs/shiplogctl/register.h"
#include "services/programs/shiplogctl/rehearse.h"
#include "services/programs/shiplogctl/status.h"
#include "services/programs/shiplogctl/token.h"
#include "services/programs/shiplogctl/workloads.h"

namespace shiplog::ctl {

/// One run of the program: its options and commands. A command returns 0 or 1, or an Error.
class Program {
 public:
  Program(const Backing& backing, const std::string& name, std::ostream& out, std::ostream& err);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// `words`: the words of the incomplete command line; the last one may be empty.
  int complete(std::vector<std::string> words);
  int run(int argc, const char* const* argv);

 private:
  using Command = std::function<Result<int>()>;

  /// The exit code of a command that has ended with `code`: another one than 0 if its output is lost.
  int written(int code);
  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& what, Command command);
  void add_output(CLI::App& sub, std::string& output, const std::vector<std::string>& formats);
  void add_family(CLI::App& sub, std::string& family);
  static void add_at(CLI::App& sub, std::string& at);
  void add_scope(CLI::App& sub, ClusterScope& scope);
  static void add_clusters(CLI::App& sub, ClusterScope& scope);

  // member_commands.cc
  void add_join();
  void add_unjoin();
  void add_rotate();
  // pull_commands.cc
  void add_token();
  void add_register();
  void add_unregister();
  /// The user's own access to a member, for commands in which it is optional.
  void add_member_kubeconfig(CLI::App& sub);
  Result<std::optional<ServerConnection>> connect_member(const std::string& name) const;

  // get_command.cc
  void add_get();
  Result<int> run_get();
  // object_commands.cc
  void add_status();
  void add_history();
  void add_why();

  // cluster_commands.cc
  void add_cordon();
  void add_uncordon();
  void add_taint();
  // apply_command.cc
  void add_apply();
  // promote_command.cc
  void add_promote();
  // top_command.cc
  void add_top();
  // interpret_command.cc
  void add_interpret();
  // kubectl_commands.cc: those that kubectl runs, on the control plane or on a member
  void add_kubectl_commands();
  /// Runs kubectl if the words name one of these commands; nullopt: they do not.
  std::optional<int> run_kubectl_command(const std::vector<std::string>& words);

  // past_commands.cc
  void add_at_command();
  void add_diff();
  void add_blame();

  // effects_command.cc
  void add_effects();

  // produce_command.cc
  void add_produce();

  // journal_commands.cc
  void add_audit();
  // proof_commands.cc: subcommands of audit
  void add_proof(CLI::App& audit);
  void add_events();
  void add_replay();

  // debug_command.cc
  void add_debug();
  void add_bisect();
  // audit_commands.cc
  void add_audit_sql(CLI::App& audit);
  void add_audit_export(CLI::App& audit);

  // rehearse_command.cc
  void add_rehearse();

  // transfer_commands.cc
  void add_journal();
  void add_backup();
  void add_restore();

  void add_version();
  void add_completion();

  const Backing& backing_;
  std::ostream& out_;
  std::ostream& err_;
  const Output to_;
  const std::unique_ptr<CLI::App> app_;
  OptionValues values_;
  Command command_;
  bool usage_ = false;  // a kBadRequest is an error in the command line

  AccessOptions access_;
  JoinOptions join_;
  std::string member_kubeconfig_, member_context_;
  bool no_wait_ = false;
  UnjoinOptions unjoin_;
  RotateOptions rotate_;
  TokenCreateOptions token_;
  std::string token_text_, token_ttl_ = "24h0m0s";
  std::vector<std::string> token_values_;
  RegisterOptions register_;
  std::string discovery_timeout_ = "5m0s", unregister_wait_ = "1m0s", karmada_config_;
  UnregisterOptions unregister_;
  GetClustersOptions get_clusters_;
  GetObjectsOptions get_;
  WorkloadsOptions workloads_;
  StatusOptions status_;
  bool watch_ = false;
  bool all_namespaces_ = false;
  VersionOptions version_;
  std::string shell_;
  HistoryOptions history_;
  WhyOptions why_;
  EffectsOptions effects_;
  struct AtOptions {
    std::string moment, speed, name;
  } at_ = {};
  DiffOptions diff_;
  BlameOptions blame_;
  std::vector<std::string> object_;
  AuditOptions audit_;
  CheckpointOptions checkpoint_;
  ProveOptions prove_;
  VerifyOptions verify_;
  AuditSqlOptions sql_;
  AuditExportOptions export_;
  TailOptions tail_;
  ProduceOptions produce_;
  std::string timeout_ = "60s";
  bool no_follow_ = false;
  ReplayCommandOptions replay_;
  int64_t to_revision_ = -1;
  RehearseCommandOptions rehearse_;
  DebugOptions debug_;
  std::vector<std::string> script_files_, script_commands_;
  BisectOptions bisect_;
  JournalCopyOptions copy_;
  BackupCommandOptions backup_;
  RestoreCommandOptions restore_;
};

}  // namespace shiplog::ctl
