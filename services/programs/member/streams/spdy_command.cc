#include "services/programs/member/streams/spdy_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "services/http/spdy/session.h"

namespace shiplog::member {
namespace {

constexpr Millis kCreationTimeout{30'000};  // as kubelet's

// Most wanted last: the number is the version.
constexpr std::array<const char*, 5> kSpdyProtocols = {"channel.k8s.io", "v2.channel.k8s.io", "v3.channel.k8s.io",
                                                       "v4.channel.k8s.io", "v5.channel.k8s.io"};

class SpdyCommand final : public CommandStreams, public std::enable_shared_from_this<SpdyCommand> {
 public:
  SpdyCommand(int version, StreamChoice choice, CommandReady ready)
      : version_{version}, choice_{choice}, ready_{std::move(ready)} {}

  void begin(std::shared_ptr<ByteStream> bytes, Executor& executor) {
    constexpr spdy::SessionLimits kLimits{.streams = 8, .held_bytes = 256 * 1024};
    session_ = spdy::SpdySession::start(
        std::move(bytes), kLimits,
        [weak = weak_from_this()](const std::shared_ptr<spdy::SpdyStream>& stream) {
          const auto self = weak.lock();
          return self != nullptr && self->open(stream);
        },
        [self = shared_from_this()](const Error& error) { self->lost(error); });
    executor.post_after(kCreationTimeout, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || self->ready_ == nullptr) return;
      self->session_->close();
    });
  }

  void read(Received received) override {
    if (in_ == nullptr) return received(std::string{});
    in_->read(std::move(received));
  }

  void write(Output output, std::string bytes, ByteStream::Done done) override {
    const auto& stream = output == Output::kStandardError && !choice_.tty ? error_out_ : out_;
    if (stream == nullptr || bytes.empty()) return done(ok());
    for (; bytes.size() > kLongestPiece; bytes.erase(0, kLongestPiece)) {
      stream->write(std::string_view{bytes}.substr(0, kLongestPiece), [](const Result<void>&) {});
    }
    stream->write(bytes, std::move(done));
  }

  void finish(const Value& status) override {
    if (std::exchange(finished_, true)) return;
    const bool success = status["status"].as_string() == "Success";
    const std::string text = version_ >= 4 ? to_json(status) : success ? std::string{} : status["message"].str();
    if (!text.empty()) outcome_->write(text, [](const Result<void>&) {});
    for (const auto& stream : {out_, error_out_, outcome_, in_, resize_}) {
      if (stream != nullptr) stream->finish();
    }
    gone_ = nullptr;
    session_->close();
  }

  void on_gone(std::function<void()> gone) override { gone_ = std::move(gone); }

 private:
  bool open(const std::shared_ptr<spdy::SpdyStream>& stream) {
    const std::string_view type = stream->headers().get("streamtype");
    std::shared_ptr<spdy::SpdyStream>* place = nullptr;
    if (type == "error") place = &outcome_;
    if (type == "stdin" && choice_.standard_in) place = &in_;
    if (type == "stdout" && choice_.standard_out) place = &out_;
    if (type == "stderr" && choice_.standard_error && !choice_.tty) place = &error_out_;
    if (type == "resize" && choice_.tty) place = &resize_;
    if (place == nullptr || *place != nullptr) return false;
    *place = stream;
    if (place == &resize_) skip(stream);
    if (complete() && ready_) std::exchange(ready_, nullptr)(std::shared_ptr<CommandStreams>{shared_from_this()});
    return true;
  }

  bool complete() const {
    return outcome_ != nullptr && (in_ != nullptr || !choice_.standard_in) &&
           (out_ != nullptr || !choice_.standard_out) &&
           (error_out_ != nullptr || !choice_.standard_error || choice_.tty) &&
           (resize_ != nullptr || !choice_.tty || version_ < 3);
  }

  /// The size of the terminal does not matter here.
  static void skip(const std::shared_ptr<spdy::SpdyStream>& stream) {
    stream->read([stream](const Result<std::string>& bytes) {
      if (bytes && !bytes.value().empty()) skip(stream);
    });
  }

  void lost(const Error& error) {
    if (const auto ready = std::exchange(ready_, nullptr)) ready(error);
    if (const auto gone = std::exchange(gone_, nullptr)) gone();
  }

  int version_;
  StreamChoice choice_;
  CommandReady ready_;
  std::shared_ptr<spdy::SpdySession> session_;
  std::shared_ptr<spdy::SpdyStream> outcome_, in_, out_, error_out_, resize_;
  std::function<void()> gone_;
  bool finished_ = false;
};

/// The newest version that both sides know, as an index into kSpdyProtocols. No header at all: the first version.
std::optional<size_t> chosen_version(const HttpRequest& request) {
  const auto offered = stream_protocols(request);
  if (offered.empty()) return 0;
  for (const std::string& name : offered) {
    const auto found = std::ranges::find(kSpdyProtocols, name);
    if (found != kSpdyProtocols.end()) return static_cast<size_t>(found - kSpdyProtocols.begin());
  }
  return std::nullopt;
}

}  // namespace

void open_spdy_command(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer, StreamChoice choice,
                       Executor& executor, CommandReady ready) {
  const auto protocol = chosen_version(request);
  if (!protocol) {
    const Error error{ErrorCode::kForbidden,
                      "unable to upgrade: none of the client's protocols in X-Stream-Protocol-Version is known: known "
                      "are v5.channel.k8s.io to v2.channel.k8s.io, and channel.k8s.io"};
    HttpHeaders headers{{"Content-Type", "text/plain; charset=utf-8"}};
    for (const char* name : kSpdyProtocols) headers.add("X-Accepted-Stream-Protocol-Versions", name);
    writer->send({403, std::move(headers), error.message + "\n"});
    return ready(error);
  }
  HttpHeaders headers{{"Upgrade", "SPDY/3.1"}};
  if (!stream_protocols(request).empty()) headers.add("X-Stream-Protocol-Version", kSpdyProtocols[*protocol]);
  const int version = static_cast<int>(*protocol) + 1;
  writer->upgrade(std::move(headers), [version, choice, &executor,
                                       ready = std::move(ready)](Result<std::shared_ptr<ByteStream>> stream) {
    executor.post([version, choice, &executor, ready, stream = std::move(stream)] {
      if (!stream) return ready(stream.error());
      std::make_shared<SpdyCommand>(version, choice, ready)->begin(on_executor(stream.value(), executor), executor);
    });
  });
}

}  // namespace shiplog::member
