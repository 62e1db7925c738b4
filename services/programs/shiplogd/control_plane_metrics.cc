#include "services/programs/shiplogd/control_plane_metrics.h"

#include <chrono>

#include "events/base/system.h"
#include "services/adapters/members/https_members.h"
#include "services/adapters/sandbox/script_resolver.h"
#include "services/adapters/vault/vault.h"
#include "services/programs/shiplogd/quarantine.h"
#include "services/roles/recorder/recorder.h"
#include "services/runtime/journal_outage.h"
#include "services/runtime/leaders.h"
#include "services/runtime/replica.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

using metrics::CounterFamily;
using metrics::GaugeFamily;

template <class Number>
void set(const GaugeFamily& family, Number value) {
  family.with({}).set(static_cast<double>(value));
}

void copy_replica(Replica& replica, const ThreadLoop& loop) {
  static const GaugeFamily revision{"shiplog_revision", "Newest folded revision."};
  static const CounterFamily entries{"shiplog_entries_folded_total", "Journal entries folded."};
  static const GaugeFamily offset{"shiplog_journal_offset", "Offset after the last folded entry."};
  static const GaugeFamily caught_up{"shiplog_caught_up",
                                     "1 once everything that was in the journal at the start is folded."};
  static const GaugeFamily busy{"shiplog_fold_thread_busy_seconds", "Duration of what the fold thread does now."};
  static const GaugeFamily behind{"shiplog_clock_behind_seconds",
                                  "How far the time of this process is behind the machine's clock, which was set."};
  set(behind, static_cast<double>(SystemClock{}.behind().value) / 1000);
  set(revision, replica.feed().revision().value);
  entries.with({}).set_total(replica.entries_folded());
  set(offset, replica.next().value);
  set(caught_up, replica.caught_up() ? 1 : 0);
  set(busy, static_cast<double>(loop.busy_for().value) / 1000);
}

void copy_outages(const ControlPlaneSources& sources) {
  static const GaugeFamily unreadable{
      "shiplog_journal_unreadable_seconds",
      "Seconds for which this process has not been able to read the journal; 0: it can read it.",
      {"journal"}};
  const auto now = std::chrono::steady_clock::now();
  unreadable.with({"journal"}).set(static_cast<double>(sources.record_outage.so_far(now).count()));
  unreadable.with({"ephemera"}).set(static_cast<double>(sources.ephemera_outage.so_far(now).count()));
}

void copy_interpreter(const Quarantine& quarantine, const ScriptResolver& scripts) {
  static const GaugeFamily quarantined{
      "shiplog_interpreter_quarantined_functions",
      "Functions of ResourceInterpreterCustomizations that are not run because they exceeded a limit."};
  static const CounterFamily calls{"shiplog_interpreter_calls_total", "Interpreter scripts run."};
  static const CounterFamily killed{"shiplog_interpreter_killed_total",
                                    "Interpreter scripts whose process was killed."};
  set(quarantined, quarantine.functions());
  calls.with({}).set_total(scripts.calls());
  killed.with({}).set_total(scripts.killed());
}

void copy_recorder(const Recorder& recorder) {
  static const CounterFamily recorded{"shiplog_events_recorded_total",
                                      "Kubernetes Events that were created or counted up."};
  static const CounterFamily dropped{"shiplog_events_dropped_total",
                                     "Kubernetes Events that were dropped because there were too many."};
  static const CounterFamily filtered{"shiplog_events_filtered_total",
                                      "Kubernetes Events that were not written, as their component reports too much "
                                      "about their object; the next one of the same words counts them."};
  recorded.with({}).set_total(recorder.written());
  dropped.with({}).set_total(recorder.dropped());
  filtered.with({}).set_total(recorder.filtered());
}

/// Also of roles that no process has any more: their own series have ended with it.
void copy_leaders(const Leaders& leaders) {
  static const GaugeFamily led{"shiplog_role_led", "Whether some process of the fleet leads for the role.", {"role"}};
  for (const RoleLeadership& role : leaders.now()) {
    if (role.expected) led.with({role.role}).set(role.led ? 1 : 0);
  }
}

}  // namespace

std::unique_ptr<metrics::ScrapeHook> export_control_plane_metrics(const ControlPlaneSources& sources) {
  return std::make_unique<metrics::ScrapeHook>([sources] {
    static const CounterFamily excesses{"shiplog_member_limit_exceeded_total",
                                        "Responses and watches of members that were dropped because of their size."};
    static const GaugeFamily lost{"shiplog_objects_without_key",
                                  "Existing Secrets that cannot be read because their keys are lost."};
    copy_replica(sources.record, sources.loop);
    copy_outages(sources);
    copy_interpreter(sources.quarantine, sources.scripts);
    copy_recorder(sources.recorder);
    excesses.with({}).set_total(sources.members.excesses());
    if (sources.leaders != nullptr) copy_leaders(*sources.leaders);
    if (sources.vault != nullptr) set(lost, sources.vault->lost());
  });
}

}  // namespace shiplog
