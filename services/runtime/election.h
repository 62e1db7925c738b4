#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shiplog {

/// Decides which replica should act for a role. Only liveness depends on it: two that both believe they lead are
/// distinguished by the epoch of LeaseTaken in the journal, and the fold refuses the older.
class Election {
 public:
  virtual ~Election() = default;
  /// Who we are, unique among processes: goes into LeaseTaken.
  virtual const std::string& identity() const = 0;
  /// From now on tries to lead for `service`; `changed` is called on the executor when that begins and when it ends.
  virtual void campaign(const std::string& service, std::function<void(bool leading)> changed) = 0;
  /// No longer leads or tries to: another process may take over at once. `changed` is not called any more.
  virtual void withdraw(const std::string& service) = 0;
  /// From now on other processes see this one among the candidates for the slots of a divided role.
  virtual void announce(const std::string& role) = 0;
  /// The processes that have announced the role and have not fallen silent, this one included, sorted. Views of
  /// different processes may differ for a moment. On the executor.
  virtual std::vector<std::string> candidates(const std::string& role) = 0;
  /// Some process leads for the service now; nullopt: unknown. Costs a system call or a lock; on the executor.
  virtual std::optional<bool> led(const std::string& /*service*/) { return std::nullopt; }
  /// The newest fold version that all living processes support, as they announce it; nullopt: not known yet. On the
  /// executor.
  virtual std::optional<uint32_t> fold_version_of_all() { return std::nullopt; }
  /// Why it is not known at present who leads; empty: it is known. From any thread.
  virtual std::string trouble() { return ""; }
  /// Releases all leases, so that another replica takes over at once.
  virtual void resign() = 0;
};

}  // namespace shiplog
