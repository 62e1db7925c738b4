#include "services/api/pipeline/request_meter.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "services/api/pipeline/pipeline.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

/// The sum of the values of the exported series that begin so.
double sum_of(const std::string& begin) {
  const std::string text = "\n" + metrics::text();
  double sum = 0;
  for (size_t found = text.find("\n" + begin); found != std::string::npos; found = text.find("\n" + begin, found + 1)) {
    const size_t end = text.find('\n', found + 1);
    sum += std::strtod(text.c_str() + text.rfind(' ', end), nullptr);
  }
  return sum;
}

size_t series_of(const std::string& family) {
  const std::string text = "\n" + metrics::text();
  size_t series = 0;
  for (size_t found = text.find("\n" + family + "{"); found != std::string::npos;
       found = text.find("\n" + family + "{", found + 1)) {
    ++series;
  }
  return series;
}

class RequestMeterTest : public testing::Test {
 protected:
  std::shared_ptr<RecordingWriter> send(const std::string& method, const std::string& target,
                                        const std::string& body = "") {
    HttpRequest request = ManualServer::request(method, target, "application/json");
    request.body = body;
    auto writer = std::make_shared<RecordingWriter>();
    pipeline_.handle(std::move(request), writer);
    server_.run();
    return writer;
  }

  ManualServer server_;
  ReadHandlers handlers_{[](const RequestContextPtr&) { return false; },
                         [](const RequestContextPtr& context) {
                           context->writer->send({200, {}, "[]"});
                         }};
  Pipeline pipeline_{server_.shared(), handlers_, server_.executor()};
};

constexpr const char* kMeteredMaps = "/api/v1/namespaces/default/configmaps";

TEST_F(RequestMeterTest, ARequestIsCountedWithKubernetesLabels) {
  const std::string posted =
      R"(apiserver_request_total{verb="POST",dry_run="",group="",version="v1",resource="configmaps",subresource="",)"
      R"(scope="resource",component="apiserver",code="201"})";
  const std::string listed =
      R"(apiserver_request_total{verb="LIST",dry_run="",group="",version="v1",resource="configmaps",subresource="",)"
      R"(scope="namespace",component="apiserver",code="200"})";
  const double posts = sum_of(posted);
  const double lists = sum_of(listed);
  const double authenticated = sum_of(R"(authentication_attempts{result="success"})");
  send("POST", kMeteredMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  send("GET", kMeteredMaps);
  EXPECT_EQ(sum_of(posted), posts + 1);
  EXPECT_EQ(sum_of(listed), lists + 1);
  EXPECT_EQ(sum_of(R"(authentication_attempts{result="success"})"), authenticated + 2);
  EXPECT_GT(sum_of("shiplog_commit_to_response_duration_seconds_count"), 0);
  EXPECT_GT(sum_of(R"(apiserver_response_sizes_count{verb="LIST")"), 0);
}

TEST_F(RequestMeterTest, ARequestIsInFlightUntilItsResponse) {
  const std::string inflight = R"(apiserver_current_inflight_requests{request_kind="mutating"})";
  const double before = sum_of(inflight);
  RequestMeter meter{ManualServer::request("POST", kMeteredMaps, "application/json")};
  EXPECT_EQ(sum_of(inflight), before + 1);
  meter.responded(201, 100);
  EXPECT_EQ(sum_of(inflight), before);
  send("POST", kMeteredMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})");
  EXPECT_EQ(sum_of(inflight), before);
}

TEST_F(RequestMeterTest, AStreamIsALongRunningRequestUntilItEnds) {
  const std::string running = "apiserver_longrunning_requests{";
  const std::string inflight = R"(apiserver_current_inflight_requests{request_kind="readOnly"})";
  const double total = sum_of("apiserver_request_total");
  {
    RequestMeter meter{ManualServer::request("GET", kMeteredMaps, "")};
    EXPECT_EQ(sum_of(inflight), 1);
    meter.streaming(200);
    EXPECT_EQ(sum_of(inflight), 0);
    EXPECT_EQ(sum_of(running), 1);
  }
  EXPECT_EQ(sum_of(running), 0);
  EXPECT_EQ(sum_of("apiserver_request_total"), total + 1);
}

// Alerts on the duration of GET requests, such as those of kube-prometheus, would otherwise fire for a watch of a
// member.
TEST_F(RequestMeterTest, AStreamThatIsPassedOnIsNoGet) {
  const std::string labels = R"(dry_run="",group="",version="",resource="",subresource="",scope="",)"
                             R"(component="apiserver"})";
  const std::string connects = R"(apiserver_request_duration_seconds_count{verb="CONNECT",)" + labels;
  const std::string gets = R"(apiserver_request_duration_seconds_count{verb="GET",)" + labels;
  const double before = sum_of(connects);
  const double gets_before = sum_of(gets);
  {
    RequestMeter meter{
        ManualServer::request("GET", "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api/v1/pods", "")};
    meter.streaming(200);
  }
  EXPECT_EQ(sum_of(connects), before + 1);
  EXPECT_EQ(sum_of(gets), gets_before);
}

TEST_F(RequestMeterTest, ARequestThatIsDroppedCountsAs500) {
  const std::string dropped = R"(apiserver_request_total{verb="PUT",dry_run="",group="",version="",resource="",)"
                              R"(subresource="",scope="",component="apiserver",code="500"})";
  { const RequestMeter meter{ManualServer::request("PUT", kMeteredMaps, "")}; }
  EXPECT_EQ(sum_of(dropped), 1);
}

TEST_F(RequestMeterTest, WhatAHostileClientInventsMakesNoSeries) {
  const auto send_all = [&](const std::string& number) {
    send("GET", "/apis/group" + number + ".example.com/v1/sofas");
    send("GET", "/api/version" + number + "/configmaps");
    send("GET", "/nothing" + number);
    send("BREW" + number, kMeteredMaps);
    send("GET", kMeteredMaps + std::string{"/a/subresource"} + number);
  };
  send_all("first");
  const size_t before = series_of("apiserver_request_total");
  for (int i = 0; i < 200; ++i) send_all(std::to_string(i));
  EXPECT_EQ(series_of("apiserver_request_total"), before);
}

}  // namespace
}  // namespace shiplog::api
