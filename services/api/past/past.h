#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "events/base/time.h"
#include "events/kinds/kinds.h"
#include "services/api/auth/rbac/policy.h"
#include "services/api/kind_registry.h"
#include "services/api/past/past_path.h"
#include "services/api/store.h"

namespace shiplog::api {

/// A fleet as it was. It never changes.
struct Past {
  UtcMillis time;                            ///< of the moment
  Revision record;                           ///< the newest one of that moment, in each of the two journals
  Revision ephemera;                         ///< 0: nothing of it is kept
  std::shared_ptr<const Kinds> kinds;        ///< that were served
  std::shared_ptr<const RbacPolicy> policy;  ///< who had which permission

  Revision revision(const Kind& kind) const { return kind.ephemeral ? ephemera : record; }
};

/// What a request for the past reads: a moment, and how fast its watches replay what followed.
struct PastView {
  std::shared_ptr<const Past> past;
  double speed = 1;    ///< see PastPath
  std::string prefix;  ///< of the paths of this view: "/at/r4711"
};

/// The time up to which a watch of the past has replayed, `elapsed` after it began; not later than `present`.
UtcMillis replayed_until(const PastView& view, Millis elapsed, UtcMillis present);

/// The past of one server's journals. What was read of the latest few moments is kept. Threads: any.
class PastReader {
 public:
  /// All of them outlive it. `now`: the kinds that are served now.
  PastReader(Store& record, Store& ephemera, const KindRegistry& now)
      : record_{record}, ephemera_{ephemera}, now_{now} {}

  /// Blocks on the projection. Error: kBadRequest, the moment is not within what is kept; the message names what is.
  Result<PastView> open(const PastPath& path, UtcMillis now);

 private:
  Result<std::shared_ptr<Past>> read(const PastPath& path, UtcMillis now) const;

  Store& record_;
  Store& ephemera_;
  const KindRegistry& now_;
  std::mutex mutex_;
  std::list<std::shared_ptr<const Past>> latest_;  // the most recently used one first
};

}  // namespace shiplog::api
