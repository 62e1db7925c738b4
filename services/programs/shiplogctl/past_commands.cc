#include <algorithm>
#include <cstdlib>

#include <CLI/CLI.hpp>

#include "events/base/system.h"
#include "events/base/yaml.h"
#include "services/http/private_file.h"
#include "services/programs/shiplogctl/credential_plugin.h"
#include "services/programs/shiplogctl/kubeconfig_files.h"
#include "services/programs/shiplogctl/past_context.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

/// The context's name without the moment of an earlier run.
std::string present_name(const std::string& context) { return context.substr(0, context.rfind('@')); }

/// That the server reads the past there, and that the user may.
Result<void> check(KubeconfigContext context, const std::string& prefix, const ImpersonatedUser& as) {
  std::string& url = context.target.url;
  url = url.substr(0, url.find("/at/"));
  while (url.ends_with('/')) url.pop_back();
  url += prefix;
  SHIPLOG_TRY(auto server, connect_to("the control plane", context, as));
  SHIPLOG_TRY(server.get("/version"));
  return ok();
}

}  // namespace

void Program::add_at_command() {
  auto* sub = add(*app_, "at", "Write a kubeconfig context that reads the fleet as it was", [this]() -> Result<int> {
    usage_ = true;
    SHIPLOG_TRY(const std::string moment, moment_of(at_.moment, SystemClock{}.now()));
    usage_ = false;
    SHIPLOG_TRY(const auto resolved, access_.resolve());
    const std::string prefix = "/at/" + moment + (at_.speed.empty() ? "" : ",speed=" + at_.speed);
    SHIPLOG_TRY(check(resolved, prefix, access_.as));
    SHIPLOG_TRY(const auto files, read_kubeconfig_files(kubeconfig_paths(access_.kubeconfig, std::getenv("KUBECONFIG"),
                                                                         std::getenv("HOME"))));
    PastContext past{at_.name, resolved.name, prefix};
    if (past.name.empty()) {
      past.name =
          (resolved.target.url.find("/at/") == std::string::npos ? resolved.name : present_name(resolved.name)) + "@" +
          at_.moment;
      std::ranges::replace(past.name, ' ', '-');
    }
    SHIPLOG_TRY(const KubeconfigFile changed, with_past_context(files, past));
    SHIPLOG_TRY(replace_file(changed.path, to_yaml(changed.content)));
    to_.out << "context \"" << past.name << "\" reads the fleet as of "
            << (moment.starts_with('r') ? "revision " + moment.substr(1) : moment) << " (written to " << changed.path
            << ")\n"
            << "kubectl --context " << past.name << " get deployments -A" << std::endl;
    return 0;
  });
  sub->add_option("MOMENT", at_.moment,
                  "A revision (4711), a time (2024-05-01T03:12:00Z, or 03:12 in UTC), or how long ago it was (2h)")
      ->required();
  sub->add_option("--speed", at_.speed,
                  "How fast watches replay what followed: 1 (default) as it happened, 60 a minute in a second, max")
      ->type_name("N");
  sub->add_option("--name", at_.name, "Name of the context (default: CONTEXT@MOMENT)")->type_name("NAME");
}

void Program::add_diff() {
  auto* sub = add(*app_, "diff", "Show what changed between two moments, by whom and why", [this]() -> Result<int> {
    if (object_.size() == 1 && object_[0].find('/') == std::string::npos) {
      diff_.object.kind = object_[0];
    } else if (!object_.empty()) {
      usage_ = true;
      SHIPLOG_TRY(diff_.object, parse_object_argument(object_));
      usage_ = false;
    }
    // Of one object its namespace is meant; of more, all unless one is named.
    diff_.ns = access_.ns;
    if (!diff_.object.name.empty()) {
      SHIPLOG_TRY(diff_.ns, access_.namespace_or_default());
    }
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(diff(plane, diff_, to_));
    return 0;
  });
  sub->add_option("KIND/NAME", object_, "Only this object, or all of a kind: deployment/nginx, deployments")
      ->expected(0, 2);
  sub->add_option("--from", diff_.from, "A revision, a time, or how long ago it was: 4711, 2024-05-01T03:12:00Z, 2h")
      ->type_name("MOMENT")
      ->required();
  sub->add_option("--to", diff_.to, "The same; now, if it is left out")->type_name("MOMENT");
  sub->add_option("--user", diff_.user, "Only what this user or service changed in between")->type_name("USER");
  sub->add_option("--limit", diff_.limit, "At most this many objects; 0: as many as the server lists")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_output(*sub, diff_.output, {"json", "yaml"});
}

void Program::add_blame() {
  auto* sub = add(*app_, "blame", "Show who set each field of an object last, when and why", [this]() -> Result<int> {
    usage_ = true;
    SHIPLOG_TRY(blame_.object, parse_object_argument(object_));
    usage_ = false;
    SHIPLOG_TRY(blame_.ns, access_.namespace_or_default());
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(blame(plane, blame_, to_));
    return 0;
  });
  sub->add_option("KIND/NAME", object_, "The object, as for kubectl: deployment/nginx, rb nginx-deployment")
      ->required()
      ->expected(1, 2);
  sub->add_option("--field", blame_.field, "Only this field and what is below it: spec.template")->type_name("PATH");
  sub->add_flag("--status", blame_.with_status, "Its status too");
  sub->add_option("--limit", blame_.limit,
                  "Examine at most this many versions, the newest; 0: as many as the server does")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_at(*sub, blame_.at);
  add_output(*sub, blame_.output, {"json", "yaml"});
}

}  // namespace shiplog::ctl
