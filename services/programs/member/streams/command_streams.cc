#include "services/programs/member/streams/command_streams.h"

#include <algorithm>
#include <utility>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "services/api/status.h"
#include "services/http/websocket/handshake.h"
#include "services/programs/member/streams/spdy_command.h"
#include "services/programs/member/streams/websocket_command.h"

namespace shiplog::member {
namespace {

class ExecutorStream final : public ByteStream {
 public:
  ExecutorStream(std::shared_ptr<ByteStream> stream, Executor& executor)
      : stream_{std::move(stream)}, executor_{executor} {}

  void read(Received received) override {
    stream_->read([&executor = executor_, received = std::move(received)](Result<std::string> bytes) {
      executor.post([received, bytes = std::move(bytes)] { received(bytes); });
    });
  }
  void write(std::string bytes, Done done) override {
    stream_->write(std::move(bytes), [&executor = executor_, done = std::move(done)](Result<void> written) {
      executor.post([done, written = std::move(written)] { done(written); });
    });
  }
  void close() override { stream_->close(); }

 private:
  std::shared_ptr<ByteStream> stream_;
  Executor& executor_;
};

}  // namespace

std::shared_ptr<ByteStream> on_executor(std::shared_ptr<ByteStream> stream, Executor& executor) {
  return std::make_shared<ExecutorStream>(std::move(stream), executor);
}

void refuse_upgrade(ResponseWriter& writer, const std::string& message) {
  writer.send({400, {{"Content-Type", "application/json"}}, to_json(api::failure_status(400, message)) + "\n"});
}

std::vector<std::string> stream_protocols(const HttpRequest& request) {
  std::vector<std::string> found;
  for (const auto& [name, value] : request.headers.all()) {
    if (!equal_ignoring_case(name, "X-Stream-Protocol-Version")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      std::string_view word = rest.substr(0, comma);
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
      if (!word.empty()) found.emplace_back(word);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return found;
}

bool is_spdy_upgrade(const HttpRequest& request) {
  return lower_case(request.headers.get("Connection")).find("upgrade") != std::string::npos &&
         lower_case(request.headers.get("Upgrade")).find("spdy/3.1") != std::string::npos;
}

void open_command_streams(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer,
                          StreamChoice choice, Executor& executor, CommandReady ready) {
  if (websocket::is_upgrade(request)) {
    return open_websocket_command(request, writer, choice, executor, std::move(ready));
  }
  if (is_spdy_upgrade(request)) return open_spdy_command(request, writer, choice, executor, std::move(ready));
  refuse_upgrade(*writer, "Upgrade request required");
  ready(Error{ErrorCode::kBadRequest, "the request asks for no upgrade"});
}

}  // namespace shiplog::member
