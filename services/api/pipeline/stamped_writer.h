#pragma once

#include <memory>
#include <string>

#include "events/base/random.h"
#include "services/http/server.h"

namespace shiplog::api {

/// The request's Audit-Id header, or a new id.
std::string audit_id_of(const HttpRequest& request, Random& random);

/// `writer` with what every answer of the API carries: the Audit-Id, how it may be cached, and, of errors, that a
/// browser must not guess what they are (HTTP-11, ERR-6). Large whole answers are compressed for clients that accept
/// that, streams never (HTTP-10).
std::shared_ptr<ResponseWriter> stamped(std::shared_ptr<ResponseWriter> writer, const HttpRequest& request,
                                        const std::string& audit_id);

}  // namespace shiplog::api
