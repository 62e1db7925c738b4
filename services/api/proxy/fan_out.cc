#include "services/api/proxy/fan_out.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "events/base/json.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr Millis kTimeout{10'000};
constexpr size_t kMostBytes = size_t{8} << 20U;
/// Parsed JSON takes more memory than its text where values are short.
constexpr std::ptrdiff_t kMostValues = 500'000;

struct Asked {
  std::mutex mutex;
  size_t open = 0;
  std::vector<ClusterAnswer> answers;
  std::function<void()> complete;
};

void answered(const std::shared_ptr<Asked>& asked, std::string cluster, Result<HttpResponse> response,
              std::shared_ptr<ByteLease> lease) {
  const bool usable = response && response.value().status == 200;
  if (!usable && !cluster.empty()) {
    log::info("proxy.cluster_left_out",
              {log::kv("cluster", cluster),
               log::kv("reason", response ? "HTTP status " + std::to_string(response.value().status)
                                          : response.error().message)});
  }
  bool last = false;
  {
    const std::lock_guard lock{asked->mutex};
    if (usable) asked->answers.push_back({std::move(cluster), std::move(response.value().body), std::move(lease)});
    last = --asked->open == 0;
  }
  if (last) asked->complete();
}

}  // namespace

void ask_all(const Server& server, const HttpRequest& request, const std::shared_ptr<ByteBudget>& budget,
             std::function<void(std::vector<ClusterAnswer>)> done) {
  MemberClients& members = *server.options.members;
  const std::vector<std::string> names = members.names();
  const auto asked = std::make_shared<Asked>();
  asked->open = names.size() + 1;
  asked->complete = [raw = asked.get(), post = server.post_blocking, done = std::move(done)] {
    std::ranges::sort(raw->answers, {}, &ClusterAnswer::cluster);
    auto answers = std::make_shared<std::vector<ClusterAnswer>>(std::move(raw->answers));
    post([done, answers] { done(std::move(*answers)); });
  };
  for (const std::string& name : names) {
    auto borrowed = members.borrow(name, MemberClients::Use::kRequest);
    if (!borrowed) {
      answered(asked, name, borrowed.error(), nullptr);
      continue;
    }
    const auto lease = std::make_shared<ByteLease>(budget);
    borrowed.value().client->request(request, kTimeout,
                                     [asked, name, lease, held = borrowed.value()](Result<HttpResponse> response) {
                                       answered(asked, name, std::move(response), lease);
                                     },
                                     {.max_response_bytes = kMostBytes, .lease = lease});
  }
  answered(asked, "", Error{ErrorCode::kNotFound, "not a cluster"}, nullptr);
}

Value merged_lists(const std::vector<ClusterAnswer>& answers) {
  Value merged;
  Value items = Value::array();
  for (const ClusterAnswer& answer : answers) {
    if (std::ranges::count(answer.body, ',') > kMostValues) continue;
    auto list = parse_json(answer.body);
    if (!list || !list.value()["kind"].as_string().ends_with("List")) continue;
    for (const Value& item : list.value()["items"].items()) items.push_back(item);
    if (merged.is_null()) merged = std::move(list).value();
  }
  if (merged.is_null()) return merged;
  merged.set("metadata", Value::object({{"resourceVersion", ""}}));
  merged.set("items", std::move(items));
  return merged;
}

}  // namespace shiplog::api
