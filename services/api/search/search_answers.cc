#include "services/api/search/search_answers.h"

#include <span>
#include <utility>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "services/api/search/search_list.h"
#include "services/api/table/table.h"

namespace shiplog::api {
namespace {

/// What is made at a time: other lists have their turn in between.
constexpr CachedWalk::Limits kPart{0, size_t{512} << 10U, size_t{4} << 20U};
constexpr size_t kMostWarningBytes = 4096;  // of one answer, as send() has it

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

std::string head_of(const CachedList& list) {
  return R"({"apiVersion":)" + to_json(Value{list.api_version}) + R"(,"kind":)" + to_json(Value{list.kind}) +
         R"(,"metadata":)" + to_json(list.metadata) + R"(,"items":[)";
}
constexpr const char* kTail = "]}\n";

Result<void> append_items(const std::vector<CachedObject::Ptr>& objects, Compressor& compressor, bool& first,
                          std::string& text) {
  for (const auto& object : objects) {
    SHIPLOG_TRY(const auto json, object->json(compressor));
    if (!std::exchange(first, false)) text += ',';
    text += json;
  }
  return ok();
}

/// Writes a list part by part. Between the parts it holds a position, no objects: a slow client keeps nothing of what
/// is not cached any more.
class ListInParts : public std::enable_shared_from_this<ListInParts> {
 public:
  ListInParts(RequestContextPtr context, CachedList list, std::function<void(std::function<void()>)> post)
      : context_{std::move(context)}, list_{std::move(list)}, post_{std::move(post)} {}

  void begin() {
    HttpHeaders headers{{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}};
    size_t bytes = 0;
    for (const std::string& warning : list_.warnings) {
      bytes += warning.size();
      if (bytes > kMostWarningBytes) break;
      headers.add("Warning", warning_header(warning));
    }
    context_->writer->start(200, std::move(headers));
    next(head_of(list_));
  }

 private:
  void next(std::string part) {
    if (context_->writer->closed()) return;
    const auto objects = list_.rest->next(kPart);
    Compressor compressor;
    // Without an end the connection is cut: the client sees that the list is not complete.
    if (!objects || !append_items(objects.value(), compressor, first_, part)) return;
    const bool last = list_.rest->done();
    if (last) part += kTail;
    if (part.empty()) return post_next();
    context_->writer->write(std::move(part), [self = shared_from_this(), last](const Result<void>& written) {
      if (!written) return;
      last ? self->context_->writer->end() : self->post_next();
    });
  }
  void post_next() {
    post_([self = shared_from_this()] { self->next({}); });
  }

  const RequestContextPtr context_;
  const CachedList list_;
  const std::function<void(std::function<void()>)> post_;
  bool first_ = true;
};

/// A page as plain JSON.
Result<std::string> json_of(const CachedList& list) {
  std::string text = head_of(list);
  Compressor compressor;
  bool first = true;
  SHIPLOG_TRY(append_items(list.objects, compressor, first, text));
  return text + kTail;
}

Result<std::vector<Value>> values_of(const std::vector<CachedObject::Ptr>& objects) {
  std::vector<Value> values;
  Compressor compressor;
  for (const auto& object : objects) {
    SHIPLOG_TRY(auto value, object->value(compressor));
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

bool may_be_in_parts(const Accept& accept) {
  return accept.form == Accept::Form::kObject && !accept.yaml && !accept.pretty;
}

void answer_cached_list(const RequestContextPtr& context, CachedList list, UtcMillis now,
                        std::function<void(std::function<void()>)> post) {
  const Accept& accept = context->accept;
  if (list.rest != nullptr) return std::make_shared<ListInParts>(context, std::move(list), std::move(post))->begin();
  if (may_be_in_parts(accept)) {
    auto text = json_of(list);
    if (!text) return fail(*context, text.error());
    return send(*context, 200, "application/json", std::move(text).value(), list.warnings);
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
