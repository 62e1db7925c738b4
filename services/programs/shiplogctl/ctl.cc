#include "services/programs/shiplogctl/ctl.h"

#include <cstdlib>
#include <optional>
#include <ostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "events/base/system.h"
#include "services/http/kubeconfig.h"
#include "services/programs/shiplogctl/access.h"
#include "services/programs/shiplogctl/command_line.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/programs/shiplogctl/completion.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/status.h"
#include "services/programs/shiplogctl/suggest.h"
#include "services/programs/shiplogctl/workloads.h"

namespace shiplog::ctl {
namespace {

const std::vector<std::string>& families() {
  static const std::vector<std::string> names = {"api",   "scheduling", "dispatch", "taint",
                                                 "quota", "cluster",    "control"};
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// One run of the program: its options and commands. A command returns 0 or 1, or an Error.
class Program {
 public:
  Program(const Backing& backing, std::string name, std::ostream& out, std::ostream& err)
      : backing_{backing},
        out_{out},
        err_{err},
        to_{out, err, backing.terminal},
        app_{"Manages a shiplog control plane: its member clusters and its journal.", std::move(name)} {
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.footer("Run `" + app_.get_name() + " COMMAND --help` for the options of a command.");
    app_.set_version_flag("--version", backing.version, "Print the version of this program and exit");
    app_.set_help_flag("-h,--help", "Print this help and exit");
    access_.add_options(app_);
    add_join();
    add_unjoin();
    add_rotate();
    add_get();
    add_status();
    add_history();
    add_why();
    add_audit();
    add_events();
    add_replay();
    add_version();
    add_completion();
  }

  /// `words`: the words of the incomplete command line; the last one may be empty.
  int complete(std::vector<std::string> words) {
    ctl::complete(app_, values_, access_, std::move(words), out_);
    return 0;
  }

  int run(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app_.exit(error, out_, err_);
      const std::string unknown = unknown_word(app_, std::vector<std::string>(argv + 1, argv + argc));
      err_ << "error: " << (unknown.empty() ? std::string{error.what()} : unknown) << "\nRun `" << app_.get_name()
           << " --help` for usage." << std::endl;
      return 2;
    }
    const auto done = command_();
    if (done) return done.value();
    err_ << "error: " << done.error().message << std::endl;
    return done.error().code == ErrorCode::kBadRequest && usage_ ? 2 : 1;
  }

 private:
  using Command = std::function<Result<int>()>;

  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& what, Command command) {
    auto* sub = parent.add_subcommand(name, what);
    sub->fallthrough();
    sub->footer("Global options (--kubeconfig, --context, -n, --as, --as-group, --as-uid): `" + app_.get_name() +
                " --help`.");
    sub->callback([this, command = std::move(command)] { command_ = command; });
    return sub;
  }
  void add_output(CLI::App& sub, std::string& output, const std::vector<std::string>& formats) {
    auto* option = sub.add_option("-o,--output", output, "Output format: " + joined(formats) + " (default: text)")
                       ->check(CLI::IsMember(formats))
                       ->type_name("FORMAT");
    values_[option] = formats;
  }
  void add_family(CLI::App& sub, std::string& family) {
    values_[sub.add_option("--family", family, "Only entries with an event of this family: " + joined(families()))
                ->type_name("FAMILY")] = families();
  }

  static void add_at(CLI::App& sub, std::string& at) {
    sub.add_option("--at", at, "As of this revision or time: 41, 2024-05-01T12:00:00Z, 2h (before now)")
        ->type_name("REVISION|TIME");
  }

  void add_join() {
    auto* sub = add(app_, "join", "Add a member cluster (Push mode)", [this]() -> Result<int> {
      SHIPLOG_TRY(check_cluster_name(join_.name));
      if (no_wait_) join_.wait_seconds = 0;
      SHIPLOG_TRY(const auto config, read_kubeconfig({member_kubeconfig_}));
      SHIPLOG_TRY(const auto member_context, context_of(config, member_context_));
      SHIPLOG_TRY(auto member, ServerConnection::open("member cluster " + join_.name, member_context.target));
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(join(plane, member, join_, out_, err_));
      return 0;
    });
    sub->add_option("NAME", join_.name, "Name of the cluster in the fleet: a DNS label of at most 48 characters")
        ->required();
    sub->add_option("--cluster-kubeconfig", member_kubeconfig_, "Kubeconfig of the member")
        ->required()
        ->type_name("FILE");
    sub->add_option("--cluster-context", member_context_, "Context in it (default: the current one)")
        ->type_name("NAME");
    sub->add_option("--cluster-namespace", join_.ns,
                    "Namespace of the credentials, in the control plane and in the member")
        ->capture_default_str()
        ->type_name("NS");
    sub->add_option("--cluster-provider", join_.provider, "Provider, by which policies can select")->type_name("TEXT");
    sub->add_option("--cluster-region", join_.region, "Region, by which policies can select")->type_name("TEXT");
    sub->add_option("--cluster-zones,--cluster-zone", join_.zones,
                    "Zones, comma-separated, by which policies can select")
        ->delimiter(',')
        ->type_name("ZONE,...");
    sub->add_option("--wait", join_.wait_seconds, "Seconds to wait for it to become ready")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    sub->add_flag("--no-wait", no_wait_, "Do not wait for it to become ready");
    sub->add_flag("--dry-run", join_.dry_run, "Check everything, change nothing");
  }

  void add_unjoin() {
    auto* sub = add(app_, "unjoin", "Remove a member cluster", [this]() -> Result<int> {
      SHIPLOG_TRY(check_cluster_name(unjoin_.name));
      SHIPLOG_TRY(auto member, connect_member(unjoin_.name));
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(unjoin(plane, member ? &*member : nullptr, unjoin_, out_, err_));
      return 0;
    });
    sub->add_option("NAME", unjoin_.name, "The member cluster")->required();
    add_member_kubeconfig(*sub);
    sub->add_option("--cluster-namespace", unjoin_.ns, "Namespace of the member's credentials in the control plane")
        ->capture_default_str()
        ->type_name("NS");
    sub->add_option("--wait", unjoin_.wait_seconds, "Seconds to wait for the removal of the Cluster")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    sub->add_flag("--force", unjoin_.force, "Then remove the finalizers: for a member that no longer exists");
    sub->add_flag("--dry-run", unjoin_.dry_run, "Check everything, change nothing");
  }

  void add_rotate() {
    auto* sub = add(app_, "rotate-credentials", "Replace the credentials that the control plane uses for a member",
                    [this]() -> Result<int> {
                      SHIPLOG_TRY(check_cluster_name(rotate_.name));
                      SHIPLOG_TRY(auto member, connect_member(rotate_.name));
                      SHIPLOG_TRY(auto plane, access_.connect());
                      SHIPLOG_TRY(rotate_credentials(plane, member ? &*member : nullptr, rotate_, out_, err_));
                      return 0;
                    });
    sub->add_option("NAME", rotate_.name, "The member cluster")->required();
    add_member_kubeconfig(*sub);
    sub->add_option("--cluster-namespace", rotate_.ns,
                    "Namespace of the credentials, in the control plane and in the member")
        ->capture_default_str()
        ->type_name("NS");
    sub->add_option("--wait", rotate_.wait_seconds,
                    "Seconds to wait for the cluster to be ready with the new credentials")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    sub->add_option("--grace", rotate_.grace_seconds,
                    "Seconds for which the old token stays valid in addition to the new one")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
  }

  /// The user's own access to a member, for commands in which it is optional.
  void add_member_kubeconfig(CLI::App& sub) {
    sub.add_option("--cluster-kubeconfig", member_kubeconfig_,
                   "Kubeconfig of the member (default: the credentials of the control plane)")
        ->type_name("FILE");
    sub.add_option("--cluster-context", member_context_, "Context in it (default: the current one)")->type_name("NAME");
  }
  Result<std::optional<ServerConnection>> connect_member(const std::string& name) const {
    if (member_kubeconfig_.empty()) return std::optional<ServerConnection>{};
    SHIPLOG_TRY(const auto config, read_kubeconfig({member_kubeconfig_}));
    SHIPLOG_TRY(const auto context, context_of(config, member_context_));
    SHIPLOG_TRY(auto member, ServerConnection::open("member cluster " + name, context.target));
    return std::optional{std::move(member)};
  }

  void add_get() {
    auto* sub = add(app_, "get", "List member clusters, or workloads by cluster", [this]() -> Result<int> {
      const std::vector<std::string> clusters = {"clusters", "cluster", "clusters.cluster.karmada.io"};
      const std::vector<std::string> workloads = {"workloads", "workload"};
      const auto is = [this](const auto& names) { return std::ranges::find(names, resource_) != names.end(); };
      if (is(clusters)) {
        SHIPLOG_TRY(auto plane, access_.connect());
        SHIPLOG_TRY(get_clusters(plane, get_, to_));
        return 0;
      }
      usage_ = true;
      if (!is(workloads)) {
        return Error{ErrorCode::kBadRequest,
                     "there is no resource \"" + resource_ +
                         "\" in this command: it lists clusters and workloads; for all others use "
                         "kubectl get" +
                         did_you_mean(resource_, {"clusters", "workloads"})};
      }
      if (!get_.names.empty()) {
        return Error{ErrorCode::kBadRequest, "get workloads takes no names: select by --cluster and namespace"};
      }
      usage_ = false;
      workloads_.output = get_.output;
      workloads_.at = get_.at;
      workloads_.no_headers = get_.no_headers;
      if (!all_namespaces_) {
        SHIPLOG_TRY(workloads_.ns, access_.namespace_or_default());
      }
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(get_workloads(plane, workloads_, SystemClock{}.now(), to_));
      return 0;
    });
    sub->add_option("RESOURCE", resource_, "clusters or workloads; for all others use kubectl get")->required();
    sub->add_option("NAME", get_.names, "Only these clusters");
    sub->add_option("--cluster", workloads_.cluster, "Only workloads on this cluster")->type_name("NAME");
    sub->add_flag("-A,--all-namespaces", all_namespaces_, "Workloads of all namespaces");
    sub->add_flag("--all-kinds", workloads_.all_kinds, "With workloads: also objects that run no pods");
    add_output(*sub, get_.output, {"json", "yaml", "name", "wide"});
    add_at(*sub, get_.at);
    sub->add_flag("--no-headers", get_.no_headers, "Print rows only");
  }

  void add_status() {
    auto* sub = add(app_, "status", "Show objects that are unscheduled, unhealthy or pending", [this]() -> Result<int> {
      status_.ns = all_namespaces_ ? "" : access_.ns;
      if (!all_namespaces_) {
        SHIPLOG_TRY(status_.fallback, access_.namespace_or_default());
      }
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(ctl::status(plane, status_, app_.get_name(), SystemClock{}.now(), to_));
      return 0;
    });
    sub->add_flag("-A,--all-namespaces", all_namespaces_, "All namespaces; the default where you may list them");
    add_output(*sub, status_.output, {"json", "yaml", "name"});
  }

  void add_history() {
    auto* sub =
        add(app_, "history", "Show every version of an object: when, who, why, what changed", [this]() -> Result<int> {
          usage_ = true;
          SHIPLOG_TRY(history_.object, parse_object_argument(object_));
          usage_ = false;
          SHIPLOG_TRY(history_.ns, access_.namespace_or_default());
          SHIPLOG_TRY(auto plane, access_.connect());
          SHIPLOG_TRY(history(plane, history_, to_));
          return 0;
        });
    sub->add_option("KIND/NAME", object_,
                    "The object, as for kubectl: deployment/nginx, deploy/nginx, rb nginx-deployment")
        ->required()
        ->expected(1, 2);
    sub->add_flag("--chain", history_.chain, "Show the chain of events that led to the current state instead");
    sub->add_option("--limit", history_.limit, "At most this many versions, the newest; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_at(*sub, history_.at);
    add_output(*sub, history_.output, {"json", "yaml"});
  }

  void add_why() {
    auto* sub =
        add(app_, "why", "Explain why an object runs where it does, and why not elsewhere", [this]() -> Result<int> {
          usage_ = true;
          SHIPLOG_TRY(why_.object, parse_object_argument(object_));
          usage_ = false;
          SHIPLOG_TRY(why_.ns, access_.namespace_or_default());
          SHIPLOG_TRY(auto plane, access_.connect());
          SHIPLOG_TRY(why(plane, why_, to_));
          return 0;
        });
    sub->add_option("KIND/NAME", object_,
                    "A template, a binding or a Work, as for kubectl: deployment/nginx, rb nginx-deployment")
        ->required()
        ->expected(1, 2);
    sub->add_option("--cluster", why_.cluster, "Only this cluster, in full")->type_name("NAME");
    add_at(*sub, why_.at);
    add_output(*sub, why_.output, {"json", "yaml"});
  }

  void add_audit() {
    auto* sub =
        add(app_, "audit", "List requests and decisions with their results, newest first", [this]() -> Result<int> {
          audit_.ns = access_.ns;
          SHIPLOG_TRY(auto plane, access_.connect());
          SHIPLOG_TRY(audit(plane, audit_, to_));
          return 0;
        });
    sub->add_option("--user", audit_.user, "Only entries by this user")->type_name("NAME");
    sub->add_option("--service", audit_.service, "Only entries by this service: api, binder, scheduler, ...")
        ->type_name("NAME");
    sub->add_option("--verb", audit_.verb, "Only entries with this verb: create, update, patch, delete, decide, ...")
        ->type_name("VERB");
    sub->add_option("--kind", audit_.kind, "Only entries about objects of this kind, named as for kubectl")
        ->type_name("KIND");
    sub->add_option("--name", audit_.name, "Only entries about objects of this name")->type_name("NAME");
    add_family(*sub, audit_.family);
    sub->add_option("--since", audit_.since, "Only entries from this time on: 2024-05-01T12:00:00Z, or 1h (before now)")
        ->type_name("TIME");
    sub->add_option("--until", audit_.until, "Only entries before this time")->type_name("TIME");
    sub->add_flag("--refused", audit_.refused, "Only refused or denied entries");
    sub->add_option("--limit", audit_.limit, "At most this many, the newest; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_output(*sub, audit_.output, {"json", "yaml"});
  }

  void add_events() {
    auto* events = app_.add_subcommand("events", "Follow the journal");
    events->require_subcommand(1);
    events->fallthrough();
    auto* sub = add(*events, "tail", "Print events as they are appended, until interrupted", [this]() -> Result<int> {
      tail_.follow = !no_follow_;
      tail_.ns = access_.ns;
      usage_ = true;
      if (!object_.empty()) {
        SHIPLOG_TRY(tail_.object, parse_object_argument(object_));
        SHIPLOG_TRY(tail_.ns, access_.namespace_or_default());
      }
      usage_ = false;
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(tail_events(plane, tail_, to_));
      return 0;
    });
    sub->add_option("KIND/NAME", object_, "Only entries about this object or that changed it; -n is its namespace")
        ->expected(1, 2);
    add_family(*sub, tail_.family);
    sub->add_option("--user", tail_.user, "Only entries by this user")->type_name("NAME");
    sub->add_option("--service", tail_.service, "Only entries by this service: api, binder, scheduler, ...")
        ->type_name("NAME");
    sub->add_option("--since", tail_.since, "Start at this time: 2024-05-01T12:00:00Z, or 1h (before now)")
        ->type_name("TIME");
    sub->add_flag("--refused", tail_.refused, "Only refused or denied entries");
    sub->add_flag("--since-start", tail_.since_start, "Start with the first entry of the journal");
    sub->add_flag("--no-follow", no_follow_, "Print the entries that exist, then exit");
    add_output(*sub, tail_.output, {"json", "yaml"});
  }

  void add_version() {
    auto* sub = add(app_, "version", "Print the versions of this program and of the server", [this]() -> Result<int> {
      SHIPLOG_TRY(print_version(
          backing_.version, [this] { return access_.connect(); }, version_, to_));
      return 0;
    });
    sub->add_flag("--client", version_.client_only, "Do not query the server");
    add_output(*sub, version_.output, {"json", "yaml"});
  }

  void add_completion() {
    auto* sub = add(app_, "completion", "Print the script that completes commands in a shell", [this]() -> Result<int> {
      usage_ = true;
      SHIPLOG_TRY(const auto script, completion_script(shell_));
      out_ << script << std::flush;
      return 0;
    });
    sub->add_option("SHELL", shell_, "bash, zsh or fish")->required();
    sub->footer(
        "bash:  source <(shiplogctl completion bash)\nzsh:   source <(shiplogctl completion zsh)\n"
        "fish:  shiplogctl completion fish | source\n"
        "kubectl completes `kubectl shiplog` by itself when kubectl_complete-shiplog is on the PATH.");
  }

  void add_replay() {
    auto* sub = add(app_, "replay", "Rebuild the state from a journal and verify it", [this]() -> Result<int> {
      if (to_revision_ >= 0) replay_.to = static_cast<uint64_t>(to_revision_);
      SHIPLOG_TRY(const bool same, replay_journal(backing_, replay_, out_, err_));
      if (same) return 0;
      err_ << "error: this build makes different decisions than those recorded; each is listed above" << std::endl;
      return 1;
    });
    sub->add_option("--journal", replay_.journal, "The journal (it may be in use)")
        ->required()
        ->type_name("sqlite:FILE|kafka:BROKER,.../FLEET");
    sub->add_option("--kafka-option", replay_.kafka, "A setting of librdkafka; can be repeated")
        ->type_name("KEY=VALUE");
    sub->add_option("--to", to_revision_, "Stop at this revision")
        ->check(CLI::NonNegativeNumber)
        ->type_name("REVISION");
    sub->add_flag("--verify", replay_.verify, "Run every recorded decision again and compare");
    add_output(*sub, replay_.output, {"json"});
  }

  const Backing& backing_;
  std::ostream& out_;
  std::ostream& err_;
  const Output to_;
  CLI::App app_;
  OptionValues values_;
  Command command_;
  bool usage_ = false;  // a kBadRequest is an error in the command line

  AccessOptions access_;
  JoinOptions join_;
  std::string member_kubeconfig_, member_context_;
  bool no_wait_ = false;
  UnjoinOptions unjoin_;
  RotateOptions rotate_;
  GetClustersOptions get_;
  std::string resource_;
  WorkloadsOptions workloads_;
  StatusOptions status_;
  bool all_namespaces_ = false;
  VersionOptions version_;
  std::string shell_;
  HistoryOptions history_;
  WhyOptions why_;
  std::vector<std::string> object_;
  AuditOptions audit_;
  TailOptions tail_;
  bool no_follow_ = false;
  ReplayCommandOptions replay_;
  int64_t to_revision_ = -1;
};

}  // namespace

int run_ctl(int argc, const char* const* argv, const Backing& backing, std::ostream& out, std::ostream& err) {
  const std::string_view invoked = argc > 0 ? argv[0] : "shiplogctl";
  const std::string_view name = invoked.substr(invoked.rfind('/') + 1);
  const bool completes_plugin = name == "kubectl_complete-shiplog";
  Program program{backing, completes_plugin || name == "kubectl-shiplog" ? "kubectl shiplog" : "shiplogctl", out, err};
  const bool completes = argc > 1 && argv[1] == std::string_view{"__complete"};
  if (completes_plugin || completes) return program.complete({argv + (completes ? 2 : 1), argv + argc});
  return program.run(argc, argv);
}

}  // namespace shiplog::ctl
