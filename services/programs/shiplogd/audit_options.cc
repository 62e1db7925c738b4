#include "services/programs/shiplogd/audit_options.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "services/api/auditing/audit_log_sink.h"
#include "services/api/auditing/audit_webhook_sink.h"
#include "services/http/private_file.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;
constexpr uint64_t kDefaultSize = 100;  // MiB, as lumberjack's

const std::vector<std::string>& modes() {
  static const std::vector<std::string> kModes = {"batch", "blocking", "blocking-strict"};
  return kModes;
}

api::AuditMode mode_of(const std::string& word) {
  if (word == "batch") return api::AuditMode::kBatch;
  return word == "blocking" ? api::AuditMode::kBlocking : api::AuditMode::kBlockingStrict;
}

/// "--audit-log-mode" and the like, for `backend` "log" and "webhook".
void add_backend(CLI::App& app, const std::string& backend, AuditBackendFlags& options) {
  const std::string prefix = "--audit-" + backend + "-";
  app.add_option(
         prefix + "mode", options.mode,
         "batch: requests never wait, and events are dropped if the buffer is full; blocking: requests wait for "
         "their events; blocking-strict: requests whose event cannot be written are refused")
      ->check(CLI::IsMember(modes()))
      ->capture_default_str();
  app.add_option(prefix + "version", options.version, "The version of the events")
      ->check(CLI::IsMember({"audit.k8s.io/v1"}))
      ->capture_default_str();
  const std::string batch = prefix + "batch-";
  const std::string only = ". Only in batch mode";
  app.add_option(batch + "buffer-size", options.batching.buffer, "Events that wait; further ones are dropped" + only)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(batch + "max-size", options.batching.batch, "Events of one batch" + only)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(batch + "max-wait", options.wait, "How long a batch waits until it is full" + only)
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_flag(
      batch + "throttle-enable", options.batching.throttled,
      std::string{"Limit the batches of a second"} + only + (options.batching.throttled ? " [true]" : " [false]"));
  app.add_option(batch + "throttle-qps", options.batching.per_second, "Batches of a second" + only)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option(batch + "throttle-burst", options.batching.burst, "Batches that may be sent at once" + only)
      ->capture_default_str();
  const std::string truncate = prefix + "truncate-";
  app.add_flag(truncate + "enabled", options.truncation.enabled, "Shorten events that are too long");
  app.add_option(truncate + "max-event-size", options.truncation.most_event,
                 "A longer event loses its objects; if it is still longer, it is dropped")
      ->check(CLI::PositiveNumber)
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_option(truncate + "max-batch-size", options.truncation.most_batch, "A longer batch is divided")
      ->check(CLI::PositiveNumber)
      ->type_name("BYTES")
      ->capture_default_str();
}

Result<void> check_backend(const CLI::App& app, const std::string& backend, AuditBackendFlags& options, bool used,
                           std::vector<std::string>& warnings) {
  const std::string prefix = "--audit-" + backend + "-";
  const auto wait = parse_duration(options.wait);
  if (!wait || wait.value().value <= 0) {
    return Error{ErrorCode::kInvalid,
                 prefix + "batch-max-wait=" + options.wait + ": use a duration above 0, such as 30s"};
  }
  options.batching.wait = wait.value();
  if (options.batching.throttled && (options.batching.per_second <= 0 || options.batching.burst == 0)) {
    return Error{ErrorCode::kInvalid, prefix + "batch-throttle-enable needs " + prefix + "batch-throttle-qps and " +
                                          prefix + "batch-throttle-burst above 0: nothing would ever be sent"};
  }
  for (const char* flag :
       {"buffer-size", "max-size", "max-wait", "throttle-enable", "throttle-qps", "throttle-burst"}) {
    if (!used || options.mode == "batch" || app.count(prefix + "batch-" + flag) == 0) continue;
    warnings.push_back(prefix + "batch-" + flag + " has no effect: " + prefix + "mode is " + options.mode);
  }
  return ok();
}

std::unique_ptr<api::AuditBackend> backend_of(const std::string& plugin, const AuditBackendFlags& options,
                                              std::unique_ptr<api::AuditSink> sink) {
  api::AuditBackend::Options backend;
  backend.plugin = plugin;
  backend.mode = mode_of(options.mode);
  backend.batching = options.batching;
  backend.truncation = options.truncation;
  return std::make_unique<api::AuditBackend>(std::move(backend), std::move(sink));
}

}  // namespace

void add_audit(CLI::App& app, AuditLogOptions& options) {
  app.add_option("--audit-policy-file", options.policy_file,
                 "An audit.k8s.io/v1 Policy: which requests are recorded besides the journal [none are]")
      ->type_name("FILE");
  app.add_option("--audit-log-path", options.log_path, "Append audit events to this file; - is standard output")
      ->type_name("FILE");
  app.add_option("--audit-log-format", options.log_format, "json, or legacy: one line of text for an event")
      ->check(CLI::IsMember({"json", "legacy"}))
      ->capture_default_str();
  app.add_option("--audit-log-maxage", options.log_max_age, "Delete rotated files after so many days; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--audit-log-maxbackup", options.log_max_backups, "Keep so many rotated files; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--audit-log-maxsize", options.log_max_size, "Rotate the file before it has so many MiB; 0: 100")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--audit-log-compress", options.log_compress, "Compress rotated files with gzip");
  add_backend(app, "log", options.log);
  app.add_option("--audit-webhook-config-file", options.webhook_config,
                 "A kubeconfig file: POST audit events to the server of its current context")
      ->type_name("FILE");
  app.add_option("--audit-webhook-initial-backoff", options.webhook_backoff,
                 "How long a failed call waits before it is tried again, for the first time")
      ->type_name("DURATION")
      ->capture_default_str();
  add_backend(app, "webhook", options.webhook);
}

Result<void> check_audit(const CLI::App& app, AuditLogOptions& options, bool serves_api,
                         std::vector<std::string>& warnings) {
  SHIPLOG_TRY(check_backend(app, "log", options.log, !options.log_path.empty(), warnings));
  SHIPLOG_TRY(check_backend(app, "webhook", options.webhook, !options.webhook_config.empty(), warnings));
  const auto backoff = parse_duration(options.webhook_backoff);
  if (!backoff || backoff.value().value <= 0) {
    return Error{ErrorCode::kInvalid, "--audit-webhook-initial-backoff=" + options.webhook_backoff +
                                          ": use a duration above 0, such as 10s"};
  }
  const bool has_backend = !options.log_path.empty() || !options.webhook_config.empty();
  if (has_backend && options.policy_file.empty()) {
    warnings.emplace_back(
        "--audit-log-path and --audit-webhook-config-file record nothing without --audit-policy-file");
  } else if (!options.policy_file.empty() && !has_backend) {
    warnings.emplace_back("--audit-policy-file has no effect without --audit-log-path or --audit-webhook-config-file");
  } else if (has_backend && !serves_api) {
    warnings.emplace_back("--audit-policy-file has no effect: this process does not have the role api");
  }
  return ok();
}

Result<std::unique_ptr<api::Auditor>> make_auditor(const AuditLogOptions& options, const Clock& clock, Random& random) {
  const bool has_backend = !options.log_path.empty() || !options.webhook_config.empty();
  if (options.policy_file.empty() || !has_backend) return std::unique_ptr<api::Auditor>{};
  SHIPLOG_TRY(const std::string text, read_file(options.policy_file));
  auto policy = api::parse_audit_policy(text);
  if (!policy) return policy.error().context("--audit-policy-file=" + options.policy_file);
  std::vector<std::unique_ptr<api::AuditBackend>> backends;
  if (!options.log_path.empty()) {
    const uint64_t size = options.log_max_size == 0 ? kDefaultSize : options.log_max_size;
    api::RotatingFile::Options file{options.log_path,    size * kMegabyte,     options.log_max_backups,
                                    options.log_max_age, options.log_compress, &clock};
    SHIPLOG_TRY(auto sink,
                api::make_audit_log(std::move(file), options.log_format == "legacy" ? api::AuditLogFormat::kLegacy
                                                                                    : api::AuditLogFormat::kJson));
    backends.push_back(backend_of("log", options.log, std::move(sink)));
  }
  if (!options.webhook_config.empty()) {
    const Millis backoff = parse_duration(options.webhook_backoff).value();
    auto sink = api::make_audit_webhook(options.webhook_config, backoff, random);
    if (!sink) return sink.error().context("--audit-webhook-config-file");
    backends.push_back(backend_of("webhook", options.webhook, std::move(sink).value()));
  }
  log::info("audit.configured", {log::kv("policy", options.policy_file), log::kv("rules", policy.value().rules.size()),
                                 log::kv("log", options.log_path), log::kv("webhook", options.webhook_config)});
  return std::make_unique<api::Auditor>(std::move(policy).value(), std::move(backends));
}

}  // namespace shiplog
