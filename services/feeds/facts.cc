#include "services/feeds/facts.h"

#include <concepts>
#include <variant>

#include "events/base/time.h"
#include "events/explain/json.h"
#include "services/feeds/event_fields.h"

namespace shiplog::feeds {
namespace {

class FactsWriter {
 public:
  template <class Field>
  void operator()(const char* name, const Field& field, const char* /*description*/) {
    facts_.set(name, value_of(field));
  }
  Value take() { return std::move(facts_); }

 private:
  static Value value_of(const std::string& text) { return text; }
  static Value value_of(const Value& value) { return value; }
  static Value value_of(const ObjectKey& key) { return to_value(key); }
  static Value value_of(const Explanation& why) { return why == Explanation{} ? Value{} : ::shiplog::to_value(why); }
  static Value value_of(const Hash128& hash) { return to_string(hash); }
  static Value value_of(Revision revision) { return revision.value; }
  static Value value_of(UtcMillis time) { return time.value == 0 ? Value{} : Value{rfc3339_millis(time)}; }
  template <class Number>
  requires std::integral<Number>
  static Value value_of(Number number) { return number; }
  template <class Item>
  static Value value_of(const std::vector<Item>& items) {
    Value::Array values;
    for (const Item& item : items) values.push_back(value_of(item));
    return Value::array(std::move(values));
  }
  template <class Struct>
  requires requires(FactsWriter& out, const Struct& of) { fields(out, of); }
  static Value value_of(const Struct& of) {
    FactsWriter inner;
    fields(inner, of);
    return inner.take();
  }

  Value facts_ = Value::object();
};

}  // namespace

Value to_value(const ObjectKey& key) {
  if (key.empty()) return {};
  return Value::object({{"type", key.type}, {"namespace", key.ns}, {"name", key.name}});
}

Value facts_of(const Event& event) {
  FactsWriter out;
  std::visit([&](const auto& kind) { fields(out, kind); }, static_cast<const EventVariant&>(event));
  return out.take();
}

}  // namespace shiplog::feeds
