#include "services/api/auditing/audit_log_sink.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <unistd.h>

#include "events/base/json.h"
#include "services/api/auditing/audit_event.h"

namespace shiplog::api {
namespace {

Result<void> write_to_stdout(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error{ErrorCode::kIo, std::string{"standard output: "} + std::strerror(errno)};
    lines.remove_prefix(static_cast<size_t>(written));
  }
  return ok();
}

class AuditLogSink final : public AuditSink {
 public:
  AuditLogSink(std::unique_ptr<RotatingFile> file, AuditLogFormat format) : file_{std::move(file)}, format_{format} {}

  Result<void> deliver(const std::vector<Value>& events) override {
    std::string lines;
    for (const Value& event : events) {
      if (format_ == AuditLogFormat::kLegacy) {
        lines += legacy_line(event);
      } else {
        append_json(event, lines);
      }
      lines += '\n';
    }
    return file_ == nullptr ? write_to_stdout(lines) : file_->append(lines);
  }

 private:
  std::unique_ptr<RotatingFile> file_;  ///< nullptr: standard output
  AuditLogFormat format_;
};

}  // namespace

Result<std::unique_ptr<AuditSink>> make_audit_log(RotatingFile::Options options, AuditLogFormat format) {
  std::unique_ptr<RotatingFile> file;
  if (options.path != "-") {
    SHIPLOG_TRY(file, RotatingFile::open(std::move(options)));
  }
  return std::unique_ptr<AuditSink>{std::make_unique<AuditLogSink>(std::move(file), format)};
}

}  // namespace shiplog::api
