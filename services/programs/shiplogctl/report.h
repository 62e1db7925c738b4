#pragma once

#include <string>

#include "events/base/value.h"
#include "services/programs/shiplogctl/terminal.h"

// What the control plane's read endpoints answer (services/api/insight), as text for people.
namespace shiplog::ctl {

/// The words for an object, without its group: "deployments/default/nginx".
std::string object_words(const Value& object);
/// "scheduler" for a service, else the user.
std::string who_words(const Value& entry);

/// A number in digits; "" for null.
std::string number_text(const Value& value);

/// Every version: revision, time, requester, cause and what changed.
std::string history_table(const Value& history, const Terminal& terminal = {});
/// Each field: its value, and the version that set it.
std::string blame_table(const Value& blame, const Terminal& terminal = {});
/// Each object that differs: what changed, in which versions, by whom and why.
std::string comparison_text(const Value& comparison);
/// What was evicted from a cluster: when, why, where each replica went, and how long that took.
std::string failovers_table(const Value& failovers, const Terminal& terminal = {});
/// The entries that led to an object, one event a row.
std::string chain_table(const Value& chain, const Terminal& terminal = {});
/// Which policy, which clusters and why, what would have let the others in, what each member got.
std::string why_text(const Value& why);
/// Requester, request and outcome.
std::string audit_table(const Value& audit, const Terminal& terminal = {});

/// Which events of an entry are printed; what is empty does not count.
struct EventFilter {
  std::string family = {}, ns = {}, name = {};
};
/// One entry as `events tail` prints it: a line for every event that the filter lets through, each with a newline.
/// Where none is about the requested namespace and name, since the entry changed that object besides, all of the family
/// are printed.
std::string event_lines(const Value& entry, const EventFilter& filter, const Terminal& terminal = {});

}  // namespace shiplog::ctl
