#include <algorithm>

#include "events/base/check.h"
#include "services/api/request.h"
#include "services/http/message_parser.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

// Small, so that inputs of a few thousand bytes reach them.
constexpr ParseLimits kLimits{1024, 256, 512};

struct ParsedRequest {
  ParseStep step = ParseStep::kNeedMore;
  HttpRequest request;
  bool keep_alive = false;
  size_t used = 0;
};

/// Parses one request from `bytes` that arrive in pieces, as on a connection.
ParsedRequest receive(std::string_view bytes, size_t piece) {
  RequestParser parser{kLimits};
  ParsedRequest received;
  size_t arrived = 0;
  while (true) {
    size_t used = 0;
    received.step = parser.feed(bytes.substr(received.used, arrived - received.used), used);
    SHIPLOG_CHECK(used <= arrived - received.used, "the parser takes no more than it was given");
    received.used += used;
    if (received.step == ParseStep::kHeader) continue;
    if (received.step != ParseStep::kNeedMore || arrived == bytes.size()) break;
    arrived = std::min(bytes.size(), arrived + piece);
  }
  if (received.step == ParseStep::kFailed) {
    SHIPLOG_CHECK(parser.status() >= 400 && parser.status() < 600, "a refusal has the status of an error");
    SHIPLOG_CHECK(!parser.problem().empty(), "a refusal has a message");
  }
  if (received.step == ParseStep::kDone) received.keep_alive = parser.keep_alive();
  received.request = std::move(parser.request());
  return received;
}

void check_bounds(const ParsedRequest& received) {
  SHIPLOG_CHECK(received.request.body.size() <= kLimits.body_bytes, "a body is no larger than allowed");
  if (received.step == ParseStep::kDone) {
    SHIPLOG_CHECK(received.request.target.size() <= kLimits.target_bytes, "a target is no longer than allowed");
  }
}

/// The parsing that the API server performs before it looks up objects.
void look_at(HttpRequest request) {
  if (!parse_target(request)) return;
  SHIPLOG_CHECK(request.path.find('\0') == std::string::npos, "no path has a NUL");
  if (request.path.starts_with('/')) {
    HttpRequest again;
    again.target = encode_target(request.path, request.query);
    SHIPLOG_CHECK(parse_target(again).has_value(), "an encoded target can be read");
    SHIPLOG_CHECK(again.path == request.path && again.query == request.query, "a target survives its encoding");
  }
  if (const auto path = api::parse_resource_path(request.path)) {
    SHIPLOG_CHECK(!path->version.empty() && !path->resource.empty(), "a resource has a version and a name");
  }
  for (const bool list : {false, true}) (void)api::negotiate(request.headers.get("Accept"), list);
  (void)api::media_type(request.headers.get("Content-Type"));
  (void)api::is_duration(api::text(request, "timeout"));
  (void)api::wants_pretty(request);
  (void)api::read_options(request);
  if (const auto write = api::write_parameters(request)) {
    SHIPLOG_CHECK(write.value().field_manager.size() <= 128, "a field manager has at most 128 bytes");
  }
}

}  // namespace

SHIPLOG_FUZZ_TARGET(http_request) {
  // A connection can carry several requests.
  while (!input.empty()) {
    const ParsedRequest whole = receive(input, input.size());
    check_bounds(whole);
    for (const size_t piece : {1U, 7U}) {
      const ParsedRequest split = receive(input, piece);
      check_bounds(split);
      // An invalid request may be detected after different numbers of bytes.
      SHIPLOG_CHECK((split.step == ParseStep::kDone) == (whole.step == ParseStep::kDone),
                    "how bytes arrive does not change whether they are a request");
      if (whole.step != ParseStep::kDone) continue;
      SHIPLOG_CHECK(split.used == whole.used && split.keep_alive == whole.keep_alive, "nor where it ends");
      SHIPLOG_CHECK(split.request.method == whole.request.method && split.request.target == whole.request.target &&
                        split.request.headers.all() == whole.request.headers.all() &&
                        split.request.body == whole.request.body,
                    "nor its content");
    }
    if (whole.step != ParseStep::kDone) return;
    SHIPLOG_CHECK(whole.used > 0, "a request has bytes");
    look_at(whole.request);
    input.remove_prefix(whole.used);
  }
}

}  // namespace shiplog
