#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/kinds/kinds.h"
#include "services/api/admission/admission.h"
#include "services/http/http.h"

namespace shiplog::api {

/// Which resource a path names (PATH-1, PATH-2). Empty strings where a part is missing.
struct ResourcePath {
  std::string group;  ///< "" for core
  std::string version;
  std::string resource;
  std::string ns;
  std::string name;
  std::string subresource;
};

/// nullopt: not a path below /api/VERSION or /apis/GROUP/VERSION that names a resource.
std::optional<ResourcePath> parse_resource_path(std::string_view path);

/// The group and version of a path below /apis/GROUP/VERSION, or of that path; nullopt: it is another one.
struct VersionPath {
  std::string group, version;
};
std::optional<VersionPath> parse_version_path(std::string_view path);

/// How an answer is to look: the clause of the Accept header that was picked (NEG-1 to NEG-7).
struct Accept {
  enum class Form { kObject, kTable, kPartialMetadata };
  Form form = Form::kObject;
  bool yaml = false;
  bool pretty = false;
  std::string meta_version = "meta.k8s.io/v1";  ///< of Table and PartialObjectMetadata
};
/// `list`: PartialObjectMetadataList is acceptable, PartialObjectMetadata is not. `tables`: so are Tables. Error:
/// kNotAcceptable.
Result<Accept> negotiate(std::string_view accept_header, bool list, bool tables = true);

/// Whether something that exists can have this path: Kubernetes' limits for names (253), namespaces and resources (63)
/// and groups (253), and 2048 bytes in all. Error: kBadRequest, naming the part.
Result<void> check_lengths(std::string_view path);

/// HTTP-7: "32s", "1m30s", "1.5h", "0": as Go writes durations. Negative ones are none here.
bool is_duration(std::string_view text);
/// In milliseconds, at most a day; nullopt: it is none.
std::optional<Millis> duration_of(std::string_view text);
/// What holds of every request, whatever it is about. Errors: kBadRequest for a `timeout` that is no duration and for a
/// `timeoutSeconds` that is no whole number or negative; kUnsupportedMediaType for a body with a content encoding.
Result<void> check_request(const HttpRequest& request);
/// Indented JSON: on request, and for programs that people look through (NEG-3).
bool wants_pretty(const HttpRequest& request);
/// HTTP-8: absent, "0" and "false" are false, all else is true.
bool flag(const HttpRequest& request, std::string_view key);
/// Error: kBadRequest, not a whole number.
Result<std::optional<int64_t>> number(const HttpRequest& request, std::string_view key);
std::string text(const HttpRequest& request, std::string_view key);

/// Parameters of get, list and watch.
struct ReadOptions {
  std::optional<Revision> revision;  ///< resourceVersion; 0 given: Revision{0}
  std::string match;                 ///< resourceVersionMatch: "", "Exact", "NotOlderThan"
  size_t limit = 0;
  std::string continue_token;
  std::string label_selector, field_selector;
  bool watch = false;
  bool bookmarks = false;
  bool send_initial_events = false;
  std::optional<int64_t> timeout_seconds;
};
/// Errors: kBadRequest, kInvalid (LIST-8, LIST-10, LIST-13, W-10, W-14).
Result<ReadOptions> read_options(const HttpRequest& request);

/// Query parameters of create, update and patch.
struct WriteParameters {
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
  std::string field_manager;  ///< empty: none named
  bool force = false;         ///< of server-side apply
};
/// Error: kInvalid, a value that is not known.
Result<WriteParameters> write_parameters(const HttpRequest& request);

/// The body as JSON: JSON, YAML or, for requests about a built-in kind, protobuf by content type; none counts as JSON.
/// The last one of keys that stand twice in an object counts; `duplicates` gets a line about each. Errors:
/// kUnsupportedMediaType, kBadRequest.
Result<Value> read_body(std::string_view content_type, const std::string& body, const Kinds& kinds, const Kind& kind,
                        std::vector<std::string>* duplicates);
/// parse_json() for bodies of requests: `duplicates` gets the line `duplicate field "spec.a"`, as kube-apiserver writes
/// it.
Result<Value> read_json(std::string_view body, std::vector<std::string>& duplicates);
/// The error about a body that is no JSON or YAML, as kube-apiserver begins and ends it. `kind`: of what was expected.
Error unrecognized(Error error, std::string_view kind, std::string_view body);

/// "application/json" of "application/json; charset=utf-8", lower case.
std::string media_type(std::string_view header);

}  // namespace shiplog::api
