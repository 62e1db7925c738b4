#pragma once

#include <memory>
#include <string>

#include "events/base/random.h"
#include "events/base/time.h"
#include "services/api/auditing/audit_sink.h"

namespace shiplog::api {

/// POSTs EventLists to the server that the current context of a kubeconfig file names, whose URL may have a path. A
/// delivery that the server cannot take now (no connection, 429, 5xx) is tried five times in all, as kube-apiserver
/// does: after `backoff`, and each time half as long again. Errors: kNotFound, kIo, kBadRequest and kInvalid of the
/// file.
Result<std::unique_ptr<AuditSink>> make_audit_webhook(const std::string& kubeconfig, Millis backoff, Random& random);

}  // namespace shiplog::api
