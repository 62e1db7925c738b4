#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/http/http.h"

namespace shiplog::member {

// What requests for log, exec, attach and portforward ask of a pod, and whether it can be done: kubelet's and
// kube-apiserver's checks, in their words.

/// The container that is meant: the one that is named, or the only one. Error: kBadRequest.
Result<std::string> container_meant(const Value& pod, const std::string& named);

/// The pod's status of the container; null: none.
const Value& container_status_of(const Value& pod, std::string_view container);

/// Whether commands can run in the container. Errors: kBadRequest, kInternal.
Result<void> check_running(const Value& pod, const std::string& container);

/// The query parameters of a log.
struct LogOptions {
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<int64_t> since_seconds;
  std::optional<UtcMillis> since_time;
  std::optional<int64_t> tail_lines;
  std::optional<int64_t> limit_bytes;
};
/// Errors: kBadRequest; kInvalid, with the fields.
Result<LogOptions> log_options(const HttpRequest& request);

/// When the container whose log is asked for has started and finished. Error: kBadRequest, there is no log yet.
struct ContainerLife {
  UtcMillis started;
  std::optional<UtcMillis> finished;
};
Result<ContainerLife> container_life(const Value& pod, const std::string& container, bool previous);

}  // namespace shiplog::member
