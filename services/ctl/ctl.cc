#include "services/ctl/ctl.h"

#include <cstdlib>
#include <optional>
#include <ostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "services/ctl/commands.h"
#include "services/ctl/join.h"
#include "services/runtime/http/kubeconfig.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kNameOfFamilies = "api, scheduling, dispatch, taint, quota, cluster, control";

/// How to reach the control plane, as kubectl's options say it.
struct Access {
  std::string kubeconfig, context, ns;

  Result<KubeconfigContext> resolve() const {
    SHIPLOG_TRY(const auto config,
                read_kubeconfig(kubeconfig_paths(kubeconfig, std::getenv("KUBECONFIG"), std::getenv("HOME"))));
    return context_of(config, context);
  }
  Result<Connection> connect() const {
    SHIPLOG_TRY(const auto resolved, resolve());
    return Connection::open("the control plane", resolved.target);
  }
  /// The namespace asked for, else the context's.
  Result<std::string> namespace_or_default() const {
    if (!ns.empty()) return ns;
    SHIPLOG_TRY(const auto resolved, resolve());
    return resolved.ns;
  }
};

/// One run of the program: its options, and what the chosen command does with them. 0 or 1, or an Error.
class Program {
 public:
  Program(const Backing& backing, std::string name, std::ostream& out, std::ostream& err)
      : backing_{backing},
        out_{out},
        err_{err},
        app_{"Looks after a shiplog control plane: its member clusters, and what its journal tells.", std::move(name)} {
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.footer(
        "Every command also takes --kubeconfig FILE, --context NAME and -n NS: the control plane, as for kubectl.");
    app_.set_version_flag("--version", backing.version);
    app_.add_option("--kubeconfig", access_.kubeconfig,
                    "Kubeconfig of the control plane (default: $KUBECONFIG, then ~/.kube/config)")
        ->type_name("FILE");
    app_.add_option("--context", access_.context, "Context in it (default: the current one)")->type_name("NAME");
    app_.add_option("-n,--namespace", access_.ns, "Namespace (default: the context's)")->type_name("NS");
    add_join();
    add_unjoin();
    add_rotate();
    add_get();
    add_history();
    add_why();
    add_audit();
    add_events();
    add_replay();
  }

  int run(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app_.exit(error, out_, err_);
      err_ << "error: " << error.what() << "\nRun `" << app_.get_name() << " --help` for what there is." << std::endl;
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
    sub->callback([this, command = std::move(command)] { command_ = command; });
    return sub;
  }
  static void add_output(CLI::App& sub, std::string& output, std::vector<std::string> formats) {
    std::string known;
    for (const std::string& format : formats) known += (known.empty() ? "" : ", ") + format;
    sub.add_option("-o,--output", output, "Output: " + known + " (default: a table)")
        ->check(CLI::IsMember(std::move(formats)))
        ->type_name("FORMAT");
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
      SHIPLOG_TRY(auto member, Connection::open("member cluster " + join_.name, member_context.target));
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(join(plane, member, join_, out_, err_));
      return 0;
    });
    sub->add_option("NAME", join_.name, "What the fleet calls it: a DNS label of at most 48 characters")->required();
    sub->add_option("--cluster-kubeconfig", member_kubeconfig_, "Kubeconfig of the member")
        ->required()
        ->type_name("FILE");
    sub->add_option("--cluster-context", member_context_, "Context in it (default: the current one)")
        ->type_name("NAME");
    sub->add_option("--cluster-namespace", join_.ns, "Where the credentials are kept, here and in the member")
        ->capture_default_str()
        ->type_name("NS");
    sub->add_option("--cluster-provider", join_.provider, "Provider, for policies to choose by")->type_name("TEXT");
    sub->add_option("--cluster-region", join_.region, "Region, for policies to choose by")->type_name("TEXT");
    sub->add_option("--cluster-zones,--cluster-zone", join_.zones, "Zones, comma-separated, for policies to choose by")
        ->delimiter(',')
        ->type_name("ZONE,...");
    sub->add_option("--wait", join_.wait_seconds, "Seconds to wait for it to become ready")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    sub->add_flag("--no-wait", no_wait_, "Do not wait for it to become ready");
    sub->add_flag("--dry-run", join_.dry_run, "Check everything, change nothing");
  }

  void add_unjoin() {
    auto* sub = add(app_, "unjoin", "Take a member cluster out of the fleet", [this]() -> Result<int> {
      SHIPLOG_TRY(check_cluster_name(unjoin_.name));
      SHIPLOG_TRY(auto member, connect_member(unjoin_.name));
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(unjoin(plane, member ? &*member : nullptr, unjoin_, out_, err_));
      return 0;
    });
    sub->add_option("NAME", unjoin_.name, "The member cluster")->required();
    add_member_kubeconfig(*sub);
    sub->add_option("--cluster-namespace", unjoin_.ns, "Where the control plane keeps the member's credentials")
        ->capture_default_str()
        ->type_name("NS");
    sub->add_option("--wait", unjoin_.wait_seconds, "Seconds to wait for the Cluster to be gone")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    sub->add_flag("--force", unjoin_.force, "After that, take the finalizers away: for a member that is gone for good");
    sub->add_flag("--dry-run", unjoin_.dry_run, "Check everything, change nothing");
  }

  void add_rotate() {
    auto* sub = add(app_, "rotate-credentials", "Replace what the control plane logs in to a member with",
                    [this]() -> Result<int> {
                      SHIPLOG_TRY(check_cluster_name(rotate_.name));
                      SHIPLOG_TRY(auto member, connect_member(rotate_.name));
                      SHIPLOG_TRY(auto plane, access_.connect());
                      SHIPLOG_TRY(rotate_credentials(plane, member ? &*member : nullptr, rotate_, out_, err_));
                      return 0;
                    });
    sub->add_option("NAME", rotate_.name, "The member cluster")->required();
    add_member_kubeconfig(*sub);
    sub->add_option("--cluster-namespace", rotate_.ns, "Where the credentials are kept, here and in the member")
        ->capture_default_str()
        ->type_name("NS");
    sub->add_option("--wait", rotate_.wait_seconds, "Seconds to wait for the cluster to be ready with the new ones")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    sub->add_option("--grace", rotate_.grace_seconds, "Seconds for which the old token stays valid beside the new one")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
  }

  /// The user's own way to a member, for commands that can do without.
  void add_member_kubeconfig(CLI::App& sub) {
    sub.add_option("--cluster-kubeconfig", member_kubeconfig_,
                   "Kubeconfig of the member (default: what the control plane logs in with)")
        ->type_name("FILE");
    sub.add_option("--cluster-context", member_context_, "Context in it (default: the current one)")->type_name("NAME");
  }
  Result<std::optional<Connection>> connect_member(const std::string& name) const {
    if (member_kubeconfig_.empty()) return std::optional<Connection>{};
    SHIPLOG_TRY(const auto config, read_kubeconfig({member_kubeconfig_}));
    SHIPLOG_TRY(const auto context, context_of(config, member_context_));
    SHIPLOG_TRY(auto member, Connection::open("member cluster " + name, context.target));
    return std::optional{std::move(member)};
  }

  void add_get() {
    auto* sub = add(app_, "get", "List the member clusters", [this]() -> Result<int> {
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(get_clusters(plane, get_, out_));
      return 0;
    });
    sub->add_option("RESOURCE", resource_, "clusters; for everything else use kubectl get")
        ->required()
        ->check(CLI::IsMember(std::vector<std::string>{"cluster", "clusters", "clusters.cluster.karmada.io"}));
    sub->add_option("NAME", get_.names, "Only these");
    add_output(*sub, get_.output, {"json", "yaml", "wide"});
    add_at(*sub, get_.at);
    sub->add_flag("--no-headers", get_.no_headers, "Rows only");
  }

  void add_history() {
    auto* sub =
        add(app_, "history", "Every version of one object: when, who, why, what changed", [this]() -> Result<int> {
          usage_ = true;
          SHIPLOG_TRY(history_.object, object_words_of(object_));
          usage_ = false;
          SHIPLOG_TRY(history_.ns, access_.namespace_or_default());
          SHIPLOG_TRY(auto plane, access_.connect());
          SHIPLOG_TRY(history(plane, history_, out_));
          return 0;
        });
    sub->add_option("KIND/NAME", object_,
                    "The object, as for kubectl: deployment/nginx, deploy/nginx, rb nginx-deployment")
        ->required()
        ->expected(1, 2);
    sub->add_flag("--chain", history_.chain, "Instead: the chain of events that led to the current state");
    sub->add_option("--limit", history_.limit, "The newest so many versions; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_at(*sub, history_.at);
    add_output(*sub, history_.output, {"json"});
  }

  void add_why() {
    auto* sub = add(app_, "why", "Why an object runs where it does, and what else would have let a cluster have it",
                    [this]() -> Result<int> {
                      usage_ = true;
                      SHIPLOG_TRY(why_.object, object_words_of(object_));
                      usage_ = false;
                      SHIPLOG_TRY(why_.ns, access_.namespace_or_default());
                      SHIPLOG_TRY(auto plane, access_.connect());
                      SHIPLOG_TRY(why(plane, why_, out_));
                      return 0;
                    });
    sub->add_option("KIND/NAME", object_,
                    "A template, a binding or a Work, as for kubectl: deployment/nginx, rb nginx-deployment")
        ->required()
        ->expected(1, 2);
    sub->add_option("--cluster", why_.cluster, "Only about this cluster, in full")->type_name("NAME");
    add_at(*sub, why_.at);
    add_output(*sub, why_.output, {"json"});
  }

  void add_audit() {
    auto* sub =
        add(app_, "audit", "Who asked or decided what, and what came of it; newest first", [this]() -> Result<int> {
          audit_.ns = access_.ns;
          SHIPLOG_TRY(auto plane, access_.connect());
          SHIPLOG_TRY(audit(plane, audit_, out_));
          return 0;
        });
    sub->add_option("--user", audit_.user, "By this user")->type_name("NAME");
    sub->add_option("--service", audit_.service, "By this service: api, binder, scheduler, ...")->type_name("NAME");
    sub->add_option("--verb", audit_.verb, "create, update, patch, delete, decide, ...")->type_name("VERB");
    sub->add_option("--kind", audit_.kind, "About objects of this kind (any word that kubectl takes)")
        ->type_name("KIND");
    sub->add_option("--name", audit_.name, "About objects of this name")->type_name("NAME");
    sub->add_option("--family", audit_.family, std::string{"With an event of this family: "} + kNameOfFamilies)
        ->type_name("FAMILY");
    sub->add_option("--since", audit_.since, "From then on: 2024-05-01T12:00:00Z, or 1h (before now)")
        ->type_name("TIME");
    sub->add_option("--until", audit_.until, "Before then, in the same forms")->type_name("TIME");
    sub->add_flag("--refused", audit_.refused, "Only what was refused or denied");
    sub->add_option("--limit", audit_.limit, "At most so many; 0: all (up to 10000)")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_output(*sub, audit_.output, {"json"});
  }

  void add_events() {
    auto* events = app_.add_subcommand("events", "The journal as it grows");
    events->require_subcommand(1);
    events->fallthrough();
    auto* sub = add(*events, "tail", "Print events as they come, until interrupted", [this]() -> Result<int> {
      tail_.follow = !no_follow_;
      SHIPLOG_TRY(auto plane, access_.connect());
      SHIPLOG_TRY(tail_events(plane, tail_, out_));
      return 0;
    });
    sub->add_option("--family", tail_.family, std::string{"Only this family: "} + kNameOfFamilies)->type_name("FAMILY");
    sub->add_flag("--since-start", tail_.since_start, "Begin with the first entry, not with the next one");
    sub->add_flag("--no-follow", no_follow_, "All entries so far, then end");
    add_output(*sub, tail_.output, {"json"});
  }

  void add_replay() {
    auto* sub = add(app_, "replay", "Rebuild the state from a journal, and check it", [this]() -> Result<int> {
      if (to_ >= 0) replay_.to = static_cast<uint64_t>(to_);
      SHIPLOG_TRY(const bool same, replay_journal(backing_, replay_, out_, err_));
      if (same) return 0;
      err_ << "error: recorded decisions come out differently with this build; each is listed above" << std::endl;
      return 1;
    });
    sub->add_option("--journal", replay_.journal, "The journal (it may be in use)")
        ->required()
        ->type_name("sqlite:FILE|kafka:BROKER,.../FLEET");
    sub->add_option("--kafka-option", replay_.kafka, "A setting of librdkafka; may be given again and again")
        ->type_name("KEY=VALUE");
    sub->add_option("--to", to_, "Stop at this revision")->check(CLI::NonNegativeNumber)->type_name("REVISION");
    sub->add_flag("--verify", replay_.verify, "Run every recorded decision again and compare");
    add_output(*sub, replay_.output, {"json"});
  }

  const Backing& backing_;
  std::ostream& out_;
  std::ostream& err_;
  CLI::App app_;
  Command command_;
  bool usage_ = false;  // a kBadRequest now is about the command line

  Access access_;
  JoinOptions join_;
  std::string member_kubeconfig_, member_context_;
  bool no_wait_ = false;
  UnjoinOptions unjoin_;
  RotateOptions rotate_;
  GetClustersOptions get_;
  std::string resource_;
  HistoryOptions history_;
  WhyOptions why_;
  std::vector<std::string> object_;
  AuditOptions audit_;
  TailOptions tail_;
  bool no_follow_ = false;
  ReplayCommandOptions replay_;
  int64_t to_ = -1;
};

}  // namespace

int run_ctl(int argc, const char* const* argv, const Backing& backing, std::ostream& out, std::ostream& err) {
  const std::string_view invoked = argc > 0 ? argv[0] : "shiplogctl";
  const bool plugin = invoked.substr(invoked.rfind('/') + 1) == "kubectl-shiplog";
  return Program{backing, plugin ? "kubectl shiplog" : "shiplogctl", out, err}.run(argc, argv);
}

}  // namespace shiplog::ctl
