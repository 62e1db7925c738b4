#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/http/http.h"

/// HTTP/1.1 messages out of bytes, on Beast's parser. Internal to services/http.
namespace shiplog {

enum class ParseStep {
  kNeedMore,  ///< give the unused bytes again, with more behind them
  kHeader,    ///< the header is complete; go on with the unused bytes
  kDone,      ///< the message is complete; unused bytes belong to the next one
  kFailed,    ///< problem() and status() have the cause
};

struct ParseLimits {
  size_t header_bytes = 64 * 1024;
  size_t target_bytes = 16 * 1024;
  size_t body_bytes = 4 * 1024 * 1024;
};

/// One request.
class RequestParser {
 public:
  explicit RequestParser(const ParseLimits& limits);
  ~RequestParser();
  /// `used` becomes the number of bytes consumed from the front of `bytes`.
  ParseStep feed(std::string_view bytes, size_t& used);
  /// What is known so far: the target once the request line is read, then the headers, then the body.
  HttpRequest& request();
  bool http11() const;
  bool keep_alive() const;
  int status() const;  ///< of a kFailed: 400, 413, 414, 431, 501
  const std::string& problem() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One response. The body gathers in response().body, from where the owner may take it at any time.
class ResponseParser {
 public:
  /// `body_bytes` of the limits bounds what gathers, not what passes.
  ResponseParser(bool answers_head, const ParseLimits& limits);
  ~ResponseParser();
  ParseStep feed(std::string_view bytes, size_t& used);
  /// The connection has ended: kDone when the message ends that way, else kFailed.
  ParseStep feed_end();
  HttpResponse& response();
  bool started() const;          ///< at least one byte arrived
  bool header_complete() const;  ///< status and headers are there
  bool keep_alive() const;
  bool too_large() const;  ///< the kFailed was the body limit
  const std::string& problem() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
