#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {

/// The one control plane of a contract test program, started when first asked for and stopped after the last test.
Fleet& plane();
/// Its API, as the administrator.
const ApiClient& api();

inline const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";

Value config_map(const std::string& name, const std::string& data = "{}", const std::string& labels = "{}");
/// One container "main" and label app=NAME.
Value deployment(const std::string& name, int replicas = 1);

/// A failure of this HTTP status and reason, as a metav1.Status whose message has these words.
void expect_failure(const Answer& answer, int status, const std::string& reason, const std::string& words = {});

}  // namespace shiplog::e2e
