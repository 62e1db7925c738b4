#pragma once

#include <memory>

#include "services/api/auditing/audit_sink.h"
#include "services/api/auditing/rotating_file.h"

namespace shiplog::api {

enum class AuditLogFormat { kJson, kLegacy };

/// Events as lines of a file; of standard output if the path is "-". Error: kIo, the file cannot be opened.
Result<std::unique_ptr<AuditSink>> make_audit_log(RotatingFile::Options file, AuditLogFormat format);

}  // namespace shiplog::api
