#include "services/api/proxy/byte_relay.h"

#include <atomic>
#include <string>
#include <utility>

namespace shiplog::api {
namespace {

class ByteRelay : public std::enable_shared_from_this<ByteRelay> {
 public:
  ByteRelay(std::shared_ptr<ByteStream> one, std::shared_ptr<ByteStream> other,
            std::function<void(std::function<void()>)> after_linger, std::shared_ptr<void> kept)
      : one_{std::move(one)},
        other_{std::move(other)},
        after_linger_{std::move(after_linger)},
        kept_{std::move(kept)} {}

  void start() {
    pass(one_, other_);
    pass(other_, one_);
  }

 private:
  using Stream = std::shared_ptr<ByteStream>;

  void pass(const Stream& from, const Stream& to) {
    from->read([self = shared_from_this(), from, to](Result<std::string> bytes) {
      if (!bytes) return self->close();
      if (bytes.value().empty()) return self->finish(to);
      to->write(std::move(bytes).value(),
                [self, from, to](const Result<void>& written) { written ? self->pass(from, to) : self->close(); });
    });
  }

  void finish(const Stream& to) {
    if (++finished_ == 2) return close();
    to->finish();
    after_linger_([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->close();
    });
  }

  /// Reads and writes under way end with an error, which closes the other side as well; that is no harm.
  void close() {
    one_->close();
    other_->close();
  }

  const Stream one_, other_;
  const std::function<void(std::function<void()>)> after_linger_;
  const std::shared_ptr<void> kept_;
  std::atomic<int> finished_{0};
};

}  // namespace

void relay_bytes(std::shared_ptr<ByteStream> one, std::shared_ptr<ByteStream> other,
                 std::function<void(std::function<void()>)> after_linger, std::shared_ptr<void> kept) {
  std::make_shared<ByteRelay>(std::move(one), std::move(other), std::move(after_linger), std::move(kept))->start();
}

}  // namespace shiplog::api
