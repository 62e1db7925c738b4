#include <ostream>

#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {

void Program::add_audit() {
  const Command list = [this]() -> Result<int> {
    audit_.ns = access_.ns;
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(audit(plane, audit_, to_));
    return 0;
  };
  auto* sub = add(*app_, "audit", "List requests and decisions with their results, newest first", list);
  // Called behind the callback of its subcommand, if there is one.
  sub->callback([this, sub, list] {
    if (sub->get_subcommands().empty()) command_ = list;
  });
  add_audit_sql(*sub);
  add_audit_export(*sub);
  sub->add_option("--user", audit_.user, "Only entries by this user")->type_name("NAME");
  sub->add_option("--service", audit_.service, "Only entries by this service: api, binder, scheduler, ...")
      ->type_name("NAME");
  sub->add_option("--verb", audit_.verb, "Only entries with this verb: create, update, patch, delete, decide, ...")
      ->type_name("VERB");
  sub->add_option("--kind", audit_.kind, "Only entries about objects of this kind, named as for kubectl")
      ->type_name("KIND");
  sub->add_option("--name", audit_.name, "Only entries about objects of this name")->type_name("NAME");
  add_family(*sub, audit_.family);
  sub->add_option("--trace", audit_.trace, "Only entries of this trace: a request and all that followed from it")
      ->check(CLI::Validator{[](std::string& id) {
                               const bool valid =
                                   id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
                               return valid ? std::string{}
                                            : "not a trace id (32 hexadecimal digits, lower case): " + id;
                             },
                             ""})
      ->type_name("ID");
  sub->add_option("--since", audit_.since, "Only entries from this time on: 2024-05-01T12:00:00Z, or 1h (before now)")
      ->type_name("TIME");
  sub->add_option("--until", audit_.until, "Only entries before this time")->type_name("TIME");
  sub->add_flag("--refused", audit_.refused, "Only refused or denied entries");
  sub->add_option("--limit", audit_.limit, "At most this many, the newest; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_output(*sub, audit_.output, {"json", "yaml", "k8s"});
  add_proof(*sub);
}

void Program::add_events() {
  auto* events = app_->add_subcommand("events", "Follow the journal");
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

void Program::add_replay() {
  auto* sub = add(*app_, "replay", "Rebuild the state from a journal and verify it", [this]() -> Result<int> {
    if (to_revision_ >= 0) replay_.to = static_cast<uint64_t>(to_revision_);
    SHIPLOG_TRY(const bool same, replay_journal(backing_, replay_, out_, err_));
    if (same) return 0;
    err_ << "error: " << (replay_.with.empty() ? "this build makes" : "this build or the other one makes")
         << " different decisions than those recorded; each is listed above" << std::endl;
    return 1;
  });
  sub->add_option("--journal", replay_.journal, "The journal (it may be in use)")
      ->required()
      ->type_name("sqlite:FILE|kafka:BROKER,.../FLEET");
  sub->add_option("--kafka-option", replay_.kafka, "A setting of librdkafka; can be repeated")->type_name("KEY=VALUE");
  sub->add_option("--to", to_revision_, "Stop at this revision")->check(CLI::NonNegativeNumber)->type_name("REVISION");
  sub->add_option("--snapshot", replay_.snapshot,
                  "Start from this snapshot [of a trimmed journal: one in the folder snapshots beside its file]")
      ->type_name("FILE");
  auto* verify = sub->add_flag("--verify", replay_.verify, "Run every recorded decision again and compare");
  sub->add_option("--incremental", replay_.incremental,
                  "With --verify: skip the decisions that FILE records as verified, and record there how far this run "
                  "came without a difference")
      ->needs(verify)
      ->type_name("FILE");
  sub->add_option(
         "--with", replay_.with,
         "With --verify: have this shiplogctl, of another build, verify the same journal: which of the recorded "
         "decisions it would make differently")
      ->needs(verify)
      ->type_name("FILE");
  add_output(*sub, replay_.output, {"json"});
}

}  // namespace shiplog::ctl
