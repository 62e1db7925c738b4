#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

/// A new object. Refused when it exists. The fold fills in metadata.uid (uid_from the entry, unless one is given),
/// metadata.creationTimestamp and metadata.resourceVersion.
struct ObjectCreated {
  ObjectKey object;
  Value value;  ///< whole, defaulted and validated
  bool operator==(const ObjectCreated&) const = default;
};

/// The whole new object. Refused when it does not exist. Keeps uid and creationTimestamp, bumps metadata.generation
/// (where the object has one) when anything but metadata and status differs; without any difference nothing changes.
/// A deleting object whose last finalizer goes is removed.
struct ObjectUpdated {
  ObjectKey object;
  Value value;
  bool operator==(const ObjectUpdated&) const = default;
};

/// The same through the status subresource.
struct StatusUpdated {
  ObjectKey object;
  Value value;  ///< whole object
  bool operator==(const StatusUpdated&) const = default;
};

/// A deletion of the object is requested. Without finalizers it is removed at once; with finalizers it gets a
/// deletionTimestamp, and is removed with the last of them.
struct DeletionRequested {
  ObjectKey object;
  int64_t grace_seconds = 0;
  /// "Background", "Foreground" (adds the foregroundDeletion finalizer) or "Orphan" (adds the orphan finalizer).
  std::string propagation = "Background";
  /// What the deletion follows from: the object's namespace, owner or definition, which is being or has been deleted;
  /// empty: a client requested it.
  ObjectKey because = {};
  bool operator==(const DeletionRequested&) const = default;
};

/// The object is removed, whatever finalizers it has (garbage collection, unjoined members).
struct ObjectRemoved {
  ObjectKey object;
  bool operator==(const ObjectRemoved&) const = default;
};

/// From this fold version on requests to members are recorded.
inline constexpr uint32_t kMemberRequestsFoldVersion = 8;

/// A request that changes something in a member, or may, was passed on to it through clusters/NAME/proxy: audit only,
/// changes nothing here. Refused before kMemberRequestsFoldVersion.
struct MemberRequested {
  ObjectKey cluster;
  std::string method;  ///< "POST"; of an upgraded connection (exec, attach, port-forward) maybe "GET"
  std::string path;    ///< in the member, without the query: "/api/v1/namespaces/default/configmaps"
  int32_t status = 0;  ///< HTTP status of the response: the member's, or this server's where the member gave none
  bool operator==(const MemberRequested&) const = default;
};

/// A request was denied after it was decoded: audit only, changes nothing.
struct RequestDenied {
  ObjectKey object;  ///< as far as known
  int32_t status = 403;
  std::string reason;  ///< "Forbidden", "Invalid", ...
  std::string message;
  bool operator==(const RequestDenied&) const = default;
};

/// Refused requests of one client that were counted instead of recorded one by one: audit only, changes nothing. The
/// client is the entry's actor.
struct RequestsDenied {
  ObjectKey object;  ///< type and namespace they have in common; empty: several
  std::string verb;  ///< "create"; empty: several
  int32_t status = 403;
  std::string reason;   ///< "Forbidden", ...; empty: several
  std::string message;  ///< of the last one
  int64_t count = 0;
  UtcMillis first;  ///< when the first of them was refused
  UtcMillis last;
  bool operator==(const RequestsDenied&) const = default;
};

}  // namespace shiplog
