#include "services/programs/agent/uplink.h"

#include <utility>

namespace shiplog::agent {

void Uplink::wake(const ObjectKey& key) {
  queue_.wake(key, options_.executor->now(), {});
  arm();
}

void Uplink::arm() {
  const auto due = queue_.next_due();
  if (!due || pumping_) return;
  const UtcMillis now = options_.executor->now();
  if (*due <= now) {
    pumping_ = true;
    return options_.executor->post([this, alive = alive_] {
      if (!*alive) return;
      pumping_ = false;
      pump();
    });
  }
  if (armed_ && *armed_ > now && *armed_ <= *due) return;
  armed_ = *due;
  options_.executor->post_after(*due - now, [this, alive = alive_, at = *due] {
    if (!*alive) return;
    if (armed_ == at) armed_.reset();
    arm();
  });
}

void Uplink::pump() {
  while (queue_.busy() < options_.at_once) {
    const auto taken = queue_.take(options_.executor->now());
    if (!taken) break;
    auto request = options_.plan(taken->key);
    if (!request) {
      queue_.done(taken->key, options_.executor->now(), std::nullopt);
      continue;
    }
    options_.server->request(options_.name, std::move(*request),
                             [this, alive = alive_, key = taken->key](const Result<MemberResponse>& response) {
                               if (*alive) answered(key, response);
                             });
  }
  if (queue_.busy() < options_.at_once) arm();
}

void Uplink::answered(const ObjectKey& key, const Result<MemberResponse>& response) {
  const UtcMillis now = options_.executor->now();
  const int status = response ? response.value().status : 0;
  if (status == 200 || status == 201) {
    // What has moved on meanwhile has woken the key. It is not compared again by itself: a server that stores something
    // else than it was sent would be sent it for ever.
    queue_.done(key, now, std::nullopt);
    options_.accepted(key, response.value().body);
  } else if (status == 404) {
    queue_.done(key, now, std::nullopt);  // the watch reports it, too
  } else {
    queue_.retry(key, now, *options_.random);
    if (status != 409 && options_.failed) {
      options_.failed(key, response
                               ? Error{status == 401 || status == 403 ? ErrorCode::kForbidden : ErrorCode::kUnavailable,
                                       to_string(key) + ": " + response.value().message()}
                               : response.error().context(to_string(key)));
    }
  }
  arm();
}

}  // namespace shiplog::agent
