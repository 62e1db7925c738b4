#include <utility>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "projections/objects/object_query.h"
#include "services/api/context.h"
#include "services/api/table/table.h"
#include "services/api/versions/versions.h"
#include "services/api/views/views.h"
#include "services/http/gzip.h"

namespace shiplog::api {
namespace {

IncludeObject include_object(const HttpRequest& request) {
  const std::string wanted = text(request, "includeObject");
  if (wanted == "None") return IncludeObject::kNone;
  return wanted == "Object" ? IncludeObject::kObject : IncludeObject::kMetadata;
}

/// Of what a client says about itself, as much is stored with every change it makes.
constexpr size_t kLongestUserAgent = 1024;

bool is_secret(const Value& object) {
  return object["kind"].as_string() == "Secret" && object["apiVersion"].as_string() == "v1";
}

class StampedWriter final : public ResponseWriter {
 public:
  StampedWriter(std::shared_ptr<ResponseWriter> writer, std::string audit_id, bool takes_gzip)
      : writer_{std::move(writer)}, audit_id_{std::move(audit_id)}, takes_gzip_{takes_gzip} {}

  void send(HttpResponse response) override {
    stamp(response.status, response.headers);
    if (takes_gzip_ && response.body.size() > kWorthCompressing && !response.headers.contains("Content-Encoding")) {
      response.body = gzip(response.body);
      response.headers.add("Content-Encoding", "gzip");
      const std::string vary{response.headers.get("Vary")};
      response.headers.set("Vary", vary.empty() ? "Accept-Encoding" : vary + ", Accept-Encoding");
    }
    writer_->send(std::move(response));
  }
  void start(int status, HttpHeaders headers) override {
    stamp(status, headers);
    writer_->start(status, std::move(headers));
  }
  void write(std::string chunk, Done done) override { writer_->write(std::move(chunk), std::move(done)); }
  void end() override { writer_->end(); }
  void upgrade(HttpHeaders headers, Upgraded then) override {
    stamp(101, headers);
    writer_->upgrade(std::move(headers), std::move(then));
  }
  void on_close(std::function<void()> callback) override { writer_->on_close(std::move(callback)); }
  bool closed() const override { return writer_->closed(); }

 private:
  static constexpr size_t kWorthCompressing = 128 * 1024;  // as kube-apiserver has it (HTTP-10)

  void stamp(int status, HttpHeaders& headers) const {
    headers.add("Audit-Id", audit_id_);
    if (!headers.contains("Cache-Control")) headers.add("Cache-Control", "no-cache, private");
    if (status >= 400) headers.add("X-Content-Type-Options", "nosniff");
  }

  std::shared_ptr<ResponseWriter> writer_;
  std::string audit_id_;
  bool takes_gzip_;
};

std::string quote_warning(std::string_view warning) {
  std::string quoted = "299 - \"";
  for (const char c : warning) {
    if (static_cast<unsigned char>(c) < 0x20) continue;
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// As the client asked for it. The tables of a view are those of what is stored: its printers know no other form.
Value shown_in(const Context& context, Value object) {
  if (context.kind == nullptr) return object;
  const bool as_stored = context.accept.form == Accept::Form::kTable && context.kind->is_view();
  return as_stored || object["kind"].as_string() != context.kind->kind ? object
                                                                       : in_version(*context.kind, std::move(object));
}

}  // namespace

std::shared_ptr<ResponseWriter> stamped(std::shared_ptr<ResponseWriter> writer, const HttpRequest& request,
                                        Random& random) {
  constexpr size_t kLongest = 256;
  const std::string* given = request.headers.find("Audit-Id");
  const bool usable = given != nullptr && !given->empty() && given->size() <= kLongest;
  return std::make_shared<StampedWriter>(std::move(writer), usable ? *given : uid_from(new_entry_id(random), 0),
                                         takes_gzip(request.headers.get("Accept-Encoding")));
}

void Server::send(const ContextPtr& context, int status, std::string content_type, std::string body) {
  HttpResponse response{
      status, {{"Content-Type", std::move(content_type)}, {"Cache-Control", "no-cache, private"}}, std::move(body)};
  constexpr size_t kMostWarningBytes = 4096;  // as kube-apiserver
  size_t bytes = 0;
  for (const std::string& warning : context->warnings) {
    bytes += warning.size();
    if (bytes > kMostWarningBytes) break;
    response.headers.add("Warning", quote_warning(warning));
  }
  context->writer->send(std::move(response));
}

void Server::answer(const ContextPtr& context, int status, const Value& stored) {
  const Value object = shown_in(*context, stored);
  const Accept& accept = context->accept;
  const Value* shown = &object;
  Value transformed;
  if (accept.form == Accept::Form::kTable && context->kind != nullptr) {
    transformed = table_of(*context->kind, std::span{&object, 1}, include_object(context->request),
                           options.clock->now(), accept.meta_version);
    transformed.edit("metadata").set("resourceVersion", object["metadata"]["resourceVersion"]);
    shown = &transformed;
  } else if (accept.form == Accept::Form::kPartialMetadata) {
    transformed = partial_metadata(object, accept.meta_version);
    shown = &transformed;
  }
  if (accept.yaml) return send(context, status, "application/yaml", to_yaml(*shown));
  std::string body = accept.pretty ? to_pretty_json(*shown) : to_json(*shown);
  body += '\n';
  send(context, status, "application/json", std::move(body));
}

void Server::answer_json(const ContextPtr& context, int status, const std::string& json) {
  std::string body;
  body.reserve(json.size() + 1);
  body += json;
  body += '\n';
  send(context, status, "application/json", std::move(body));
}

void Server::answer_list(const ContextPtr& context, std::vector<Value> items, Value list_metadata) {
  const Accept& accept = context->accept;
  const Kind& kind = *context->kind;
  for (Value& item : items) item = shown_in(*context, std::move(item));
  Value list;
  if (accept.form == Accept::Form::kTable) {
    list = table_of(kind, items, include_object(context->request), options.clock->now(), accept.meta_version);
  } else if (accept.form == Accept::Form::kPartialMetadata) {
    for (Value& item : items) item = partial_metadata(item, accept.meta_version);
    list = Value::object({{"apiVersion", accept.meta_version}, {"kind", "PartialObjectMetadataList"}});
    list.set("items", Value::array(std::move(items)));
  } else {
    list = Value::object({{"apiVersion", kind.api_version()}, {"kind", kind.list_kind}});
    list.set("items", Value::array(std::move(items)));
  }
  list.set("metadata", std::move(list_metadata));
  if (accept.yaml) return send(context, 200, "application/yaml", to_yaml(list));
  std::string body = accept.pretty ? to_pretty_json(list) : to_json(list);
  body += '\n';
  send(context, 200, "application/json", std::move(body));
}

void Server::answer_status(const ContextPtr& context, int http, const Value& status) {
  if (context->accept.yaml) return send(context, http, "application/yaml", to_yaml(status));
  send(context, http, "application/json", to_json(status) + "\n");
}

void Server::fail(const ContextPtr& context, const Error& error) {
  fail(context, error, context->kind != nullptr ? context->subject() : Subject{});
}

void Server::fail(const ContextPtr& context, const Error& error, const Subject& subject) {
  HttpResponse response{http_status(error.code),
                        {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}},
                        to_json(failure_status(error, subject)) + "\n"};
  if (error.code == ErrorCode::kTooManyRequests || error.code == ErrorCode::kUnavailable) {
    response.headers.set("Retry-After", "1");
  }
  context->writer->send(std::move(response));
}

Result<Value> Server::load(std::string_view json) {
  SHIPLOG_TRY(auto value, parse_stored_json(json));
  if (options.vault == nullptr) return value;
  return is_secret(value) ? options.vault->open(std::move(value)) : options.vault->open_partly(std::move(value));
}

Result<Value> Server::load_version(std::string_view json) {
  SHIPLOG_TRY(auto value, parse_stored_json(json));
  return open_version(std::move(value));
}

Result<Value> Server::open_version(Value value) {
  if (options.vault == nullptr) return value;
  return is_secret(value) ? options.vault->open_version(std::move(value))
                          : options.vault->open_partly(std::move(value));
}

void Server::when_current(const ContextPtr& context, std::function<void()> then) {
  Store& store = context->kind == nullptr ? *options.record : this->store(*context->kind);
  store.when_current([this, context, then = std::move(then)](Result<void> current) mutable {
    if (!current) return fail(context, current.error());
    post(context, std::move(then));
  });
}

void Server::post(const ContextPtr& context, std::function<void()> work) {
  if (context->large != nullptr) return large->post(std::move(work));
  workers->post(std::move(work));
}

bool Server::admit_bytes(const ContextPtr& context, size_t bytes) {
  if (context->large != nullptr || bytes <= LargeRequests::kLargeBytes) return true;
  context->large = large->take(context->user.name);
  if (context->large != nullptr) return true;
  fail(context, Error{ErrorCode::kTooManyRequests, "too many large requests are under way, please try again later"});
  return false;
}

void Server::when_read(const ContextPtr& context, std::function<void(Result<Value>)> then) {
  when_current(context, [this, context, then = std::move(then)] {
    const ObjectKey key = context->key();
    auto row = store(*context->kind).read([&](const View& view) { return ObjectQuery{view}.get(key); });
    if (!row) return then(row.error());
    if (!row.value()) return then(absent(*context, key));
    const bool was_large = context->large != nullptr;
    if (!admit_bytes(context, row.value()->json.size())) return;
    const auto read = [this, context, key, then, json = std::move(row.value()->json)] {
      then(loaded(*context, key, json));
    };
    if (was_large || context->large == nullptr) return read();
    large->post(read);
  });
}

Result<Value> Server::loaded(const Context& context, const ObjectKey& key, std::string_view json) {
  auto object = load(json);
  if (!object) {
    // Its removal is in the journal, though not in the projection yet.
    if (object.error().code == ErrorCode::kGone) return not_found(context.subject(key.name));
    return object.error();
  }
  return context.kind->builtin ? std::move(object).value() : in_version(*context.kind, std::move(object).value());
}

Error Server::absent(const Context& context, const ObjectKey& key) {
  if (has_views(*this, *context.kind)) {
    const auto view = view_of(*this, *context.kind, key);
    if (!view) return view.error();
    if (!view.value().is_null()) return view_is_read_only(context.subject(key.name), view.value());
  }
  return not_found(context.subject(key.name));
}

Result<Value> Server::current(const Context& context, const ObjectKey& key) {
  SHIPLOG_TRY(auto row, store(*context.kind).read([&](const View& view) { return ObjectQuery{view}.get(key); }));
  if (!row) return absent(context, key);
  return loaded(context, key, row->json);
}

Result<Value> Server::current_unopened(const Context& context, const ObjectKey& key) {
  SHIPLOG_TRY(auto row, store(*context.kind).read([&](const View& view) { return ObjectQuery{view}.get(key); }));
  if (!row) return not_found(context.subject(key.name));
  return parse_stored_json(row->json);
}

Entry Server::entry_for(const Context& context, const std::string& verb) const {
  Entry entry;
  entry.time = options.clock->now();
  entry.actor = {.user = context.user.name,
                 .groups = context.user.groups,
                 .service = "api",
                 .source_ip = context.request.peer.address,
                 .user_agent = clipped(context.request.headers.get("User-Agent"), kLongestUserAgent)};
  entry.request = {verb, context.request.path};
  return entry;
}

void Server::record_denial(const ContextPtr& context, const Error& error) {
  if (context->kind == nullptr) return;
  if (error.code != ErrorCode::kForbidden && error.code != ErrorCode::kInvalid) return;
  Error recorded = error;
  // What is wrong with an object that is to be sealed may be told with its data.
  const std::string type = context->kind->type();
  const bool about_content = error.code == ErrorCode::kInvalid || error.message.starts_with("admission webhook ");
  const bool may_quote = about_content && (type == type::kSecret || type == type::kWork);
  if (may_quote) recorded.message = "not recorded, as it may quote data of a Secret";
  record_denial(*context, store(*context->kind), context->verb, context->key(), recorded);
}

void Server::record_denial(const Context& context, Store& store, const std::string& verb, const ObjectKey& object,
                           const Error& error) {
  Entry entry = entry_for(context, verb);
  denials->record(store.replica(), {std::move(entry.actor),
                                    std::move(entry.request.verb),
                                    std::move(entry.request.path),
                                    {object, http_status(error.code), reason_of(error.code), error.message}});
}

void Server::append(const Context& context, Store& store, Entry entry, std::function<void(Result<Outcome>)> done) {
  constexpr Millis kLongest{60'000};  // as kube-apiserver's --request-timeout
  const Millis asked = duration_of(text(context.request, "timeout")).value_or(kLongest);
  const Millis timeout = asked.value == 0 ? kLongest : std::min(asked, kLongest);
  denials->append(store, std::move(entry), deadlines->guard(timeout, std::move(done)));
}

}  // namespace shiplog::api
