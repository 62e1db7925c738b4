#include "services/api/pipeline/warned_writer.h"

#include <utility>

namespace shiplog::api {
namespace {

class WarnedWriter final : public ResponseWriter {
 public:
  WarnedWriter(std::shared_ptr<ResponseWriter> writer, std::string warning)
      : writer_{std::move(writer)}, warning_{std::move(warning)} {}

  void send(HttpResponse response) override {
    response.headers.add("Warning", warning_);
    writer_->send(std::move(response));
  }
  void start(int status, HttpHeaders headers) override {
    headers.add("Warning", warning_);
    writer_->start(status, std::move(headers));
  }
  void write(std::string chunk, Done done) override { writer_->write(std::move(chunk), std::move(done)); }
  void end() override { writer_->end(); }
  void upgrade(HttpHeaders headers, Upgraded then) override { writer_->upgrade(std::move(headers), std::move(then)); }
  void on_close(std::function<void()> callback) override { writer_->on_close(std::move(callback)); }
  bool closed() const override { return writer_->closed(); }

 private:
  std::shared_ptr<ResponseWriter> writer_;
  std::string warning_;
};

}  // namespace

std::shared_ptr<ResponseWriter> warned(std::shared_ptr<ResponseWriter> writer, std::string warning) {
  return std::make_shared<WarnedWriter>(std::move(writer), std::move(warning));
}

}  // namespace shiplog::api
