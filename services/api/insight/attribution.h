#pragma once

#include <set>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "projections/audit/audit_query.h"
#include "projections/store/reader.h"

// What led to an entry where the entry itself does not name it, or names something else.
namespace shiplog::api {

/// A user, or the start of a process, requested it: no entry led to it.
bool is_request(const AuditRow& entry);

/// What became of an object in a member: reports of many objects may share an entry, so it names no cause. It follows
/// from what last happened to the same object in another way. (Earlier builds named in a collector's report what had
/// queued its watch, possibly days before: that counts for nothing.)
bool is_report(const AuditRow& entry);

/// A cluster was looked at: no entry led to what was found.
bool is_probe(const AuditRow& entry);

/// The clock brought it about: a CronFederatedHPA was due, or a FederatedHPA found a reason to scale. It follows from
/// what the user last said in that object, whose status is part of the entry.
bool is_scheduled_run(const AuditRow& entry);

/// Whether `entry` names a cause that counts.
bool names_cause(const AuditRow& entry);

/// The kind of the entry's last event about the object; empty: it changed the object besides.
std::string kind_about(const AuditRow& entry, const ObjectKey& object);

/// The binding that a Work is rendered for, by the Work's newest version up to a revision; empty: none is known.
Result<ObjectKey> binding_of_work(const View& view, const ObjectKey& work, Revision upto);

}  // namespace shiplog::api
