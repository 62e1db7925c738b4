#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/api/auditing/auditor.h"

namespace CLI {
class App;
}

namespace shiplog {

/// The flags of one backend that both have.
struct AuditBackendFlags {
  std::string mode;
  api::AuditBatching batching;
  std::string wait;  ///< batching.wait, as a duration
  api::AuditTruncation truncation;
  std::string version = "audit.k8s.io/v1";
};

/// kube-apiserver's flags for its audit log.
struct AuditLogOptions {
  std::string policy_file;  ///< empty: nothing is recorded
  std::string log_path;     ///< "-": standard output; empty: no log file
  std::string log_format = "json";
  int64_t log_max_age = 0;  ///< days
  size_t log_max_backups = 0;
  uint64_t log_max_size = 0;  ///< MiB; 0: 100
  bool log_compress = false;
  AuditBackendFlags log{"blocking", {10'000, 1, Millis{30'000}, false, 0, 0}, "30s", {}};
  std::string webhook_config;  ///< a kubeconfig file; empty: no webhook
  std::string webhook_backoff = "10s";
  AuditBackendFlags webhook{"batch", {10'000, 400, Millis{30'000}, true, 10, 15}, "30s", {}};
};

void add_audit(CLI::App& app, AuditLogOptions& options);
/// Error: kInvalid, naming the flag. `warnings` gets a sentence for each flag without an effect.
Result<void> check_audit(const CLI::App& app, AuditLogOptions& options, bool serves_api,
                         std::vector<std::string>& warnings);

/// nullptr: nothing is recorded. Errors: kInvalid, the policy, naming its file and the fields; kIo, kNotFound, a file
/// cannot be read or opened.
Result<std::unique_ptr<api::Auditor>> make_auditor(const AuditLogOptions& options, const Clock& clock, Random& random);

}  // namespace shiplog
