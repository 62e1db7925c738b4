#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "events/base/random.h"
#include "services/adapters/webhooks/endpoint.h"
#include "services/http/client.h"
#include "services/runtime/executor.h"
#include "services/runtime/question_resolver.h"

namespace shiplog {

/// Calls interpreter webhooks over HTTPS (L-19 to L-22). A limited number of questions per address is in flight,
/// further ones wait. The timeout of a question begins when it is sent, so no question fails because it waited for a
/// slow webhook.
class WebhookResolver final : public QuestionResolver {
 public:
  struct Options {
    Executor* executor = nullptr;
    Random* random = nullptr;
    std::string user_agent;
    std::shared_ptr<const Networks> denied_networks = {};  ///< see HttpClient::Options
    size_t at_once = 16;                                   ///< per address
    size_t most_answer_bytes = 4U << 20U;
  };
  explicit WebhookResolver(Options options);
  ~WebhookResolver() override;

  void ask(const State& state, const QuestionPtr& question, const TraceContext& trace,
           std::function<void(Result<Value>)> answered) override;

 private:
  struct Call;
  struct Line {  // of one address
    std::shared_ptr<HttpClient> client;
    std::deque<Call> waiting;
    size_t under_way = 0;
  };
  using LinePtr = std::shared_ptr<Line>;

  Result<LinePtr> line_for(const WebhookEndpoint& endpoint);
  void send_next(const LinePtr& line);
  void later(std::function<void()> run);

  Options options_;
  std::shared_ptr<IoThreads> io_;                                 // made for the first question
  std::map<std::pair<std::string, std::string>, LinePtr> lines_;  // by address and authority
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
