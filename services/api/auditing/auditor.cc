#include "services/api/auditing/auditor.h"

#include <algorithm>
#include <atomic>

#include "services/runtime/metrics.h"

namespace shiplog::api {
namespace {

metrics::Counter events() {
  static const metrics::CounterFamily family{"apiserver_audit_event_total", "Audit events passed to the backends."};
  static const metrics::Counter counter = family.with({});
  return counter;
}

metrics::Counter rejected() {
  static const metrics::CounterFamily family{"apiserver_audit_requests_rejected_total",
                                             "Requests refused as their audit event could not be written."};
  static const metrics::Counter counter = family.with({});
  return counter;
}

void count_level(AuditLevel level) {
  static const metrics::CounterFamily family{
      "apiserver_audit_level_total", "Requests by the level of the audit policy.", {"level"}};
  static const metrics::Counter counters[] = {
      family.with({name_of(AuditLevel::kNone)}), family.with({name_of(AuditLevel::kMetadata)}),
      family.with({name_of(AuditLevel::kRequest)}), family.with({name_of(AuditLevel::kRequestResponse)})};
  counters[static_cast<size_t>(level)].add();
}

/// Calls `done` once all have reported.
struct PendingEvent {
  std::atomic<size_t> missing;
  std::atomic<bool> stored{true};
  std::function<void(bool)> done;
};

}  // namespace

Auditor::Auditor(AuditPolicy policy, std::vector<std::unique_ptr<AuditBackend>> backends)
    : policy_{std::move(policy)},
      backends_{std::move(backends)},
      waits_{std::ranges::any_of(backends_, [](const auto& each) { return each->mode() != AuditMode::kBatch; })} {
  // Exported from the start, with 0.
  static_cast<void>(events());
  static_cast<void>(rejected());
}

AuditDecision Auditor::decide(const rbac::User& user, const rbac::Attributes& request) const {
  const AuditDecision decision = decide_audit(policy_, user, request);
  count_level(decision.level);
  return decision;
}

void Auditor::record(const AuditLogEvent& event, std::function<void(bool stored)> done) const {
  events().add();
  auto pending = std::make_shared<PendingEvent>();
  pending->done = std::move(done);
  pending->missing = 1;  // this function
  const bool refuses = event.stage == AuditStage::kRequestReceived;
  const auto finish = [pending, refuses] {
    if (--pending->missing != 0) return;
    if (refuses && !pending->stored) rejected().add();
    if (pending->done) pending->done(pending->stored);
  };
  for (const auto& backend : backends_) {
    const AuditMode mode = backend->mode();
    if (mode == AuditMode::kBatch) {
      backend->record(event, nullptr);
      continue;
    }
    ++pending->missing;
    backend->record(event, [pending, finish, mode](const Result<void>& recorded) {
      if (!recorded && mode == AuditMode::kBlockingStrict) pending->stored = false;
      finish();
    });
  }
  finish();
}

}  // namespace shiplog::api
