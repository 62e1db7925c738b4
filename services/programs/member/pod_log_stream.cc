#include "services/programs/member/pod_log_stream.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "services/api/status.h"

namespace shiplog::member {
namespace {

constexpr size_t kLogPiece = 32 * 1024;

class LogStream final : public PodSession, public std::enable_shared_from_this<LogStream> {
 public:
  LogStream(PodSessions& sessions, std::shared_ptr<ResponseWriter> writer, std::string pod_uid, LogLines lines,
            const LogOptions& options)
      : sessions_{sessions},
        writer_{std::move(writer)},
        pod_uid_{std::move(pod_uid)},
        lines_{std::move(lines)},
        options_{options},
        left_{options.limit_bytes} {}

  void begin() {
    const UtcMillis now = sessions_.executor().now();
    const int64_t count = lines_.count(now);
    next_ = std::max<int64_t>(0, count - LogLines::kMostKept);
    if (options_.since_seconds) next_ = std::max(next_, lines_.first_since(since(now, *options_.since_seconds)));
    if (options_.since_time) next_ = std::max(next_, lines_.first_since(*options_.since_time));
    if (options_.tail_lines) next_ = std::max(next_, count - std::min(count, *options_.tail_lines));
    writer_->start(200, {{"Content-Type", "text/plain"}});
    writer_->on_close([weak = weak_from_this(), &executor = sessions_.executor()] {
      executor.post([weak] {
        if (const auto self = weak.lock()) self->finish();
      });
    });
    write_on();
  }

  void end() override { finish(); }

 private:
  static UtcMillis since(UtcMillis now, int64_t seconds) {
    constexpr int64_t kLongest = int64_t{100} * 365 * 86400;
    return UtcMillis{now.value - std::min(seconds, kLongest) * 1000};
  }

  void write_on() {
    if (over_) return;
    const int64_t count = lines_.count(sessions_.executor().now());
    std::string piece;
    while (next_ < count && piece.size() < kLogPiece) {
      const LogLine line = lines_.line(next_++);
      if (options_.timestamps) piece += nanoseconds(line.time) + " ";
      piece.append(line.text).append(1, '\n');
    }
    const bool full = left_ && static_cast<int64_t>(piece.size()) >= *left_;
    if (full) piece.resize(static_cast<size_t>(*left_));
    if (left_) *left_ -= static_cast<int64_t>(piece.size());
    if (piece.empty()) return wait_or_finish(full);
    writer_->write(std::move(piece), [self = shared_from_this(), full](const Result<void>& written) {
      self->sessions_.executor().post([self, full, done = written.has_value()] {
        if (!done || full) return self->finish();
        self->write_on();
      });
    });
  }

  /// kubelet's RFC3339Nano, with all digits.
  static std::string nanoseconds(UtcMillis time) {
    std::string text = rfc3339_millis(time);
    if (text.ends_with('Z')) text.insert(text.size() - 1, "000000");
    return text;
  }

  void wait_or_finish(bool full) {
    const UtcMillis now = sessions_.executor().now();
    const auto next = lines_.next(now);
    if (!options_.follow || !next || full) return finish();
    sessions_.executor().post_after(*next - now, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->write_on();
    });
  }

  void finish() {
    if (std::exchange(over_, true)) return;
    writer_->end();
    sessions_.leave(pod_uid_, this);
  }

  PodSessions& sessions_;
  std::shared_ptr<ResponseWriter> writer_;
  std::string pod_uid_;
  LogLines lines_;
  LogOptions options_;
  std::optional<int64_t> left_;  // of limitBytes
  int64_t next_ = 0;
  bool over_ = false;
};

}  // namespace

void stream_log(PodSessions& sessions, const std::shared_ptr<ResponseWriter>& writer, const std::string& pod_uid,
                LogLines lines, const LogOptions& options) {
  const auto stream = std::make_shared<LogStream>(sessions, writer, pod_uid, std::move(lines), options);
  if (auto entered = sessions.enter(pod_uid, stream); !entered) {
    return writer->send({429,
                         {{"Content-Type", "application/json"}, {"Retry-After", "1"}},
                         to_json(api::failure_status(entered.error())) + "\n"});
  }
  stream->begin();
}

}  // namespace shiplog::member
