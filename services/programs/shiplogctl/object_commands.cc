#include <chrono>
#include <thread>

#include <CLI/CLI.hpp>

#include "events/base/system.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

constexpr std::chrono::seconds kRefreshEvery{2};

}  // namespace

void Program::add_status() {
  auto* sub =
      add(*app_, "status", "Show the state of the control plane, and what needs attention", [this]() -> Result<int> {
        status_.ns = all_namespaces_ ? "" : access_.ns;
        if (!all_namespaces_) {
          SHIPLOG_TRY(status_.fallback, access_.namespace_or_default());
        }
        SHIPLOG_TRY(auto plane, access_.connect());
        if (watch_) {
          const auto wait = [] {
            std::this_thread::sleep_for(kRefreshEvery);
            return true;
          };
          SHIPLOG_TRY(watch_status(
              plane, status_, app_->get_name(), [] { return SystemClock{}.now(); }, wait, to_));
          return 0;
        }
        SHIPLOG_TRY(ctl::status(plane, status_, app_->get_name(), SystemClock{}.now(), to_));
        return 0;
      });
  sub->add_flag("-A,--all-namespaces", all_namespaces_, "All namespaces; the default where you may list them");
  sub->add_flag("-w,--watch", watch_, "Refresh every 2 seconds until interrupted");
  add_output(*sub, status_.output, {"json", "yaml", "name"});
}

void Program::add_history() {
  auto* sub =
      add(*app_, "history", "Show every version of an object: when, who, why, what changed", [this]() -> Result<int> {
        usage_ = true;
        if (!history_.failovers || !object_.empty()) {
          SHIPLOG_TRY(history_.object, parse_object_argument(object_));
        }
        if (history_.failovers && (history_.chain || !history_.at.empty())) {
          return Error{ErrorCode::kBadRequest, "--failovers goes with neither --chain nor --at"};
        }
        usage_ = false;
        // Of one object its namespace is meant; of the fleet, all unless one is named.
        history_.ns = access_.ns;
        if (!history_.object.kind.empty()) {
          SHIPLOG_TRY(history_.ns, access_.namespace_or_default());
        }
        SHIPLOG_TRY(auto plane, access_.connect());
        SHIPLOG_TRY(history(plane, history_, to_));
        return 0;
      });
  sub->add_option("KIND/NAME", object_,
                  "The object, as for kubectl: deployment/nginx, deploy/nginx, rb nginx-deployment; with --failovers "
                  "none means all of the fleet, or of the namespace of -n")
      ->expected(0, 2);
  sub->add_flag("--failovers", history_.failovers,
                "Show what was evicted from a cluster instead: the cause, where each replica went, how long it took");
  sub->add_flag("--chain", history_.chain, "Show the chain of events that led to the current state instead");
  sub->add_option("--limit", history_.limit, "At most this many versions, the newest; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_at(*sub, history_.at);
  add_output(*sub, history_.output, {"json", "yaml"});
}

void Program::add_why() {
  auto* sub =
      add(*app_, "why", "Explain why an object runs where it does, and why not elsewhere", [this]() -> Result<int> {
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

}  // namespace shiplog::ctl
