#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/event.h"
#include "events/request_source.h"

namespace shiplog {

/// The requester. For a decision, `service` names the role that computed it and `user` is its system identity.
struct Actor {
  std::string user;  ///< "kubernetes-admin", "system:shiplog:scheduler"
  std::vector<std::string> groups;
  std::string service;  ///< role of shiplogd: "api", "binder", "scheduler", ...
  std::string source_ip;
  std::string user_agent;
  bool operator==(const Actor&) const = default;
};

/// The HTTP request behind an entry; empty for decisions.
struct Request {
  std::string verb;  ///< Kubernetes verb: "create", "update", "patch", "delete", ...
  std::string path;  ///< "/apis/apps/v1/namespaces/default/deployments/nginx"
  bool operator==(const Request&) const = default;
};

/// What led to this entry: the entry that triggered it and the revision that one reached.
struct Cause {
  Revision revision;
  EntryId entry_id;
  std::string trace_id;
  bool operator==(const Cause&) const = default;
};

/// The lease an entry was decided under. The fold refuses an epoch older than the newest it has folded for the role.
struct Fence {
  std::string service;  ///< empty: no lease needed (API servers)
  uint64_t epoch = 0;
  bool operator==(const Fence&) const = default;
};

/// A precondition: the object still is at this revision; 0: it does not exist.
struct Expect {
  ObjectKey object;
  Revision revision;
  bool operator==(const Expect&) const = default;
};

/// One journal entry: actor, time, cause, and one or more events, applied together or not at all.
struct Entry {
  EntryId id;
  UtcMillis time;
  Actor actor;
  Request request;
  Cause cause;
  Revision as_of;  ///< the state a decision was computed from
  Fence fence;
  uint32_t fold_version = 1;
  std::vector<Expect> expects;
  std::vector<Event> events;
  RequestSource source;  ///< of a produced request; counts from fold version 5 on
  bool operator==(const Entry&) const = default;
};

}  // namespace shiplog
