#include "services/programs/member/streams/websocket_command.h"

#include <gtest/gtest.h>

#include "services/runtime/manual_executor.h"
#include "tests/support/scripted_stream.h"

namespace shiplog::member {
namespace {

/// A connection that becomes the stream.
class UpgradingWriter final : public ResponseWriter {
 public:
  explicit UpgradingWriter(std::shared_ptr<ByteStream> stream) : stream_{std::move(stream)} {}

  void send(HttpResponse response) override { ADD_FAILURE() << response.body; }
  void start(int, HttpHeaders) override {}
  void write(std::string, Done) override {}
  void end() override {}
  void upgrade(HttpHeaders, Upgraded then) override { then(stream_); }
  void on_close(std::function<void()>) override {}
  bool closed() const override { return false; }

 private:
  std::shared_ptr<ByteStream> stream_;
};

// kubernetes/kubernetes#131189
TEST(WebSocketCommand, NothingIsSentRightAfterTheHandshake) {
  ManualExecutor executor;
  const auto stream = std::make_shared<testing::ScriptedStream>();
  HttpRequest request;
  request.method = "GET";
  request.headers = {{"Connection", "Upgrade"},
                     {"Upgrade", "websocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                     {"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}};
  open_websocket_command(request, std::make_shared<UpgradingWriter>(stream), {.standard_out = true}, executor,
                         [](const Result<std::shared_ptr<CommandStreams>>& streams) {
                           ASSERT_TRUE(streams);
                           streams.value()->write(CommandStreams::Output::kStandardOut, "hello",
                                                  [](const Result<void>&) {});
                         });
  executor.run(Millis{49});
  EXPECT_EQ(stream->take(), "");
  executor.run(Millis{1});
  EXPECT_NE(stream->take().find("\x01hello"), std::string::npos);
  stream->close();
  executor.run();
}

}  // namespace
}  // namespace shiplog::member
