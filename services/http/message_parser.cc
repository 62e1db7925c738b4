#include "services/http/message_parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/optional/optional.hpp>

namespace shiplog {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string text(string_view from) { return {from.data(), from.size()}; }

/// Puts what Beast's parser finds into a Message. `IsRequest` picks the start line.
template <bool IsRequest, class Message>
class Sink : public beast_http::basic_parser<IsRequest> {
 public:
  explicit Sink(const ParseLimits& parse_limits) : limits{parse_limits} {
    this->header_limit(static_cast<uint32_t>(limits.header_bytes));
    this->body_limit(boost::none);  // counted here, so that a stream may pass more than it gathers
    this->eager(false);             // stop after the header
  }

  ParseStep step(std::string_view bytes, size_t& used) {
    used = 0;
    while (true) {
      if (failed_status != 0) return ParseStep::kFailed;
      if (this->is_done()) return ParseStep::kDone;
      if (used == bytes.size()) return ParseStep::kNeedMore;
      // Beast ends the process when the last chunk is first and in pieces: it asserts that what it has begun to parse
      // has five bytes. No first chunk that begins so is shorter, so nothing waits for bytes that never arrive.
      const bool perhaps_last = header_done && this->chunked() && !chunk_begun && bytes[used] == kLastChunk.front();
      if (perhaps_last && bytes.size() - used < kLastChunk.size()) return ParseStep::kNeedMore;
      const bool had_header = header_done;
      error_code ec;
      const size_t taken = this->put(boost::asio::const_buffer{bytes.data() + used, bytes.size() - used}, ec);
      used += taken;
      if (!had_header) header_bytes += taken;
      if (header_bytes > limits.header_bytes) ec = beast_http::error::header_limit;
      if (ec == beast_http::error::need_more) return ParseStep::kNeedMore;
      if (ec) {
        fail(ec);
      } else if (header_done && !had_header) {
        return ParseStep::kHeader;
      }
    }
  }

  void fail(const error_code& ec) {
    if (failed_status != 0) return;  // a callback below has set a more specific one already
    problem = "malformed HTTP message: " + ec.message();
    failed_status = 400;
    if (ec == beast_http::error::header_limit) {
      problem = "the header is larger than " + std::to_string(limits.header_bytes) + " bytes";
      failed_status = 431;
    }
  }

  ParseLimits limits;
  Message message;
  std::string problem;
  int failed_status = 0;
  size_t header_bytes = 0;
  bool header_done = false;
  bool chunk_begun = false;  // the first one
  bool http11 = true;

 private:
  void stop(int status, std::string why, error_code& ec) {
    failed_status = status;
    problem = std::move(why);
    ec = beast_http::error::body_limit;  // any error ends the parse; fail() keeps ours
  }

  void too_large(error_code& ec) {
    stop(413, "the body is larger than " + std::to_string(limits.body_bytes) + " bytes", ec);
  }

  void on_request_impl(beast_http::verb, string_view method, string_view target, int version, error_code& ec) override {
    if constexpr (IsRequest) {
      message.method = text(method);
      message.target = text(target);
      http11 = version >= 11;
      if (target.size() > limits.target_bytes) {
        stop(414, "the URL is longer than " + std::to_string(limits.target_bytes) + " bytes", ec);
      }
    }
  }

  void on_response_impl(int code, string_view, int version, error_code&) override {
    if constexpr (!IsRequest) {
      message.status = code;
      http11 = version >= 11;
    }
  }

  void on_field_impl(beast_http::field, string_view name, string_view value, error_code&) override {
    if (!header_done) message.headers.add(text(name), text(value));  // fields after a chunked body are dropped
  }

  void on_header_impl(error_code& ec) override {
    header_done = true;
    if constexpr (IsRequest) {
      if (message.headers.contains("Transfer-Encoding") && !this->chunked()) {
        return stop(501, "only the chunked transfer encoding is understood", ec);
      }
      const auto length = this->content_length();
      if (length && *length > limits.body_bytes) return too_large(ec);
    }
  }

  void on_body_init_impl(const boost::optional<uint64_t>& length, error_code&) override {
    if (length && *length <= limits.body_bytes) message.body.reserve(static_cast<size_t>(*length));
  }

  size_t on_body_impl(string_view body, error_code& ec) override {
    if (message.body.size() + body.size() > limits.body_bytes) {
      too_large(ec);
      return 0;
    }
    message.body.append(body.data(), body.size());
    return body.size();
  }

  void on_chunk_header_impl(uint64_t, string_view, error_code&) override { chunk_begun = true; }
  size_t on_chunk_body_impl(uint64_t, string_view body, error_code& ec) override { return on_body_impl(body, ec); }
  void on_finish_impl(error_code&) override {}
};

}  // namespace

struct RequestParser::Impl : Sink<true, HttpRequest> {
  using Sink::Sink;
};

RequestParser::RequestParser(const ParseLimits& limits) : impl_{std::make_unique<Impl>(limits)} {}
RequestParser::~RequestParser() = default;
ParseStep RequestParser::feed(std::string_view bytes, size_t& used) { return impl_->step(bytes, used); }
HttpRequest& RequestParser::request() { return impl_->message; }
bool RequestParser::http11() const { return impl_->http11; }
bool RequestParser::keep_alive() const { return impl_->keep_alive(); }
int RequestParser::status() const { return impl_->failed_status; }
const std::string& RequestParser::problem() const { return impl_->problem; }

struct ResponseParser::Impl : Sink<false, HttpResponse> {
  using Sink::Sink;
};

ResponseParser::ResponseParser(bool answers_head, const ParseLimits& limits) : impl_{std::make_unique<Impl>(limits)} {
  impl_->skip(answers_head);
}
ResponseParser::~ResponseParser() = default;
ParseStep ResponseParser::feed(std::string_view bytes, size_t& used) { return impl_->step(bytes, used); }

ParseStep ResponseParser::feed_end() {
  if (impl_->failed_status != 0) return ParseStep::kFailed;
  if (impl_->is_done()) return ParseStep::kDone;
  error_code ec = beast_http::error::partial_message;
  if (impl_->got_some()) impl_->put_eof(ec);
  if (!ec) return ParseStep::kDone;
  impl_->fail(ec);
  impl_->problem = "the connection ended in the middle of the answer";
  return ParseStep::kFailed;
}

HttpResponse& ResponseParser::response() { return impl_->message; }
bool ResponseParser::started() const { return impl_->got_some(); }
bool ResponseParser::header_complete() const { return impl_->header_done; }
bool ResponseParser::keep_alive() const { return impl_->keep_alive(); }
bool ResponseParser::too_large() const { return impl_->failed_status == 413; }
const std::string& ResponseParser::problem() const { return impl_->problem; }

}  // namespace shiplog
