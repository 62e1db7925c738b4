#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"

namespace shiplog::api {

// What is allowed in a pod, but hardly what its author wants, in upstream's words.
// Source: pkg/api/pod/warnings.go of Kubernetes 1.36 and the strategies that call it.

void warn_of_new_pod(const Value& pod, std::vector<std::string>& warnings);
/// The same of a PodTemplateSpec; `field`: where it stands ("spec.template").
void warn_of_pod_template(const Value& pod, const std::string& field, std::vector<std::string>& warnings);

/// Of a pod whose name is no host name.
void warn_of_host_name(const Value& pod, std::vector<std::string>& warnings);
/// The same of what its pods are named after.
void warn_of_pod_names(const Value& object, std::vector<std::string>& warnings);

}  // namespace shiplog::api
