#include <algorithm>
#include <set>

#include "events/base/ascii.h"
#include "events/kinds/cause_reasons.h"
#include "events/kinds/kinds.h"
#include "events/kinds/pattern.h"
#include "events/kinds/selectable_fields.h"
#include "events/kinds/stored_definition.h"
#include "events/kinds/structural_schema.h"

namespace shiplog {
namespace {

const std::string kLabel = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
const std::string kSubdomain = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> strings;
  for (const Value& item : list.items()) strings.push_back(item.str());
  return strings;
}

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
    if (!common_.conversion.is_null()) check_storage_is_served();
    if (causes.empty()) mark_storage(kinds);
    return kinds;
  }

 private:
  void add(std::string field, const char* reason, std::string message) {
    causes.push_back({std::move(field), reason, std::move(message)});
  }

  std::string must_match(const Value& value, const std::string& field, const std::string& pattern, const char* what) {
    const std::string text = value.str();
    if (text.empty()) {
      add(field, kRequired, "Required value");
    } else if (text.size() > 253 || !pattern_matches(pattern, text)) {
      add(field, kInvalid, "Invalid value: " + in_quotes(text) + ": must be " + what);
    }
    return text;
  }

  void read_names() {
    const Value& names = spec_["names"];
    common_.group = must_match(spec_["group"], "spec.group", kSubdomain, "a DNS subdomain");
    if (!common_.group.empty() && common_.group.find('.') == std::string::npos) {
      add("spec.group", kInvalid,
          "Invalid value: " + in_quotes(common_.group) + ": should be a domain with at least one dot");
    }
    common_.plural = must_match(names["plural"], "spec.names.plural", kLabel, "a DNS label");
    common_.kind = must_match(names["kind"], "spec.names.kind", "^[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$",
                              "a name of letters, digits and hyphens that begins with a letter");
    common_.singular = lower_case(common_.kind);
    if (!names["singular"].as_string().empty()) {
      common_.singular = must_match(names["singular"], "spec.names.singular", kLabel, "a DNS label");
    }
    common_.list_kind = std::string{names["listKind"].as_string(common_.kind + "List")};
    if (common_.list_kind == common_.kind) {
      add("spec.names.listKind", kInvalid,
          "Invalid value: " + in_quotes(common_.kind) + ": kind and listKind may not be the same");
    }
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
    const std::string_view strategy = spec_["conversion"]["strategy"].as_string("None");
    if (strategy == "Webhook") {
      common_.conversion = spec_["conversion"]["webhook"];
      if (common_.conversion.is_null()) common_.conversion = Value::object();
    } else if (strategy != "None") {
      add("spec.conversion.strategy", kNotSupported,
          "Unsupported value: " + in_quotes(std::string{strategy}) + ": supported values: \"None\", \"Webhook\"");
    }
    if (spec_["preserveUnknownFields"].as_bool()) {
      add("spec.preserveUnknownFields", kInvalid,
          "Invalid value: true: must be false; use x-kubernetes-preserve-unknown-fields in the schema");
    }
  }

  std::vector<Kind> read_versions() {
    std::vector<Kind> kinds;
    std::set<std::string> names;
    size_t stored = 0;
    size_t index = 0;
    for (const Value& version : spec_["versions"].items()) {
      const std::string path = "spec.versions[" + std::to_string(index++) + "]";
      const std::string name = must_match(version["name"], path + ".name", kLabel, "a DNS label");
      if (!names.insert(name).second) add(path + ".name", "FieldValueDuplicate", "Duplicate value: " + in_quotes(name));
      stored += version["storage"].as_bool() ? 1U : 0U;
      Kind kind = read_version(version, path);
      if (version["served"].as_bool()) kinds.push_back(std::move(kind));
    }
    if (index == 0) {
      add("spec.versions", kRequired, "Required value: must have at least one version");
    } else {
      if (stored != 1)
        add("spec.versions", kInvalid, "Invalid value: must have exactly one version marked as storage version");
      if (kinds.empty()) add("spec.versions", kInvalid, "Invalid value: must have at least one version that is served");
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
    size_t index = 0;
    for (const Value& column : version["additionalPrinterColumns"].items()) {
      kind.columns.push_back(read_column(column, path + ".additionalPrinterColumns[" + std::to_string(index++) + "]"));
    }
    const size_t before = causes.size();
    const Value& schema = version["schema"]["openAPIV3Schema"];
    if (schema.is_null()) {
      add(path + ".schema.openAPIV3Schema", kRequired, "Required value: schemas are required");
    } else {
      kind.schema = read_structural_schema(schema, path + ".schema.openAPIV3Schema", budget_, causes);
    }
    if (causes.size() == before) {
      kind.selectable_fields =
          read_selectable_fields(version["selectableFields"], *kind.schema, path + ".selectableFields", causes);
    }
    return kind;
  }

  ScalePaths read_scale(const Value& scale, const std::string& path) {
    ScalePaths paths{scale["specReplicasPath"].str(), scale["statusReplicasPath"].str(),
                     scale["labelSelectorPath"].str()};
    const auto check = [&](const std::string& value, const char* key, std::string_view root) {
      if (!value.starts_with(root) || value.size() == root.size()) {
        add(path + ".subresources.scale." + key, kInvalid,
            "Invalid value: " + in_quotes(value) + ": should be a JSON path under " +
                std::string{root.substr(0, root.size() - 1)});
      }
    };
    check(paths.spec_replicas, "specReplicasPath", ".spec.");
    check(paths.status_replicas, "statusReplicasPath", ".status.");
    if (!paths.label_selector.empty() && !paths.label_selector.starts_with(".spec.")) {
      check(paths.label_selector, "labelSelectorPath", ".status.");
    }
    return paths;
  }

  PrintColumn read_column(const Value& column, const std::string& path) {
    static constexpr const char* kTypes[] = {"integer", "number", "string", "boolean", "date"};
    PrintColumn read{.name = column["name"].str(),
                     .type = column["type"].str(),
                     .format = column["format"].str(),
                     .description = column["description"].str(),
                     .priority = static_cast<int32_t>(column["priority"].as_int()),
                     .json_path = column["jsonPath"].str()};
    if (read.name.empty()) add(path + ".name", kRequired, "Required value");
    if (read.json_path.empty()) add(path + ".jsonPath", kRequired, "Required value");
    if (std::find(std::begin(kTypes), std::end(kTypes), read.type) == std::end(kTypes)) {
      add(path + ".type", kNotSupported,
          "Unsupported value: " + in_quotes(read.type) +
              ": supported values: \"boolean\", \"date\", \"integer\", \"number\", \"string\"");
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
  static void mark_storage(std::vector<Kind>& kinds) {
    const auto stored = [](const Kind& kind) { return kind.storage; };
    if (std::any_of(kinds.begin(), kinds.end(), stored)) return;
    auto preferred = std::min_element(kinds.begin(), kinds.end(), [](const Kind& a, const Kind& b) {
      return compare_versions(a.version, b.version) < 0;
    });
    preferred->storage = true;
  }

  const Value& crd_;
  const Value& spec_;
  DefinitionBudget* budget_;
  Kind common_;
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
