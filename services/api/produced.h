#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/request_source.h"
#include "projections/audit/audit_query.h"
#include "services/api/auth/rbac/rule.h"

namespace shiplog::api {

/// The entry that carried a produced request out.
struct SettlingEntry {
  EntryId id;
  Offset offset;
  Revision revision;  ///< of the state after it
};

/// What connects one HTTP request with the produced request (services/requests) that it stands for, and what the
/// pipeline found out about that. Read once the request is answered; until then the pipeline writes.
struct ProducedRequestLife {
  RequestSource source;
  /// The consumer's committed position, where the request came from a topic; read for every entry.
  std::shared_ptr<const std::atomic<int64_t>> done_before;

  std::string user;                      ///< empty: not authenticated
  std::optional<SettlingEntry> entry;    ///< it was carried out now
  std::optional<SettledRequest> before;  ///< it was settled before, as the audit trail shows
  bool settled = false;                  ///< the fold refused it, as it was settled before
  bool may_quote = false;                ///< the error may quote data of a Secret
};

/// How a request that did not come over HTTP is to be served.
struct Submission {
  std::optional<User> user;                       ///< authenticated before; nullopt: by the request's own credentials
  std::shared_ptr<ProducedRequestLife> produced;  ///< nullptr: it is an ordinary request
};

}  // namespace shiplog::api
