#include "services/api/insight/export.h"

#include <algorithm>
#include <vector>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "projections/objects/object_query.h"
#include "projections/store/checkpoint.h"
#include "services/api/insight/as_of.h"

namespace shiplog::api {
namespace {

/// "TYPE\nNAMESPACE\nNAME": no name contains a line break.
Result<ObjectKey> position_of(const std::string& text) {
  const size_t first = text.find('\n');
  const size_t second = first == std::string::npos ? first : text.find('\n', first + 1);
  if (second == std::string::npos) {
    return Error{ErrorCode::kBadRequest, "continue: " + quoted(text) + " is not what a page of an export has given"};
  }
  return ObjectKey{text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

std::string to_text(const ObjectKey& position) { return position.type + '\n' + position.ns + '\n' + position.name; }

void append_member(std::string_view name, std::string_view text, std::string& out) {
  append_json_string(name, out);
  out += ':';
  append_json_string(text, out);
}

}  // namespace

Result<std::string> export_page(const View& view, std::optional<Revision> at, const std::string& after) {
  SHIPLOG_TRY(const auto checkpoint, store::read_checkpoint(view.connection()));
  if (!checkpoint) return Error{ErrorCode::kUnavailable, "nothing has been folded yet"};
  const Revision revision = at.value_or(view.revision());
  std::optional<ObjectKey> from;
  if (!after.empty()) {
    SHIPLOG_TRY(from, position_of(after));
  }
  const ObjectQuery query{view};
  SHIPLOG_TRY(std::vector<std::string> types, query.types());
  std::string items;
  std::string next;
  size_t objects = 0;
  for (const std::string& type : types) {
    if (from && type < from->type) continue;
    if (!next.empty()) break;
    ObjectList list{.type = type, .at = revision};
    if (from && type == from->type) list.after = ObjectList::Position{from->ns.str(), from->name.str()};
    SHIPLOG_TRY(query.visit(list, [&](const ObjectRowView& row) {
      items += items.empty() ? "{" : ",{";
      append_member("type", type, items);
      items += ',';
      append_member("namespace", row.ns, items);
      items += ',';
      append_member("name", row.name, items);
      items += ",\"object\":";
      items += row.json;
      items += '}';
      if (++objects < kExportPageObjects && items.size() < kExportPageBytes) return true;
      next = to_text({type, std::string{row.ns}, std::string{row.name}});
      return false;
    }));
  }
  const bool newest = revision == view.revision();
  Value head = Value::object(
      {{"kind", "StateExport"}, {"revision", revision.value}, {"foldVersion", checkpoint->meta.fold_version}});
  if (newest) {
    head.set("time", rfc3339_millis(checkpoint->meta.time));
    head.set("objectsHash", to_string(checkpoint->meta.hash));
  } else {
    SHIPLOG_TRY(const std::string time, time_of(view, revision));
    if (!time.empty()) head.set("time", time);
  }
  if (!next.empty()) head.set("continue", next);
  std::string page = to_json(head);
  page.pop_back();
  page += ",\"items\":[";
  page += items;
  page += "]}\n";
  return page;
}

}  // namespace shiplog::api
