#include "services/http/exchange.h"

#include <utility>

namespace shiplog {
namespace {

/// Hands the calls of any thread over to the connection's strand. Always through its queue, also from the strand
/// itself: an end() there must not overtake a write() that another thread made before.
class Exchange final : public ResponseWriter {
 public:
  Exchange(std::shared_ptr<HttpConnection> connection, uint64_t number, std::shared_ptr<std::atomic<bool>> over)
      : connection_{std::move(connection)}, number_{number}, over_{std::move(over)} {}
  ~Exchange() override {
    // The reference goes along, so that a connection always ends on its own strand.
    const net::Strand strand = connection_->strand();
    strand.post([to = std::move(connection_), number = number_] { to->abandoned(number); });
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void send(HttpResponse response) override {
    connection_->strand().post([to = connection_, number = number_, response = std::move(response)]() mutable {
      to->send(number, std::move(response));
    });
  }
  void start(int status, HttpHeaders headers) override {
    connection_->strand().post([to = connection_, number = number_, status, headers = std::move(headers)]() mutable {
      to->start_stream(number, status, std::move(headers));
    });
  }
  void write(std::string chunk, Done done) override {
    connection_->strand().post(
        [to = connection_, number = number_, chunk = std::move(chunk), done = std::move(done)]() mutable {
          to->write_chunk(number, std::move(chunk), std::move(done));
        });
  }
  void end() override {
    connection_->strand().post([to = connection_, number = number_] { to->end_stream(number); });
  }
  void upgrade(HttpHeaders headers, Upgraded then) override {
    connection_->strand().post(
        [to = connection_, number = number_, headers = std::move(headers), then = std::move(then)]() mutable {
          to->upgrade(number, std::move(headers), std::move(then));
        });
  }
  void on_close(std::function<void()> callback) override {
    connection_->strand().post([to = connection_, number = number_, callback = std::move(callback)]() mutable {
      to->when_closed(number, std::move(callback));
    });
  }
  bool closed() const override { return over_->load(); }

 private:
  std::shared_ptr<HttpConnection> connection_;
  uint64_t number_;
  std::shared_ptr<std::atomic<bool>> over_;
};

}  // namespace

std::shared_ptr<ResponseWriter> response_writer(std::shared_ptr<HttpConnection> connection, uint64_t exchange,
                                                std::shared_ptr<std::atomic<bool>> over) {
  return std::make_shared<Exchange>(std::move(connection), exchange, std::move(over));
}

}  // namespace shiplog
