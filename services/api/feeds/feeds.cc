#include "services/api/feeds/feeds.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/json.h"
#include "services/api/feeds/feed_stream.h"
#include "services/api/status.h"
#include "services/feeds/event_schema.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kPrefix = "/feeds/";
constexpr std::string_view kSchemas = "schemas/";
constexpr std::string_view kJson = ".json";
constexpr int64_t kMostSeconds = 365 * 24 * 3600;

Result<uint64_t> number_of(std::string_view parameter, std::string_view text, uint64_t most) {
  uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || end != text.data() + text.size() || number > most) {
    return Error{ErrorCode::kBadRequest, std::string{parameter} + ": \"" + std::string{text} +
                                             "\" is not a whole number from 0 to " + std::to_string(most)};
  }
  return number;
}

Result<void> read_parameter(std::string_view name, const std::string& value, FeedRequest& asked) {
  if (name == "from") {
    SHIPLOG_TRY(asked.from.value, number_of(name, value, INT64_MAX));
  } else if (name == "after") {
    SHIPLOG_TRY(asked.after, feeds::parse_sequence(value));
  } else if (name == "follow") {
    asked.follow = value != "false" && value != "0";
  } else if (name == "timeoutSeconds") {
    SHIPLOG_TRY(const uint64_t seconds, number_of(name, value, kMostSeconds));
    if (seconds > 0) asked.timeout = Millis{static_cast<int64_t>(seconds) * 1000};  // 0: none, as of a watch
  } else {
    return Error{ErrorCode::kBadRequest, "\"" + std::string{name} +
                                             "\" is not a parameter of feeds: from, after, follow and timeoutSeconds "
                                             "are"};
  }
  return ok();
}

Result<FeedRequest> feed_request(std::string_view feed, const HttpRequest& request) {
  FeedRequest asked;
  SHIPLOG_TRY(asked.families, feeds::parse_families(feed));
  for (const auto& [name, value] : request.query) {
    SHIPLOG_TRY(read_parameter(name, value, asked));
  }
  if (request.query_value("from") != nullptr && asked.after) {
    return Error{ErrorCode::kBadRequest, "from and after both name the start: use one of them"};
  }
  // A browser that connects again repeats the URL, and adds how far it has come.
  if (const std::string* last = request.headers.find("Last-Event-ID"); last != nullptr && !last->empty()) {
    SHIPLOG_TRY(asked.after, feeds::parse_sequence(*last));
  }
  asked.server_sent_events = request.headers.get("Accept").find("text/event-stream") != std::string_view::npos;
  return asked;
}

Result<Value> schema_document(std::string_view file) {
  if (file.ends_with(kJson)) {
    file.remove_suffix(kJson.size());
    for (feeds::FeedEventSchema& schema : feeds::event_schemas()) {
      if (schema.kind == file) return std::move(schema.schema);
    }
  }
  return Error{ErrorCode::kNotFound, "there is no event " + std::string{file} + ": see docs/events.md"};
}

void answer(ResponseWriter& writer, int status, const char* type, const Value& body) {
  writer.send({status, {{"Content-Type", type}, {"Cache-Control", "no-cache, private"}}, to_json(body) + "\n"});
}

void answer(ResponseWriter& writer, const Error& error) {
  answer(writer, http_status(error.code), "application/json", failure_status(error));
}

}  // namespace

bool serve_feeds(Store& store, const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
  if (!request.path.starts_with(kPrefix)) return false;
  const std::string_view what = std::string_view{request.path}.substr(kPrefix.size());
  if (request.method != "GET") {
    answer(*writer, Error{ErrorCode::kMethodNotAllowed, "feeds are for reading: use GET, not " + request.method});
    return true;
  }
  if (what.starts_with(kSchemas)) {
    if (const auto schema = schema_document(what.substr(kSchemas.size()))) {
      answer(*writer, 200, "application/schema+json", schema.value());
    } else {
      answer(*writer, schema.error());
    }
    return true;
  }
  const auto begun = [&]() -> Result<void> {
    SHIPLOG_TRY(const FeedRequest asked, feed_request(what, request));
    return stream_feed(store, asked, writer);
  }();
  if (!begun) answer(*writer, begun.error());
  return true;
}

}  // namespace shiplog::api
