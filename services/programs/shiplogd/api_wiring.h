#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "events/base/random.h"
#include "services/adapters/vault/vault.h"
#include "services/api/api_server.h"
#include "services/api/auth/access.h"
#include "services/api/auth/token_signer.h"
#include "services/api/kind_registry.h"
#include "services/api/storage_objects.h"
#include "services/programs/shiplogd/journal_stack.h"
#include "services/programs/shiplogd/process.h"
#include "services/runtime/health.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {

/// What connects an API server with the journals of its process, in a control plane and in a trial member alike: the
/// caches that it reads, which observe the record, and the options that follow from them.
class ApiWiring {
 public:
  struct Options {
    JournalStack* record = nullptr;
    JournalStack* ephemera = nullptr;  ///< may be the same as `record`
    ThreadLoop* loop = nullptr;
    Random* random = nullptr;
    Vault* vault = nullptr;  ///< may be nullptr: nothing is sealed
  };
  /// Everything in `options` outlives this, and this outlives the replicas.
  ApiWiring() = default;

  /// Before the record starts.
  void observe(const Options& options);
  /// Takes in the state that the record was restored with. Threads: the executor.
  void load(const State& state);
  /// The same of the ephemera, where they have a journal of their own.
  void load_ephemera(const State& state) { ephemera_objects_.load(state); }
  /// For ApiServer::start(); the caller adds what is special to its program. Error: kInvalid, a key cannot be read.
  Result<api::ApiServer::Options> api_options(const CommonOptions& common, const HostPort& listen,
                                              const Identity& identity);
  const api::KindRegistry& kinds() const { return kind_registry_; }
  /// The fold thread and the journals. Threads: any.
  std::vector<HealthCheck> health(std::string_view path) const;

 private:
  Options options_;
  api::KindRegistry kind_registry_{Kinds::compiled()};
  api::Access access_;
  api::StorageObjects record_objects_, ephemera_objects_;
  std::unique_ptr<api::TokenSigner> tokens_;
};

/// What a replica calls that cannot go on: logs it, and stops the process with exit code 1.
void stop_after_failure(const Error& error);

}  // namespace shiplog
