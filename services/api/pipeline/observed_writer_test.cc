#include "services/api/pipeline/observed_writer.h"

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

/// A connection whose client may have disconnected.
class ConnectionWriter final : public ResponseWriter {
 public:
  explicit ConnectionWriter(bool closed) : closed_{closed} {}
  void send(HttpResponse) override {}
  void start(int, HttpHeaders) override {}
  void write(std::string, Done done) override { done(ok()); }
  void end() override {}
  void upgrade(HttpHeaders, Upgraded then) override { then(Error{ErrorCode::kUnavailable, "not a connection"}); }
  void on_close(std::function<void()>) override {}
  bool closed() const override { return closed_; }

 private:
  bool closed_;
};

/// What was reported of a response that `respond` gives.
std::vector<int> reported(const std::function<void(ResponseWriter&)>& respond, bool closed = false) {
  std::vector<int> statuses;
  {
    const auto writer =
        observed(std::make_shared<ConnectionWriter>(closed), [&](int status) { statuses.push_back(status); });
    respond(*writer);
  }
  return statuses;
}

TEST(ObservedWriter, ReportsOneStatusWhenTheResponseBegins) {
  EXPECT_EQ(reported([](ResponseWriter& writer) { writer.send({404, {}, ""}); }), std::vector{404});
  EXPECT_EQ(reported([](ResponseWriter& writer) {
              writer.start(200, {});
              writer.write("a", [](const Result<void>&) {});
              writer.end();
            }),
            std::vector{200});
  EXPECT_EQ(reported([](ResponseWriter& writer) { writer.upgrade({}, [](const auto&) {}); }), std::vector{101});
}

TEST(ObservedWriter, ADroppedOneIs500UnlessItsClientHasDisconnected) {
  EXPECT_EQ(reported([](ResponseWriter&) {}), std::vector{500});
  EXPECT_EQ(reported([](ResponseWriter&) {}, true), std::vector{0});
}

}  // namespace
}  // namespace shiplog::api
