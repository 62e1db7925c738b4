#include "services/api/pipeline/responses.h"

#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/base/yaml.h"
#include "services/api/table/table.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

IncludeObject include_object(const HttpRequest& request) {
  const std::string wanted = text(request, "includeObject");
  if (wanted == "None") return IncludeObject::kNone;
  return wanted == "Object" ? IncludeObject::kObject : IncludeObject::kMetadata;
}

/// As the client requested it. The tables of a view are those of what is stored: its printers know no other form.
Value shown_in(const RequestContext& context, Value object) {
  if (context.kind == nullptr) return object;
  const bool as_stored = context.accept.form == Accept::Form::kTable && context.kind->is_view();
  if (as_stored || object["kind"].as_string() != context.kind->kind) return object;
  return pruned_in_version(*context.kind, std::move(object));
}

}  // namespace

std::vector<std::string> sent_warnings(const Warnings& warnings) {
  constexpr size_t kMostBytes = 4096;
  constexpr size_t kLongestOfMany = 256;
  std::vector<std::string> sent;
  std::set<std::string_view> known;
  size_t bytes = 0;
  for (const std::string& warning : warnings) {
    if (warning.empty() || !known.insert(warning).second) continue;
    sent.push_back(warning);
    bytes += warning.size();
  }
  if (bytes <= kMostBytes) return sent;
  bytes = 0;
  size_t count = 0;
  for (; count < sent.size() && bytes < kMostBytes; ++count) {
    sent[count] = printable(sent[count], kLongestOfMany);
    bytes += sent[count].size();
  }
  sent.resize(count);
  return sent;
}

std::string warning_header(std::string_view warning) {
  std::string quoted = "299 - \"";
  for (const char c : warning) {
    if (static_cast<unsigned char>(c) < 0x20) continue;
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

void send(const RequestContext& context, int status, const std::string& content_type, std::string body,
          const Warnings& warnings, int64_t retry_after_seconds) {
  HttpResponse response{
      status, {{"Content-Type", content_type}, {"Cache-Control", "no-cache, private"}}, std::move(body)};
  for (const std::string& warning : sent_warnings(warnings)) response.headers.add("Warning", warning_header(warning));
  if (retry_after_seconds > 0) response.headers.set("Retry-After", std::to_string(retry_after_seconds));
  context.writer->send(std::move(response));
}

void answer_object(const RequestContext& context, int status, const Value& stored, UtcMillis now,
                   const Warnings& warnings) {
  const Value object = shown_in(context, stored);
  const Accept& accept = context.accept;
  const Value* shown = &object;
  Value transformed;
  if (accept.form == Accept::Form::kTable && context.kind != nullptr) {
    const Kind& kind = context.path.subresource == "scale" ? scale_kind() : *context.kind;
    transformed = table_of(kind, std::span{&object, 1}, include_object(context.request), now, accept.meta_version);
    transformed.edit("metadata").set("resourceVersion", object["metadata"]["resourceVersion"]);
    shown = &transformed;
  } else if (accept.form == Accept::Form::kPartialMetadata) {
    transformed = partial_metadata(object, accept.meta_version);
    shown = &transformed;
  }
  if (accept.yaml) return send(context, status, "application/yaml", to_yaml(*shown), warnings);
  std::string body = accept.pretty ? to_pretty_json(*shown) : to_json(*shown);
  body += '\n';
  send(context, status, "application/json", std::move(body), warnings);
}

void answer_json(const RequestContext& context, int status, const std::string& json, const Warnings& warnings) {
  std::string body;
  body.reserve(json.size() + 1);
  body += json;
  body += '\n';
  send(context, status, "application/json", std::move(body), warnings);
}

bool accepts_stored_json(const RequestContext& context) {
  const Accept& accept = context.accept;
  return context.kind->storage && is_shown_as_stored(*context.kind) && accept.form == Accept::Form::kObject &&
         !accept.yaml && !accept.pretty;
}

void answer_list(const RequestContext& context, std::vector<Value> items, Value list_metadata, UtcMillis now,
                 const Warnings& warnings) {
  const Accept& accept = context.accept;
  const Kind& kind = *context.kind;
  for (Value& item : items) item = shown_in(context, std::move(item));
  Value list;
  if (accept.form == Accept::Form::kTable) {
    list = table_of(kind, items, include_object(context.request), now, accept.meta_version);
  } else if (accept.form == Accept::Form::kPartialMetadata) {
    for (Value& item : items) item = partial_metadata(item, accept.meta_version);
    list = Value::object({{"apiVersion", accept.meta_version}, {"kind", "PartialObjectMetadataList"}});
    list.set("items", Value::array(std::move(items)));
  } else {
    list = Value::object({{"apiVersion", kind.api_version()}, {"kind", kind.list_kind}});
    list.set("items", Value::array(std::move(items)));
  }
  list.set("metadata", std::move(list_metadata));
  if (accept.yaml) return send(context, 200, "application/yaml", to_yaml(list), warnings);
  std::string body = accept.pretty ? to_pretty_json(list) : to_json(list);
  body += '\n';
  send(context, 200, "application/json", std::move(body), warnings);
}

void answer_status(const RequestContext& context, int http, const Value& status, const Warnings& warnings) {
  const int64_t retry_after = status["details"]["retryAfterSeconds"].as_int();
  if (context.accept.yaml) return send(context, http, "application/yaml", to_yaml(status), warnings, retry_after);
  send(context, http, "application/json", to_json(status) + "\n", warnings, retry_after);
}

void fail(const RequestContext& context, const Error& error) {
  fail(context, error, context.kind != nullptr ? context.subject() : StatusDetails{});
}

namespace {

HttpResponse failure(const Error& error, const StatusDetails& subject) {
  return {http_status(error.code),
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}},
          to_json(failure_status(error, subject)) + "\n"};
}

}  // namespace

void fail_once(const RequestContext& context, const Error& error, const StatusDetails& subject) {
  context.writer->send(failure(error, subject));
}

void fail(const RequestContext& context, const Error& error, const StatusDetails& subject) {
  HttpResponse response = failure(error, subject);
  if (error.code == ErrorCode::kTooManyRequests || error.code == ErrorCode::kUnavailable) {
    response.headers.set("Retry-After", "1");
  }
  context.writer->send(std::move(response));
}

}  // namespace shiplog::api
