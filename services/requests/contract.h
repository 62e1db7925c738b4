#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

// The messages of schemas/requests/v1/requests.proto, where every field is described, and their two forms.
namespace shiplog::requests {

struct RequestAddress {
  std::string api_version, kind, resource, ns, name, subresource;
  bool operator==(const RequestAddress&) const = default;
};

enum class RequestVerb { kApply, kCreate, kPatch, kDelete, kScale };
const char* name_of(RequestVerb verb);

struct ProducedRequest {
  std::string id;
  RequestVerb verb = RequestVerb::kApply;
  RequestAddress object;
  std::string manifest;
  std::string content_type;
  std::string patch_type;
  std::string field_manager;
  bool force = false;
  bool dry_run = false;
  std::string expected_version, expected_uid;
  std::optional<int64_t> replicas;
  std::string token;
  std::optional<UtcMillis> deadline;
  std::string propagation_policy;
};

/// A record of a topic. Offset -1: the request came over HTTP.
struct RequestRecord {
  std::string topic;
  int32_t partition = 0;
  int64_t offset = -1;
  bool operator==(const RequestRecord&) const = default;
};

struct ProducedResult {
  std::string id;
  std::string outcome;
  bool duplicate = false;
  int32_t code = 0;
  std::string reason, message;
  uint64_t revision = 0;
  std::string uid, resource_version, entry_id;
  RequestRecord record = {};
  bool operator==(const ProducedResult&) const = default;
};

/// The forms: JSON, and Protobuf under this content type.
inline constexpr const char* kRequestsProtobuf = "application/x-protobuf";
bool is_protobuf(std::string_view content_type);

/// Why a message is no request; `id` is what could be read of its idempotency id.
struct InvalidRequest {
  std::string id;
  std::string reason;
};
template <class T>
using Parsed = boost::outcome_v2::basic_result<T, InvalidRequest, boost::outcome_v2::policy::terminate>;

/// Reads a request and checks everything that needs no knowledge of the fleet. The address is completed from a JSON
/// manifest. Pure: what is invalid once is always invalid.
Parsed<ProducedRequest> parse_request(std::string_view content_type, std::string_view bytes);
/// The same of JSON that was read already.
Parsed<ProducedRequest> request_from(const Value& json);

Value to_value(const ProducedResult& result);
std::string write_result(std::string_view content_type, const ProducedResult& result);

/// Requests with the same text are about the same object, and are carried out one after the other. "" is that of a
/// request whose object gets its name here: each makes another one.
std::string order_key(const ProducedRequest& request);

/// The result for something that is no request.
ProducedResult result_of(const InvalidRequest& invalid);

}  // namespace shiplog::requests
