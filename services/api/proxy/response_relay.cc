#include "services/api/proxy/response_relay.h"

#include <utility>

namespace shiplog::api {

void ResponseRelay::start(HttpClient& client, HttpRequest request, HttpClient::PacedStream paced) {
  paced.on_head = [self = shared_from_this()](const HttpResponse& response) { self->head(response); };
  paced.on_part = [self = shared_from_this()](std::string bytes, std::function<void()> more) {
    self->part(std::move(bytes), std::move(more));
  };
  paced.on_end = [self = shared_from_this()](const Result<void>& ended) { self->end(ended); };
  auto stream = client.stream(std::move(request), std::move(paced));
  {
    const std::lock_guard lock{mutex_};
    stream_ = stream;
    if (cancelled_) stream->cancel();
  }
  options_.writer->on_close([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->cancel();
  });
}

void ResponseRelay::head(const HttpResponse& head) {
  auto headers = options_.headers(head);
  if (!headers) {
    fail(headers.error());
    return cancel();
  }
  {
    const std::lock_guard lock{mutex_};
    phase_ = Phase::kBefore;
  }
  options_.before(head.status, [self = shared_from_this(), status = head.status,
                                headers = std::move(headers).value()](const Result<void>& may) mutable {
    if (may) return self->begin(status, std::move(headers));
    self->fail(may.error());
    self->cancel();
  });
}

void ResponseRelay::begin(int status, HttpHeaders headers) {
  std::string bytes;
  std::function<void()> more;
  bool ended = false;
  {
    const std::lock_guard lock{mutex_};
    if (phase_ != Phase::kBefore) return;
    phase_ = Phase::kPassing;
    bytes = std::move(held_);
    more = std::exchange(held_more_, nullptr);
    ended = ended_;
    options_.writer->start(status, std::move(headers));
  }
  if (more) write(std::move(bytes), std::move(more));
  if (ended) end(cut_ ? Result<void>{Error{ErrorCode::kUnavailable, "cut"}} : ok());
}

void ResponseRelay::part(std::string bytes, std::function<void()> more) {
  {
    const std::lock_guard lock{mutex_};
    if (phase_ == Phase::kBefore) {
      held_ = std::move(bytes);
      held_more_ = std::move(more);
      return;
    }
    if (phase_ != Phase::kPassing) return;
  }
  write(std::move(bytes), std::move(more));
}

void ResponseRelay::write(std::string bytes, std::function<void()> more) {
  options_.writer->write(std::move(bytes), [self = shared_from_this(), more = std::move(more)](
                                               const Result<void>& done) { done ? more() : self->cancel(); });
}

void ResponseRelay::end(const Result<void>& ended) {
  Phase before = Phase::kOver;
  {
    const std::lock_guard lock{mutex_};
    if (phase_ == Phase::kBefore) {
      ended_ = true;
      cut_ = !ended;
      return;
    }
    before = std::exchange(phase_, Phase::kOver);
    stream_ = nullptr;
  }
  if (before == Phase::kWaiting)
    return options_.failed(ended ? Error{ErrorCode::kInternal, "no answer"} : ended.error());
  // Cut off, it ends without its last chunk when the writer is dropped: the client must see that.
  if (before == Phase::kPassing && ended) options_.writer->end();
}

void ResponseRelay::fail(const Error& error) {
  {
    const std::lock_guard lock{mutex_};
    if (phase_ == Phase::kPassing || phase_ == Phase::kOver) return;
    phase_ = Phase::kOver;
  }
  options_.failed(error);
}

void ResponseRelay::cancel() {
  const std::lock_guard lock{mutex_};
  cancelled_ = true;
  if (stream_ != nullptr) stream_->cancel();
}

}  // namespace shiplog::api
