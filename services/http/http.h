#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/result.h"

namespace shiplog {

/// Header fields in the order of arrival. Names compare without regard to case; a name may stand several times.
class HttpHeaders {
 public:
  using Field = std::pair<std::string, std::string>;

  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<Field> fields) : fields_{fields} {}

  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  /// Replaces every field of that name.
  void set(std::string name, std::string value);
  void erase(std::string_view name);
  /// The first field of that name; nullptr when there is none.
  const std::string* find(std::string_view name) const;
  /// The first field of that name, or `fallback`.
  std::string_view get(std::string_view name, std::string_view fallback = "") const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const std::vector<Field>& all() const { return fields_; }
  std::vector<Field>& all() { return fields_; }

 private:
  std::vector<Field> fields_;
};

/// Who is at the other end of a connection.
struct HttpPeer {
  std::string address;  ///< IP address without the port
  /// A client certificate was presented and verified against the client CA. The rest is empty when not.
  bool certified = false;
  /// One was presented that was not verified.
  bool stranger = false;
  std::string common_name;                 ///< Kubernetes: the user's name
  std::vector<std::string> organizations;  ///< Kubernetes: the user's groups
};

struct HttpRequest {
  using Query = std::vector<std::pair<std::string, std::string>>;

  std::string method = "GET";
  std::string target;  ///< as on the request line: "/api/v1/pods?limit=5". To send: made of path and query when empty
  std::string path;    ///< percent-decoded, without the query: "/api/v1/pods"
  Query query;         ///< percent-decoded, in order; a key without '=' has an empty value
  HttpHeaders headers;
  std::string body;
  HttpPeer peer;  ///< of received requests

  /// The first value of that key; nullptr when there is none.
  const std::string* query_value(std::string_view key) const;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;
};

/// Fills in path and query from target. Error: kBadRequest on a broken percent escape or a NUL.
Result<void> parse_target(HttpRequest& request);

/// The request line's form of a decoded path and query.
std::string encode_target(std::string_view path, const HttpRequest::Query& query);

/// Error: kBadRequest on a broken percent escape or a NUL.
Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

/// Escapes everything but letters, digits and "-._~" (and "/" when `keep_slash`).
std::string percent_encode(std::string_view text, bool keep_slash = false);

/// "Not Found" for 404; "Status" for a number that is not registered.
const char* reason_phrase(int status);

/// ASCII only, as HTTP compares names.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace shiplog
