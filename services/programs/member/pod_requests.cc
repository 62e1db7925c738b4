#include "services/programs/member/pod_requests.h"

#include "services/api/request.h"
#include "services/api/status.h"
#include "services/programs/member/pod.h"
#include "services/programs/member/shell/container_image.h"

namespace shiplog::member {
namespace {

std::string quote(const std::string& text) { return "\"" + text + "\""; }

std::string names_of(const Value& pod) {
  std::string names;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Value& container : pod["spec"][list].items()) {
      names += (names.empty() ? "" : " ") + container["name"].str();
    }
  }
  return "[" + names + "]";
}

std::string name_of_pod(const Value& pod) { return pod["metadata"]["name"].str(); }

Result<UtcMillis> time_of(const Value& text) { return parse_rfc3339(text.as_string()); }

}  // namespace

Result<std::string> container_meant(const Value& pod, const std::string& named) {
  const std::string pod_name = name_of_pod(pod);
  if (!named.empty()) {
    if (!container_of(pod, named).is_null()) return named;
    return Error{ErrorCode::kBadRequest, "container " + named + " is not valid for pod " + pod_name};
  }
  const auto containers = pod["spec"]["containers"].items();
  if (containers.size() == 1) return containers.front()["name"].str();
  return Error{ErrorCode::kBadRequest, "a container name must be specified for pod " + pod_name + ", choose one of: " +
                                           names_of(pod)};
}

const Value& container_status_of(const Value& pod, std::string_view container) {
  static const Value kNone;
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const Value& status : pod["status"][list].items()) {
      if (status["name"].as_string() == container) return status;
    }
  }
  return kNone;
}

Result<void> check_running(const Value& pod, const std::string& container) {
  const std::string phase = pod["status"]["phase"].str();
  if (phase == "Succeeded" || phase == "Failed") {
    return Error{ErrorCode::kBadRequest,
                 "cannot exec into a container in a completed pod; current phase is " + phase};
  }
  if (pod["spec"]["nodeName"].is_empty()) {
    return Error{ErrorCode::kBadRequest, "pod " + name_of_pod(pod) + " does not have a host assigned"};
  }
  if (container_status_of(pod, container)["state"].contains("running")) return ok();
  return Error{ErrorCode::kInternal, "unable to upgrade connection: container not found (" + quote(container) + ")"};
}

Result<LogOptions> log_options(const HttpRequest& request) {
  LogOptions options;
  options.container = api::text(request, "container");
  options.follow = api::flag(request, "follow");
  options.previous = api::flag(request, "previous");
  options.timestamps = api::flag(request, "timestamps");
  SHIPLOG_TRY(options.since_seconds, api::number(request, "sinceSeconds"));
  SHIPLOG_TRY(options.tail_lines, api::number(request, "tailLines"));
  SHIPLOG_TRY(options.limit_bytes, api::number(request, "limitBytes"));
  if (const std::string since = api::text(request, "sinceTime"); !since.empty()) {
    SHIPLOG_TRY(options.since_time, parse_rfc3339(since));
  }
  const std::string stream = api::text(request, "stream");
  std::vector<FieldCause> causes;
  const auto require = [&](const char* field, const std::optional<int64_t>& value, int64_t least) {
    if (!value || *value >= least) return;
    causes.push_back({field, "FieldValueInvalid",
                      "Invalid value: " + std::to_string(*value) + ": must be greater than or equal to " +
                          std::to_string(least)});
  };
  require("tailLines", options.tail_lines, 0);
  require("limitBytes", options.limit_bytes, 1);
  require("sinceSeconds", options.since_seconds, 1);
  if (options.since_seconds && options.since_time) {
    causes.push_back({"", "FieldValueForbidden", "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"});
  }
  if (!stream.empty() && stream != "All" && stream != "Stdout" && stream != "Stderr") {
    causes.push_back({"stream", "FieldValueNotSupported",
                      "Unsupported value: supported values: \"All\", \"Stdout\", \"Stderr\""});
  }
  if (!causes.empty()) return api::invalid({"", "PodLogOptions", "pods", ""}, std::move(causes));
  return options;
}

Result<ContainerLife> container_life(const Value& pod, const std::string& container, bool previous) {
  const std::string where = "container " + quote(container) + " in pod " + quote(name_of_pod(pod));
  const Value& status = container_status_of(pod, container);
  if (status.is_null()) return Error{ErrorCode::kBadRequest, where + " is not available"};
  const Value& last = status["lastState"]["terminated"];
  const Value& ended = previous ? last : status["state"]["terminated"];
  if (previous && last.is_null()) {
    return Error{ErrorCode::kBadRequest, "previous terminated " + where + " not found"};
  }
  if (!ended.is_null()) {
    const auto started = time_of(ended["startedAt"]);
    const auto finished = time_of(ended["finishedAt"]);
    if (!started || !finished) return Error{ErrorCode::kBadRequest, where + " is terminated"};
    return ContainerLife{started.value(), finished.value()};
  }
  const Value& running = status["state"]["running"];
  if (!running.is_null()) {
    const auto started = time_of(running["startedAt"]);
    if (started) return ContainerLife{started.value(), std::nullopt};
  }
  std::string reason = status["state"]["waiting"]["reason"].str();
  if (reason == "ImagePullBackOff") reason = "trying and failing to pull image";
  if (reason == "ErrImagePull") reason = "image can't be pulled";
  if (reason.empty()) return Error{ErrorCode::kBadRequest, where + " is waiting to start - no logs yet"};
  return Error{ErrorCode::kBadRequest, where + " is waiting to start: " + reason};
}

}  // namespace shiplog::member
