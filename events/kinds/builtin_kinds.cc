#include "events/kinds/builtin_kinds.h"

#include <charconv>

#include "events/base/api_version.h"
#include "events/base/ascii.h"
#include "events/base/check.h"
#include "events/kinds/builtin_schema.h"
#include "schemas/kinds/embedded.h"

namespace shiplog {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t position = text.find(separator);
    parts.emplace_back(text.substr(0, position));
    if (position == std::string_view::npos) return parts;
    text.remove_prefix(position + separator.size());
  }
}

// Objects begin with apiVersion and kind, which are not fields of the message: protobuf has them in its envelope.
std::shared_ptr<const Schema> object_schema(const std::string& message) {
  const auto found = message_schemas().find(message);
  SHIPLOG_CHECK(found != message_schemas().end(), "served.txt: a kind that messages.txt does not describe");
  auto schema = std::make_shared<Schema>(*found->second);
  auto text = std::make_shared<Schema>();
  text->type = Schema::Type::kString;
  schema->properties.emplace("apiVersion", text);
  schema->properties.emplace("kind", text);
  return schema;
}

Kind read_kind(std::string_view line) {
  const std::vector<std::string> columns = split(line, " ");
  SHIPLOG_CHECK(columns.size() >= 3, "served.txt: a kind has a group and version, a name and a plural");
  Kind kind;
  const auto [group, version] = split_api_version(columns[0]);
  kind.group = group;
  kind.version = version;
  kind.kind = columns[1];
  kind.plural = columns[2];
  kind.singular = lower_case(kind.kind);
  kind.list_kind = kind.kind + "List";
  kind.builtin = true;
  kind.namespaced = false;
  const std::string family = kind.group.empty() ? "core" : kind.group.substr(0, kind.group.find('.'));
  std::string message = family + "." + kind.kind;
  for (size_t i = 3; i < columns.size(); ++i) {
    const size_t equals = columns[i].find('=');
    const std::string key = columns[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : columns[i].substr(equals + 1);
    if (key == "namespaced") {
      kind.namespaced = true;
    } else if (key == "status") {
      kind.has_status = true;
    } else if (key == "generation") {
      kind.has_generation = true;
    } else if (key == "ephemeral") {
      kind.ephemeral = true;
    } else if (key == "view") {
      kind.storage = false;
      kind.shared_type = value;
    } else if (key == "message") {
      message = value;
    } else if (key == "short") {
      kind.short_names = split(value, ",");
    } else if (key == "categories") {
      kind.categories = split(value, ",");
    } else {
      SHIPLOG_CHECK(key == "scale", "served.txt: an unknown property");
      const std::vector<std::string> paths = split(value, ",");
      SHIPLOG_CHECK(paths.size() == 3, "served.txt: scale has three paths");
      kind.scale = ScalePaths{paths[0], paths[1], paths[2]};
    }
  }
  kind.schema = object_schema(message);
  return kind;
}

PrintColumn read_column(std::string_view line) {
  const std::vector<std::string> cells = split(line, " | ");
  SHIPLOG_CHECK(cells.size() == 4, "served.txt: a column has a name, a type, a path and a priority");
  PrintColumn column{
      .name = cells[0], .type = cells[1], .format = "", .description = "", .priority = 0, .json_path = cells[2]};
  std::from_chars(cells[3].data(), cells[3].data() + cells[3].size(), column.priority);
  return column;
}

}  // namespace

std::vector<Kind> builtin_kinds() {
  static constexpr std::string_view kColumn = "column ";
  std::vector<Kind> kinds;
  for (const EmbeddedDocument& document : embedded_kinds()) {
    if (document.name != "builtin/served.txt") continue;
    for (const std::string& line : split(document.bytes, "\n")) {
      if (line.empty() || line.starts_with('#')) continue;
      if (line.starts_with(kColumn)) {
        SHIPLOG_CHECK(!kinds.empty(), "served.txt: a column before the first kind");
        kinds.back().columns.push_back(read_column(std::string_view{line}.substr(kColumn.size())));
      } else {
        kinds.push_back(read_kind(line));
      }
    }
  }
  SHIPLOG_CHECK(!kinds.empty(), "builtin/served.txt is not embedded");
  return kinds;
}

const std::shared_ptr<const Schema>& object_meta_schema() {
  static const std::shared_ptr<const Schema>& schema = message_schemas().find("meta.ObjectMeta")->second;
  return schema;
}

}  // namespace shiplog
