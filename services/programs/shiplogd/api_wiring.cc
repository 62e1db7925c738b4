#include "services/programs/shiplogd/api_wiring.h"

#include "services/programs/shiplogd/probes.h"
#include "services/runtime/log.h"

namespace shiplog {

void ApiWiring::observe(const Options& options) {
  options_ = options;
  Replica& record = options.record->replica();
  record.add_observer(kind_registry_);
  record.add_observer(access_);
  record.add_observer(record_objects_);
  if (options.ephemera != options.record) options.ephemera->replica().add_observer(ephemera_objects_);
  if (options.vault != nullptr) record.add_observer(*options.vault);
}

void ApiWiring::load(const State& state) {
  kind_registry_.load(state);
  access_.load(state);
  record_objects_.load(state);
  if (options_.vault != nullptr) options_.vault->load(state);
}

Result<api::ApiServer::Options> ApiWiring::api_options(const CommonOptions& common, const HostPort& listen,
                                                       const Identity& identity) {
  SHIPLOG_TRY(tokens_, api::TokenSigner::from_key(identity.tokens.key_pem));
  api::ApiServer::Options api;
  api.http = http_options(common, listen, identity);
  api.record = &options_.record->store();
  api.ephemera = &options_.ephemera->store();
  api.kinds = &kind_registry_;
  api.clock = options_.loop;
  api.random = options_.random;
  api.vault = options_.vault;
  api.access = &access_;
  api.tokens = tokens_.get();
  api.authority_pem = identity.authority.certificate_pem;
  api.limits = common.limits;
  api.version = SHIPLOG_VERSION;
  api.health = [this](std::string_view path) { return health(path); };
  return api;
}

std::vector<HealthCheck> ApiWiring::health(std::string_view path) const {
  std::vector<HealthCheck> checks = {fold_thread_check(*options_.loop, path)};
  if (path == "/livez") return checks;
  checks.push_back(journal_check("journal", options_.record->replica(), options_.record->outage()));
  checks.push_back(journal_check("ephemera", options_.ephemera->replica(), options_.ephemera->outage()));
  checks.push_back(appends_check("journal-appends", options_.record->replica()));
  checks.push_back(appends_check("ephemera-appends", options_.ephemera->replica()));
  return checks;
}

void stop_after_failure(const Error& error) {
  log::error("process.stopping", {log::kv("reason", error.message)});
  stop_process();
}

}  // namespace shiplog
