#include "services/api/pipeline/observed_writer.h"

#include <atomic>
#include <string>
#include <utility>

namespace shiplog::api {
namespace {

/// What a connection answers with if its handler does not.
constexpr int kNoAnswer = 500;

class ObservedWriter final : public ResponseWriter {
 public:
  ObservedWriter(std::shared_ptr<ResponseWriter> writer, std::function<void(int)> answered)
      : writer_{std::move(writer)}, answered_{std::move(answered)} {}
  ~ObservedWriter() override { report(writer_->closed() ? 0 : kNoAnswer); }
  ObservedWriter(const ObservedWriter&) = delete;
  ObservedWriter& operator=(const ObservedWriter&) = delete;

  void send(HttpResponse response) override {
    report(response.status);
    writer_->send(std::move(response));
  }
  void start(int status, HttpHeaders headers) override {
    report(status);
    writer_->start(status, std::move(headers));
  }
  void write(std::string chunk, Done done) override { writer_->write(std::move(chunk), std::move(done)); }
  void end() override { writer_->end(); }
  void upgrade(HttpHeaders headers, Upgraded then) override {
    report(101);
    writer_->upgrade(std::move(headers), std::move(then));
  }
  void on_close(std::function<void()> callback) override { writer_->on_close(std::move(callback)); }
  bool closed() const override { return writer_->closed(); }

 private:
  void report(int status) {
    if (!reported_.exchange(true)) answered_(status);
  }

  const std::shared_ptr<ResponseWriter> writer_;
  const std::function<void(int)> answered_;
  std::atomic<bool> reported_{false};
};

}  // namespace

std::shared_ptr<ResponseWriter> observed(std::shared_ptr<ResponseWriter> writer,
                                         std::function<void(int status)> answered) {
  return std::make_shared<ObservedWriter>(std::move(writer), std::move(answered));
}

}  // namespace shiplog::api
