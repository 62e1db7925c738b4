#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/base/names.h"
#include "events/kinds/cause_reasons.h"
#include "events/kinds/kinds.h"
#include "events/kinds/selectable_fields.h"
#include "events/kinds/stored_definition.h"
#include "events/kinds/structural_rules.h"
#include "events/kinds/structural_schema.h"

namespace shiplog {
namespace {

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> strings;
  for (const Value& item : list.items()) strings.push_back(item.str());
  return strings;
}

/// Where the first character stands that is not printable; nullopt: nowhere. Of those outside of ASCII only control
/// characters and the blanks and separators of Latin-1 and of General Punctuation are recognized.
std::optional<size_t> first_unprintable(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return i;
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == 0xC2 && (next <= 0xA0 || next == 0xAD)) return i;
    if (byte == 0xE2 && next == 0x80 && i + 2 < text.size()) {
      const auto last = static_cast<unsigned char>(text[i + 2]);
      if (last <= 0x8F || (last >= 0xA8 && last <= 0xAF)) return i;
    }
  }
  return std::nullopt;
}

/// Reads a definition. Rules that older builds did not have are for new definitions only: those with a budget.
class DefinitionReader {
 public:
  DefinitionReader(const Value& crd, DefinitionBudget* budget) : crd_{crd}, spec_{crd["spec"]}, budget_{budget} {}

  std::vector<FieldCause> causes;

  std::vector<Kind> read() {
    if (crd_["apiVersion"].as_string() != "apiextensions.k8s.io/v1") {
      add("apiVersion", kNotSupported,
          "Unsupported value: " + in_quotes(crd_["apiVersion"].str()) +
              ": supported values: \"apiextensions.k8s.io/v1\"");
    }
    if (crd_["kind"].as_string() != "CustomResourceDefinition") {
      add("kind", kNotSupported,
          "Unsupported value: " + in_quotes(crd_["kind"].str()) + ": supported values: \"CustomResourceDefinition\"");
    }
    read_names();
    read_conversion();
    std::vector<Kind> kinds = read_versions();
    if (!common_.conversion.is_null() && !kinds.empty()) check_storage_is_served();
    if (causes.empty()) {
      mark_storage(kinds);
      share_schemas(kinds);
    }
    return kinds;
  }

 private:
  void add(std::string field, const char* reason, std::string message) {
    causes.push_back({std::move(field), reason, std::move(message)});
  }

  bool is_new() const { return budget_ != nullptr; }

  void add_invalid(std::string field, std::string_view value, const std::string& detail) {
    add(std::move(field), kInvalid, "Invalid value: " + to_json(Value{value}) + ": " + detail);
  }

  std::string read_name(const Value& value, const std::string& field) {
    std::string text = value.str();
    if (text.empty()) {
      add(field, kRequired, "Required value");
    } else if (const auto problem = is_new() ? service_name_problem(text) : label_problem(text)) {
      add_invalid(field, text, *problem);
    }
    return text;
  }

  void check_kind(const std::string& kind, const std::string& field) {
    if (const auto problem = service_name_problem(lower_case(kind))) {
      add_invalid(field, kind, "may have mixed case, but should otherwise match: " + *problem);
    }
  }

  void check_names(const Value& names, const std::string& field) {
    for (size_t i = 0; is_new() && i < names.items().size(); ++i) {
      const std::string_view name = names[i].as_string();
      if (const auto problem = service_name_problem(name)) {
        add_invalid(field + "[" + std::to_string(i) + "]", name, *problem);
      }
    }
  }

  void read_names() {
    const Value& names = spec_["names"];
    common_.group = spec_["group"].str();
    if (common_.group.empty()) {
      add("spec.group", kRequired, "Required value");
    } else if (const auto problem = subdomain_problem(common_.group)) {
      add_invalid("spec.group", common_.group, *problem);
    } else if (common_.group.find('.') == std::string::npos) {
      add_invalid("spec.group", common_.group, "should be a domain with at least one dot");
    }
    common_.plural = read_name(names["plural"], "spec.names.plural");
    common_.kind = names["kind"].str();
    if (common_.kind.empty()) {
      add("spec.names.kind", kRequired, "Required value");
    } else {
      check_kind(common_.kind, "spec.names.kind");
    }
    common_.singular = lower_case(common_.kind);
    if (!names["singular"].is_empty()) common_.singular = read_name(names["singular"], "spec.names.singular");
    common_.list_kind = std::string{names["listKind"].as_string(common_.kind + "List")};
    if (common_.list_kind == common_.kind) {
      add_invalid("spec.names.listKind", common_.kind, "kind and listKind may not be the same");
    }
    if (is_new() && !common_.kind.empty()) check_kind(common_.list_kind, "spec.names.listKind");
    check_names(names["shortNames"], "spec.names.shortNames");
    check_names(names["categories"], "spec.names.categories");
    common_.short_names = strings_of(names["shortNames"]);
    common_.categories = strings_of(names["categories"]);
    const std::string scope = spec_["scope"].str();
    common_.namespaced = scope == "Namespaced";
    if (scope.empty()) {
      add("spec.scope", kRequired, "Required value");
    } else if (scope != "Namespaced" && scope != "Cluster") {
      add("spec.scope", kNotSupported,
          "Unsupported value: " + in_quotes(scope) + ": supported values: \"Cluster\", \"Namespaced\"");
    }
    const std::string name = crd_["metadata"]["name"].str();
    if (name != common_.plural + "." + common_.group) {
      add("metadata.name", kInvalid,
          "Invalid value: " + in_quotes(name) + ": must be spec.names.plural+\".\"+spec.group");
    }
  }

  /// What the webhook's own fields are to be is a rule of admission.
  void read_conversion() {
    const Value& conversion = spec_["conversion"];
    const std::string_view strategy = conversion["strategy"].as_string("None");
    if (is_new() && conversion.is_object() && conversion["strategy"].is_empty()) {
      add("spec.conversion.strategy", kRequired, "Required value");
    } else if (strategy == "Webhook") {
      common_.conversion = spec_["conversion"]["webhook"];
      if (common_.conversion.is_null()) common_.conversion = Value::object();
    } else if (strategy != "None") {
      add("spec.conversion.strategy", kNotSupported,
          "Unsupported value: " + in_quotes(std::string{strategy}) + ": supported values: \"None\", \"Webhook\"");
    }
    if (spec_["preserveUnknownFields"].as_bool()) {
      add("spec.preserveUnknownFields", kInvalid,
          "Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
          "spec.versions[*].schema instead");
    }
  }

  std::vector<Kind> read_versions() {
    std::vector<Kind> kinds;
    std::set<std::string> names;
    size_t stored = 0;
    size_t index = 0;
    for (const Value& version : spec_["versions"].items()) {
      const std::string path = "spec.versions[" + std::to_string(index++) + "]";
      const std::string name = read_name(version["name"], path + ".name");
      if (!names.insert(name).second) add(path + ".name", "FieldValueDuplicate", "Duplicate value: " + in_quotes(name));
      stored += version["storage"].as_bool() ? 1U : 0U;
      Kind kind = read_version(version, path);
      schemas_[name] = kind.schema;
      if (kind.storage) storage_schema_ = kind.schema;
      if (version["served"].as_bool()) kinds.push_back(std::move(kind));
    }
    if (index == 0) {
      add("spec.versions", kRequired, "Required value: must have at least one version");
    } else if (stored != 1) {
      add("spec.versions", kInvalid, "Invalid value: must have exactly one version marked as storage version");
    }
    return kinds;
  }

  Kind read_version(const Value& version, const std::string& path) {
    Kind kind = common_;
    kind.version = version["name"].str();
    kind.storage = version["storage"].as_bool();
    kind.has_generation = true;
    kind.has_status = version["subresources"].find("status") != nullptr;
    if (const Value* scale = version["subresources"].find("scale")) kind.scale = read_scale(*scale, path);
    if (is_new()) check_deprecation(version, path + ".deprecationWarning");
    size_t index = 0;
    for (const Value& column : version["additionalPrinterColumns"].items()) {
      kind.columns.push_back(read_column(column, path + ".additionalPrinterColumns[" + std::to_string(index++) + "]"));
    }
    const size_t before = causes.size();
    const Value& schema = version["schema"]["openAPIV3Schema"];
    if (schema.is_null()) {
      add(path + ".schema.openAPIV3Schema", kRequired, "Required value");
    } else {
      kind.schema = read_structural_schema(schema, path + ".schema.openAPIV3Schema", budget_, causes);
      if (is_new() && kind.has_status) check_root_beside_status(schema, path + ".schema.openAPIV3Schema", causes);
    }
    if (causes.size() == before) {
      kind.selectable_fields =
          read_selectable_fields(version["selectableFields"], *kind.schema, path + ".selectableFields", causes);
    }
    return kind;
  }

  void check_deprecation(const Value& version, const std::string& field) {
    constexpr size_t kLongestWarning = 256;
    const Value& given = version["deprecationWarning"];
    if (given.is_null()) return;
    const std::string_view warning = given.as_string();
    if (!version["deprecated"].as_bool()) {
      return add_invalid(field, warning, "can only be set for deprecated versions");
    }
    if (warning.size() > kLongestWarning) add_invalid(field, warning, "must be <= 256 characters long");
    if (warning.empty()) add_invalid(field, warning, "must not be an empty string");
    if (const auto at = first_unprintable(warning)) {
      add_invalid(field, warning,
                  "must only contain printable UTF-8 characters; non-printable character found at index " +
                      std::to_string(*at));
    }
  }

  ScalePaths read_scale(const Value& scale, const std::string& path) {
    ScalePaths paths{scale["specReplicasPath"].str(), scale["statusReplicasPath"].str(),
                     scale["labelSelectorPath"].str()};
    const auto check = [&](const std::string& value, const char* key, std::string_view root) {
      const std::string field = path + ".subresources.scale." + key;
      if (value.empty()) {
        add(field, kRequired, "Required value");
      } else if (!value.starts_with('.')) {
        add_invalid(field, value, "must be a simple json path starting with .");
      } else if (!value.starts_with(root) || value.size() == root.size()) {
        add_invalid(field, value, "should be a json path under " + std::string{root.substr(0, root.size() - 1)});
      }
    };
    check(paths.spec_replicas, "specReplicasPath", ".spec.");
    check(paths.status_replicas, "statusReplicasPath", ".status.");
    if (!paths.label_selector.empty() && !paths.label_selector.starts_with(".spec.") &&
        !paths.label_selector.starts_with(".status.")) {
      add_invalid(path + ".subresources.scale.labelSelectorPath", paths.label_selector,
                  paths.label_selector.starts_with('.') ? "should be a json path under either .spec or .status"
                                                        : "must be a simple json path starting with .");
    }
    return paths;
  }

  PrintColumn read_column(const Value& column, const std::string& path) {
    static constexpr const char* kTypes[] = {"boolean", "date", "integer", "number", "string"};
    static constexpr const char* kFormats[] = {"",      "byte",  "date",  "date-time", "double",
                                               "float", "int32", "int64", "password"};
    const auto is_one_of = [](const auto& words, const std::string& word) {
      return std::find(std::begin(words), std::end(words), word) != std::end(words);
    };
    PrintColumn read{.name = column["name"].str(),
                     .type = column["type"].str(),
                     .format = column["format"].str(),
                     .description = column["description"].str(),
                     .priority = static_cast<int32_t>(column["priority"].as_int()),
                     .json_path = column["jsonPath"].str()};
    if (read.name.empty()) add(path + ".name", kRequired, "Required value");
    if (read.type.empty()) {
      add(path + ".type", kRequired, "Required value: must be one of boolean,date,integer,number,string");
    } else if (!is_one_of(kTypes, read.type)) {
      add_invalid(path + ".type", read.type, "must be one of boolean,date,integer,number,string");
    }
    if (is_new() && !is_one_of(kFormats, read.format)) {
      add_invalid(path + ".format", read.format,
                  "must be one of byte,date,date-time,double,float,int32,int64,password");
    }
    if (read.json_path.empty()) {
      add(path + ".JSONPath", kRequired, "Required value");
    } else if (is_new() && !read.json_path.starts_with('.')) {
      add_invalid(path + ".JSONPath", read.json_path, "must be a simple json path starting with .");
    }
    return read;
  }

  /// mark_storage() may choose another version only where versions differ in apiVersion alone.
  void check_storage_is_served() {
    size_t index = 0;
    for (const Value& version : spec_["versions"].items()) {
      const std::string path = "spec.versions[" + std::to_string(index++) + "]";
      if (!version["storage"].as_bool() || version["served"].as_bool()) continue;
      add(path + ".served", kInvalid,
          "Invalid value: false: this server needs the storage version to be served if spec.conversion.strategy is "
          "Webhook");
    }
  }

  // Versions differ in apiVersion alone (with a conversion webhook the storage version is served). If the storage
  // version is not served, objects are stored under the preferred version that is served, so that no other code needs
  // to handle a version that is not served.
  void mark_storage(std::vector<Kind>& kinds) {
    const auto stored = [](const Kind& kind) { return kind.storage; };
    if (kinds.empty()) return;  // an API that is retired: its objects stay, but are not served
    if (std::any_of(kinds.begin(), kinds.end(), stored)) return;
    auto preferred = std::min_element(kinds.begin(), kinds.end(), [](const Kind& a, const Kind& b) {
      return compare_versions(a.version, b.version) < 0;
    });
    preferred->storage = true;
    schemas_[preferred->version] = storage_schema_;
  }

  void share_schemas(std::vector<Kind>& kinds) const {
    if (schemas_.size() == 1) return;
    const auto shared = std::make_shared<const SchemasByVersion>(schemas_);
    for (Kind& kind : kinds) kind.stored_schemas = shared;
  }

  const Value& crd_;
  const Value& spec_;
  DefinitionBudget* budget_;
  Kind common_;
  SchemasByVersion schemas_;
  std::shared_ptr<const Schema> storage_schema_;
};

Result<std::vector<Kind>> read_definition(const Value& crd, DefinitionBudget* budget) {
  DefinitionReader reader{crd, budget};
  std::vector<Kind> kinds = reader.read();
  if (reader.causes.empty()) return kinds;
  // A single error is shown as it is, several in brackets, as Kubernetes joins them.
  std::string all;
  for (const FieldCause& cause : reader.causes) all += (all.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  if (reader.causes.size() > 1) all = "[" + all + "]";
  return Error{
      ErrorCode::kInvalid,
      "CustomResourceDefinition.apiextensions.k8s.io \"" + crd["metadata"]["name"].str() + "\" is invalid: " + all,
      std::move(reader.causes)};
}

}  // namespace

Result<std::vector<Kind>> kinds_of(const Value& crd) {
  DefinitionBudget budget;
  return read_definition(crd, &budget);
}

Result<std::vector<Kind>> kinds_of_stored(const Value& crd) { return read_definition(crd, nullptr); }

}  // namespace shiplog
