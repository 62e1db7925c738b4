#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/programs/shiplogctl/fleet_servers.h"
#include "services/programs/shiplogctl/resources.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

/// `shiplogctl get` for any kind, on the control plane and on members.
struct GetObjectsOptions {
  std::vector<std::string> words;  ///< TYPE[,TYPE...] [NAME...], or TYPE/NAME...
  ClusterScope scope;
  std::string ns;  ///< empty: all namespaces
  bool all_namespaces = false;
  std::string selector, field_selector, sort_by, at;
  std::vector<std::string> label_columns;
  std::string output;  ///< "", "wide", or a form of ObjectPrinter
  bool watch = false, watch_only = false, event_types = false;
  bool no_headers = false, show_labels = false, show_kind = false, managed_fields = false, ignore_not_found = false;
};

/// What is asked of each cluster.
struct WantedObjects {
  std::string type;
  std::vector<std::string> names;  ///< none: all
};
/// Error: kBadRequest, types with and without names are mixed, or a name is empty.
Result<std::vector<WantedObjects>> wanted_objects(const std::vector<std::string>& words);
/// Error: kBadRequest, there are names and a selector.
Result<void> check_selection(const std::vector<WantedObjects>& wanted, const GetObjectsOptions& options);

/// Prints one table for each kind, or the objects. Errors of a cluster are printed and do not affect the others; true:
/// there were none.
Result<bool> get_objects(ServerConnection& plane, const GetObjectsOptions& options, const Output& to);

// --- shared with the watch

/// Error: kBadRequest, an object of one namespace is wanted by its name in all.
Result<void> check_names(const WantedObjects& want, const Resource& resource, const GetObjectsOptions& options);
/// `lists`: what each cluster has of the names. Error: kNotFound, none has the object that is named.
Result<void> check_watched(const WantedObjects& want, const Resource& resource, const std::vector<Value>& lists);
/// The query parameters of a list or watch.
HttpRequest::Query list_query(const GetObjectsOptions& options);
/// Prints changes as they arrive, until interrupted; `wanted` has one kind. Streams of all clusters are merged.
Result<bool> watch_objects(std::vector<FleetServer>& servers, const WantedObjects& wanted,
                           const GetObjectsOptions& options, const Output& to);
/// All resources of a server; it is the first request to a member, and its error names that.
Result<std::vector<Resource>> read_server_resources(FleetServer& server);
/// Those that a word means. Error: kNotFound.
Result<std::vector<Resource>> resources_named(const std::vector<Resource>& resources, const std::string& word);
/// What accepts a table, or else the object.
inline constexpr const char* kTableOrObject = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
/// An object of a list with the fields that lists omit; without managed fields unless they are wanted. `cluster` empty:
/// the objects come from one server.
Value shown_object(Value object, const Resource& resource, bool managed_fields, const std::string& cluster);

}  // namespace shiplog::ctl
