#include "services/requests/capture.h"

#include <mutex>
#include <utility>

namespace shiplog::requests {
namespace {

class CapturingWriter final : public ResponseWriter {
 public:
  explicit CapturingWriter(std::function<void(HttpResponse)> done) : done_{std::move(done)} {}
  ~CapturingWriter() override { finish({500, {}, ""}); }
  CapturingWriter(const CapturingWriter&) = delete;
  CapturingWriter& operator=(const CapturingWriter&) = delete;

  void send(HttpResponse response) override { finish(std::move(response)); }
  // A write is never answered with a stream; if it were, its status would be the answer.
  void start(int status, HttpHeaders headers) override { finish({status, std::move(headers), ""}); }
  void write(std::string, Done done) override {
    if (done) done(ok());
  }
  void end() override {}
  void upgrade(HttpHeaders, Upgraded then) override {
    then(Error{ErrorCode::kBadRequest, "a produced request cannot upgrade its connection"});
  }
  void on_close(std::function<void()>) override {}
  bool closed() const override { return false; }

 private:
  void finish(HttpResponse response) {
    std::function<void(HttpResponse)> done;
    {
      const std::lock_guard lock{mutex_};
      done = std::exchange(done_, nullptr);
    }
    if (done) done(std::move(response));
  }

  std::mutex mutex_;
  std::function<void(HttpResponse)> done_;
};

}  // namespace

std::shared_ptr<ResponseWriter> capture(std::function<void(HttpResponse)> done) {
  return std::make_shared<CapturingWriter>(std::move(done));
}

}  // namespace shiplog::requests
