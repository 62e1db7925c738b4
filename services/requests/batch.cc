#include "services/requests/batch.h"

#include <algorithm>

#include "events/base/json.h"
#include "events/base/utf8.h"

namespace shiplog::requests {
namespace {

Error too_many(size_t most) {
  return {ErrorCode::kTooLarge, "more than " + std::to_string(most) + " requests in one call: send several"};
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\n") == std::string_view::npos; }

Result<RequestBatch> parse_lines(std::string_view body, size_t most) {
  RequestBatch batch;
  while (!body.empty()) {
    const size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (is_blank(line)) continue;
    if (batch.size() == most) return too_many(most);
    batch.push_back(parse_request("application/json", line));
  }
  return batch;
}

}  // namespace

Result<RequestBatch> parse_batch(std::string_view content_type, std::string_view body, size_t most) {
  RequestBatch batch;
  if (is_protobuf(content_type)) {
    batch.push_back(parse_request(content_type, body));
    return batch;
  }
  if (!is_utf8(body)) return Error{ErrorCode::kBadRequest, "the body is not UTF-8"};
  if (is_blank(body)) return Error{ErrorCode::kBadRequest, "the body holds no request"};
  if (const auto json = parse_json(body)) {
    if (!json.value().is_array()) {
      batch.push_back(request_from(json.value()));
      return batch;
    }
    if (json.value().size() > most) return too_many(most);
    for (const Value& item : json.value().items()) batch.push_back(request_from(item));
    if (batch.empty()) return Error{ErrorCode::kBadRequest, "the body holds no request"};
    return batch;
  }
  return parse_lines(body, most);
}

}  // namespace shiplog::requests
