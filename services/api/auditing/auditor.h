#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "services/api/auditing/audit_backend.h"

namespace shiplog::api {

/// The audit log of an API server: its policy, and where events go. Threads: all functions from any.
class Auditor {
 public:
  Auditor(AuditPolicy policy, std::vector<std::unique_ptr<AuditBackend>> backends);

  /// Of one request; counted by level.
  AuditDecision decide(const rbac::User& user, const rbac::Attributes& request) const;
  /// Whether requests wait for a backend.
  bool waits() const { return waits_; }
  /// Records the event in every backend. `done`: called when the backends that requests wait for have it, or have lost
  /// it; at once if there are none of these. False: a strict one has lost it. It must not block. May be empty.
  void record(const AuditLogEvent& event, std::function<void(bool stored)> done) const;

 private:
  AuditPolicy policy_;
  std::vector<std::unique_ptr<AuditBackend>> backends_;
  bool waits_ = false;
};

}  // namespace shiplog::api
