#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {

/// The control plane of a contract test program. It is started at the first call and stopped after the last test.
Fleet& plane();
/// Its API, as the administrator.
const ApiClient& api();

inline const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";

Value config_map(const std::string& name, const std::string& data = "{}", const std::string& labels = "{}");
/// A Deployment with one container "main" and the label app=NAME.
Value deployment(const std::string& name, int replicas = 1);

/// Expects a failure with this HTTP status and reason, as a metav1.Status whose message contains `text`.
void expect_failure(const Answer& answer, int status, const std::string& reason, const std::string& text = {});

}  // namespace shiplog::e2e
