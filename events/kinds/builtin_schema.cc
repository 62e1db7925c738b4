#include "events/kinds/builtin_schema.h"

#include <charconv>
#include <vector>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/kinds/wire_type.h"
#include "schemas/kinds/embedded.h"

namespace shiplog {
namespace {

using Type = Schema::Type;

// A field whose node becomes a copy of a message's node: resolved last, since messages refer to each other.
struct MessageReference {
  std::shared_ptr<Schema> field;
  std::string message;
  bool granular = false;  // although the message is atomic elsewhere
};

struct Inline {
  std::shared_ptr<Schema> owner;
  int32_t number;
  std::string message;
};

class TableReader {
 public:
  MessageSchemas read(std::string_view table) {
    for (size_t position = 0; position < table.size();) {
      const size_t end = std::min(table.find('\n', position), table.size());
      read_line(table.substr(position, end - position));
      position = end + 1;
    }
    for (const Inline& each : inlines_) flatten(each);
    for (const MessageReference& each : references_) resolve(each);
    MessageSchemas all;
    for (const auto& [name, schema] : messages_) {
      SHIPLOG_CHECK(schema->type == Type::kObject, "messages.txt: a message is used but not defined");
      all.emplace(name, schema);
    }
    return all;
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty() || line.starts_with('#')) return;
    if (line.front() == '"') {
      SHIPLOG_CHECK(described_ != nullptr, "messages.txt: a description without a message or field");
      described_->description = line.substr(std::min<size_t>(2, line.size()));
      return;
    }
    if (line.front() >= '0' && line.front() <= '9') {
      read_field(line);
      return;
    }
    const size_t space = line.find(' ');
    owner_ = named(line.substr(0, space));
    owner_->type = Type::kObject;
    described_ = owner_;
    owner_->atomic_map = space != std::string_view::npos && line.substr(space + 1) == "atomic";
  }

  void read_field(std::string_view line) {
    SHIPLOG_CHECK(owner_ != nullptr, "messages.txt: a field before the first message");
    int32_t number = 0;
    const std::string_view digits = next_token(line);
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const std::string name{next_token(line)};
    const std::string_view type = next_token(line);
    std::shared_ptr<Schema> field = node_of(type);
    field->proto_number = number;
    while (!line.empty()) {
      if (line.starts_with("default=")) {
        auto fallback = parse_json(line.substr(8));
        SHIPLOG_CHECK(fallback.has_value(), "messages.txt: a default is not JSON");
        field->fallback = std::move(fallback).value();
        break;
      }
      const std::string_view mark = next_token(line);
      if (mark == "inline") {
        inlines_.push_back({owner_, number, std::string{type}});
        return;
      }
      if (mark == "required") {
        owner_->required.push_back(name);
      } else if (mark == "granular") {
        SHIPLOG_CHECK(!references_.empty() && references_.back().field == field,
                      "messages.txt: a field is granular that is no message");
        references_.back().granular = true;
      } else {
        apply(mark, *field);
      }
    }
    described_ = field;
    owner_->properties.emplace(name, std::move(field));
  }

  static void apply(std::string_view mark, Schema& field) {
    const size_t equals = mark.find('=');
    const std::string_view key = mark.substr(0, equals);
    std::string_view value = equals == std::string_view::npos ? "" : mark.substr(equals + 1);
    if (key == "ptr") {
      field.proto_pointer = true;
    } else if (key == "always") {
      field.always = true;
    } else if (key == "merge") {
      field.patch_merge = true;
      field.patch_key = value;
    } else if (key == "retain") {
      field.patch_retain_keys = true;
    } else if (key == "set") {
      field.list_type = Schema::ListType::kSet;
    } else if (key == "keys") {
      field.list_type = Schema::ListType::kMap;
      while (!value.empty()) field.list_keys.emplace_back(next_token(value, ','));
    } else if (key == "atomic") {
      field.atomic_map = true;
    } else {
      SHIPLOG_CHECK(false, "messages.txt: an unknown mark");
    }
  }

  // A node for one field of the type. Never shared, because it contains the field's marks.
  std::shared_ptr<Schema> node_of(std::string_view type) {
    auto node = std::make_shared<Schema>();
    if (type.starts_with("[]")) {
      node->type = Type::kArray;
      node->items = element_of(type.substr(2));
    } else if (type.starts_with("{}")) {
      node->type = Type::kObject;
      node->additional = element_of(type.substr(2));
    } else if (type == "SchemaOrArray" || type == "SchemaOrBool") {
      // Of any type, but objects in it are schemas and are pruned accordingly.
      node->format = type == "SchemaOrArray" ? "schema-or-array" : "schema-or-bool";
      references_.push_back({node, "apiextensions.JSONSchemaProps"});
    } else if (type == "Strings") {
      node->type = Type::kArray;
      node->format = "strings";
      node->items = element_of("string");
    } else if (!scalar(type, *node)) {
      node->type = Type::kObject;
      references_.push_back({node, std::string{type}});
    }
    return node;
  }

  // Elements have no marks, so messages are shared here: this makes recursive types possible.
  std::shared_ptr<const Schema> element_of(std::string_view type) {
    if (type.find('.') != std::string_view::npos) return named(type);
    auto& shared = scalars_[std::string{type}];
    if (shared == nullptr) shared = node_of(type);
    return shared;
  }

  static bool scalar(std::string_view type, Schema& node) {
    struct Row {
      std::string_view name;
      Type type;
      std::string_view format;
      bool any_content;
    };
    static constexpr Row kRows[] = {
        {"string", Type::kString, "", false},
        {"bool", Type::kBoolean, "", false},
        {"int32", Type::kInteger, "int32", false},
        {"int64", Type::kInteger, "int64", false},
        {"double", Type::kNumber, "double", false},
        {"bytes", Type::kString, "byte", false},
        {"Time", Type::kString, "date-time", false},
        {"MicroTime", Type::kString, "micro-time", false},
        {"Duration", Type::kString, "duration", false},
        {"Quantity", Type::kIntOrString, "quantity", false},
        {"IntOrString", Type::kIntOrString, "int-or-string", false},
        {"FieldsV1", Type::kObject, "fields-v1", true},
        {"RawExtension", Type::kObject, "raw-extension", true},
        {"JSON", Type::kAny, "json", true},
        {"SchemaOrStrings", Type::kAny, "schema-or-strings", true},
    };
    for (const Row& row : kRows) {
      if (row.name != type) continue;
      node.type = row.type;
      node.format = row.format;
      node.preserve_unknown = row.any_content;
      return true;
    }
    return false;
  }

  void flatten(const Inline& from) {
    const std::shared_ptr<Schema> inner = named(from.message);
    for (const auto& [name, field] : inner->properties) {
      auto copy = std::make_shared<Schema>(*field);
      copy->proto_wrapper =
          field->proto_wrapper == 0 ? from.number : from.number << kWrapperBits | field->proto_wrapper;
      for (size_t i = 0, count = references_.size(); i < count; ++i) {
        if (references_[i].field == field)
          references_.push_back({copy, references_[i].message, references_[i].granular});
      }
      from.owner->properties.emplace(name, std::move(copy));
    }
    from.owner->required.insert(from.owner->required.end(), inner->required.begin(), inner->required.end());
  }

  void resolve(const MessageReference& reference) {
    const Schema& message = *named(reference.message);
    reference.field->properties = message.properties;
    reference.field->required = message.required;
    if (reference.field->description.empty()) reference.field->description = message.description;
    reference.field->atomic_map = reference.field->atomic_map || (message.atomic_map && !reference.granular);
  }

  std::shared_ptr<Schema> named(std::string_view message) {
    auto& schema = messages_[std::string{message}];
    if (schema == nullptr) schema = std::make_shared<Schema>();
    return schema;
  }

  static std::string_view next_token(std::string_view& line, char separator = ' ') {
    const size_t end = std::min(line.find(separator), line.size());
    const std::string_view found = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return found;
  }

  std::map<std::string, std::shared_ptr<Schema>> messages_;
  std::map<std::string, std::shared_ptr<const Schema>> scalars_;
  std::shared_ptr<Schema> owner_;
  std::shared_ptr<Schema> described_;  // the last message or field
  std::vector<MessageReference> references_;
  std::vector<Inline> inlines_;
};

}  // namespace

MessageSchemas read_message_table(std::string_view table) { return TableReader{}.read(table); }

const MessageSchemas& message_schemas() {
  // Never destroyed: recursive schemas own each other.
  static const MessageSchemas& all = *[] {
    for (const EmbeddedDocument& document : embedded_kinds()) {
      if (document.name == "builtin/messages.txt") return new MessageSchemas{read_message_table(document.bytes)};
    }
    SHIPLOG_CHECK(false, "builtin/messages.txt is not embedded");
    return static_cast<MessageSchemas*>(nullptr);
  }();
  return all;
}

}  // namespace shiplog
