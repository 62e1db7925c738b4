#pragma once

#include <memory>

#include "events/base/time.h"
#include "events/kinds/kinds.h"
#include "services/api/insight/tenant_view.h"
#include "services/api/insight/why.h"
#include "services/api/store.h"
#include "services/http/server.h"

namespace shiplog::api {

/// Answers GETs below /shiplog/v1/, in JSON: what the record knows beyond objects as they are now.
///   history    every version of one object: time, requester, cause, what changed
///   blame      who set each field of one object, when and why; `field`: only what is below a path, `status=true`: the
///              status too; `limit`: so many versions are examined
///   diff       what is not the same at two revisions or times, `from` and `to` (default: now): of one object, or
///   without
///              `name` of all of a kind, or of all; `user`: only what this user or service changed
///   failovers  what was evicted from a cluster and where it went: of one object, or without `kind` of all
///   chain      the entries that led to one object's current version, oldest first, across objects
///   why        which policy and placement an object runs by, what each cluster's verdict was, what it would have
///              needed, and what holds it up at present
///   effects    everything that followed from one entry: `of` is its revision, a time or its id; `limit` entries,
///              `depth` steps, `within` a duration
///   decisions  what services decided about one object, with explanations
///   audit      entries, by requester, verb, object, time, refused or not; `format=k8s`: as audit.k8s.io/v1 Events
///   events     entries from an offset on, one JSON document a line; with follow=true it continues with new ones
///   export     all objects as of a revision, page by page; the caller has checked that the user may list everything
///   state      revision, next offset and state hash
///   status     journal, projection, state and roles with figures
///   revision   the revision that `at` means
///
/// One object: `kind` (any word that kubectl takes: "deploy", "deployments.apps") or `type` (exactly), `namespace`
/// ("default" when left out), `name`. Times: RFC 3339, or a duration ("1h") before `clock`. `at` of history, chain and
/// why: a revision or a time.
/// `sources`: what `why` requests from the scheduler, and which roles are led.
/// `reader`: what the requester may read. Who may not read everything gets history, blame, diff and why of one object,
/// as tenant_view.h shows them; the caller has checked that the requester may get that object.
/// False: the path is not below /shiplog/v1/, and nothing was answered. Errors are answered as metav1.Status.
/// Blocks on the projection; a followed stream continues in a thread of its own, and no longer uses `store` once the
/// writer is closed. Threads: any.
bool serve_insight(Store& store, const Clock& clock, const std::shared_ptr<const Kinds>& kinds, const Sources& sources,
                   const HttpRequest& request, std::shared_ptr<ResponseWriter> writer,
                   const InsightReader& reader = {});

/// The object that a GET of history, blame, diff or why is about; nullopt: it is another request, or names none.
std::optional<ObjectKey> object_in_question(const std::shared_ptr<const Kinds>& kinds, const HttpRequest& request);

}  // namespace shiplog::api
