#include "services/api/search/search_answers.h"

#include <span>
#include <utility>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/table/table.h"

namespace shiplog::api {
namespace {

/// Of the JSON of objects that are answered as a whole.
constexpr size_t kMostWhole = size_t{64} << 20U;
constexpr size_t kPartBytes = size_t{512} << 10U;

IncludeObject included(const HttpRequest& request) {
  const std::string wanted = text(request, "includeObject");
  if (wanted == "None") return IncludeObject::kNone;
  return wanted == "Object" ? IncludeObject::kObject : IncludeObject::kMetadata;
}

void send_value(const RequestContext& context, const Value& value, const Warnings& warnings) {
  const Accept& accept = context.accept;
  if (accept.yaml) return send(context, 200, "application/yaml", to_yaml(value), warnings);
  std::string body = accept.pretty ? to_pretty_json(value) : to_json(value);
  send(context, 200, "application/json", std::move(body) + "\n", warnings);
}

std::string warning_header(const std::string& warning) {
  std::string quoted = "299 - \"";
  for (const char c : warning) {
    if (static_cast<unsigned char>(c) < 0x20) continue;
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// Writes a list part by part.
class ListInParts : public std::enable_shared_from_this<ListInParts> {
 public:
  ListInParts(RequestContextPtr context, CachedList list, std::function<void(std::function<void()>)> post)
      : context_{std::move(context)}, list_{std::move(list)}, post_{std::move(post)} {}

  void begin() {
    HttpHeaders headers{{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}};
    for (const std::string& warning : list_.warnings) headers.add("Warning", warning_header(warning));
    context_->writer->start(200, std::move(headers));
    next(R"({"apiVersion":)" + to_json(Value{list_.api_version}) + R"(,"kind":)" + to_json(Value{list_.kind}) +
         R"(,"metadata":)" + to_json(list_.metadata) + R"(,"items":[)");
  }

 private:
  void next(std::string part) {
    Compressor compressor;
    for (; at_ < list_.objects.size() && part.size() < kPartBytes; ++at_) {
      auto json = list_.objects[at_]->json(compressor);
      if (!json) return;  // the connection is cut: the client sees that the list is not complete
      if (at_ > 0) part += ',';
      part += json.value();
      list_.objects[at_] = nullptr;
    }
    const bool last = at_ == list_.objects.size();
    if (last) part += "]}\n";
    context_->writer->write(std::move(part), [self = shared_from_this(), last](const Result<void>& written) {
      if (!written) return;
      if (last) return self->context_->writer->end();
      self->post_([self] { self->next({}); });
    });
  }

  const RequestContextPtr context_;
  CachedList list_;
  const std::function<void(std::function<void()>)> post_;
  size_t at_ = 0;
};

Result<std::vector<Value>> values_of(const std::vector<CachedObject::Ptr>& objects) {
  std::vector<Value> values;
  Compressor compressor;
  size_t bytes = 0;
  for (const auto& object : objects) {
    SHIPLOG_TRY(const auto json, object->json(compressor));
    bytes += json.size();
    if (bytes > kMostWhole) {
      return Error{ErrorCode::kTooLarge, "the list is larger than " + std::to_string(kMostWhole) +
                                             " bytes, the most in this form: set limit, or accept application/json"};
    }
    SHIPLOG_TRY(auto value, parse_stored_json(json));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace

Value cached_in_form(const RequestContext& context, const Value& object, UtcMillis now, bool with_columns) {
  const Accept& accept = context.accept;
  if (accept.form == Accept::Form::kPartialMetadata) return partial_metadata(object, accept.meta_version);
  if (accept.form != Accept::Form::kTable) return object;
  Value table =
      table_of(*context.kind, std::span{&object, 1}, included(context.request), now, accept.meta_version, with_columns);
  table.edit("metadata").set("resourceVersion", object["metadata"]["resourceVersion"]);
  return table;
}

void answer_cached(const RequestContext& context, const Value& object, UtcMillis now, const Warnings& warnings) {
  send_value(context, cached_in_form(context, object, now, true), warnings);
}

void answer_cached_list(const RequestContextPtr& context, CachedList list, UtcMillis now,
                        std::function<void(std::function<void()>)> post) {
  const Accept& accept = context->accept;
  if (accept.form == Accept::Form::kObject && !accept.yaml && !accept.pretty) {
    return std::make_shared<ListInParts>(context, std::move(list), std::move(post))->begin();
  }
  auto values = values_of(list.objects);
  if (!values) return fail(*context, values.error());
  std::vector<Value> items = std::move(values).value();
  Value answer;
  if (accept.form == Accept::Form::kTable) {
    answer = table_of(*context->kind, items, included(context->request), now, accept.meta_version);
  } else if (accept.form == Accept::Form::kPartialMetadata) {
    for (Value& item : items) item = partial_metadata(item, accept.meta_version);
    answer = Value::object({{"apiVersion", accept.meta_version}, {"kind", "PartialObjectMetadataList"}});
    answer.set("items", Value::array(std::move(items)));
  } else {
    answer = Value::object({{"apiVersion", list.api_version}, {"kind", list.kind}});
    answer.set("items", Value::array(std::move(items)));
  }
  answer.set("metadata", list.metadata);
  send_value(*context, answer, list.warnings);
}

}  // namespace shiplog::api
