#include "services/requests/request_metrics.h"

#include <algorithm>
#include <string>

#include "services/runtime/metrics.h"

namespace shiplog::requests {
namespace {

const metrics::CounterFamily kReceived{
    "shiplog_requests_received_total", "Produced requests received over HTTP and from the topic.", {"way"}};
const metrics::CounterFamily kResults{
    "shiplog_requests_results_total", "Produced requests with a final result, by outcome.", {"outcome"}};
const metrics::CounterFamily kDead{"shiplog_requests_dead_total",
                                   "Records of the topic of produced requests that became dead letters."};
const metrics::CounterFamily kDuplicates{
    "shiplog_requests_duplicates_total",
    "Produced requests that had been carried out before, for another record or call."};
const metrics::GaugeFamily kLag{"shiplog_requests_lag",
                                "Records of this consumer's partitions whose results are not committed."};

}  // namespace

void export_request_metrics() {
  for (const char* way : {"http", "topic"}) kReceived.with({way}).add(0);
  for (const char* outcome : {"applied", "unchanged", "refused", "expired", "invalid"}) kResults.with({outcome}).add(0);
  kDead.with({}).add(0);
  kDuplicates.with({}).add(0);
  set_lag(0);
}

void count_received(RequestWay way) { kReceived.with({way == RequestWay::kHttp ? "http" : "topic"}).add(); }

void count_result(const RecordOutcome& outcome) {
  kResults.with({outcome.result.outcome}).add();
  if (outcome.dead) kDead.with({}).add();
  if (outcome.result.duplicate) kDuplicates.with({}).add();
}

void set_lag(int64_t records) { kLag.with({}).set(static_cast<double>(std::max<int64_t>(records, 0))); }

}  // namespace shiplog::requests
