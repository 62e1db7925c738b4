#include "services/roles/federated_hpa/measurement.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::federated_hpa {
namespace {

TEST(Measurements, AreReadAsTheyWereWritten) {
  Measurement measurement;
  measurement.at = UtcMillis{5};
  measurement.clusters = {{.cluster = "m1",
                           .replicas = 3,
                           .metrics = {{.ready = 1, .failure = {}}, {.failure = "HTTP status 503", .unknown = true}},
                           .failure = {}}};
  EXPECT_EQ(measurement_from(to_value(measurement)), measurement);
}

TEST(Measurements, ThatAreTooLargeLoseTheirLargestClusters) {
  Measurement measurement;
  const MetricSums known{.ready = 1, .usage = 1, .failure = {}};
  const MetricSums failed{.failure = std::string(200, 'x')};
  for (int i = 0; i < 10; ++i) {
    measurement.clusters.push_back({.cluster = "m" + std::to_string(i),
                                    .replicas = 1,
                                    .metrics = std::vector<MetricSums>(16, i % 2 == 0 ? known : failed),
                                    .failure = {}});
  }
  const Measurement whole = measurement;
  ASSERT_TRUE(fit(measurement, 1 << 20));
  EXPECT_EQ(measurement, whole);
  ASSERT_TRUE(fit(measurement, 15'000));
  EXPECT_LE(to_json(to_value(measurement)).size(), 15'000U);
  size_t lost = 0;
  for (size_t i = 0; i < 10; ++i) {
    if (measurement.clusters[i].failure.empty()) continue;
    EXPECT_EQ(i % 2, 1U) << "one in which all metrics were read";
    EXPECT_EQ(measurement.clusters[i].cluster, whole.clusters[i].cluster);
    ++lost;
  }
  EXPECT_GE(lost, 1U);
  EXPECT_FALSE(fit(measurement, 100));
}

}  // namespace
}  // namespace shiplog::federated_hpa
