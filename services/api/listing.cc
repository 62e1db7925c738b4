#include "services/api/listing.h"

#include <utility>

#include "projections/objects/object_query.h"
#include "services/api/selector/selector.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

struct Page {
  std::optional<Revision> at;  // nullopt: the newest
  std::optional<ObjectList::Position> after;
};

Result<Page> page_of(const ReadOptions& options, Revision newest) {
  Page page;
  if (!options.continue_token.empty()) {
    SHIPLOG_TRY(const auto token, parse_continue_token(options.continue_token));
    if (token.revision != Revision{}) page.at = token.revision;
    page.after = ObjectList::Position{token.ns, token.name};
    return page;
  }
  const bool exact = options.match == "Exact" || (options.match.empty() && options.limit > 0);
  if (options.revision && *options.revision != Revision{}) {
    if (*options.revision > newest) return too_large(*options.revision, newest);
    if (exact) page.at = *options.revision;
  }
  return page;
}

/// Whether the selector selects the object, as far as that can be decided without its conversion.
bool is_selected(const FieldSelector& fields, const Kind& kind, const Value& object) {
  if (!fields.depends_on_version()) return fields.matches(object);
  return needs_conversion(kind, object) ? fields.may_match(object) : fields.matches(in_version(kind, object));
}

}  // namespace

Result<std::vector<Value>> selected_again(std::vector<Value> items, const Kind& kind, const ReadOptions& options) {
  if (kind.conversion.is_null() || options.field_selector.empty()) return items;
  SHIPLOG_TRY(const auto fields, parse_field_selector(options.field_selector, kind));
  std::erase_if(items, [&](const Value& item) { return !is_selected(fields, kind, item); });
  return items;
}

Error too_old(Revision wanted, Revision oldest) {
  return Error{ErrorCode::kGone,
               "too old resource version: " + std::to_string(wanted.value) + " (" + std::to_string(oldest.value) + ")"};
}

Error too_large(Revision wanted, Revision newest) {
  return Error{
      ErrorCode::kTimeout,
      "Too large resource version: " + std::to_string(wanted.value) + ", current: " + std::to_string(newest.value),
      {{"", "ResourceVersionTooLarge", "Too large resource version"}}};
}

Result<Listed> list_collection(const StoredObjects& objects, const Kind& kind, const std::string& ns,
                               const ReadOptions& options, Revision oldest) {
  SHIPLOG_TRY(const auto labels, parse_label_selector(options.label_selector));
  SHIPLOG_TRY(const auto fields, parse_field_selector(options.field_selector, kind));
  return objects.store(kind).read([&](const View& view) -> Result<Listed> {
    SHIPLOG_TRY(const Page page, page_of(options, view.revision()));
    if (page.at && *page.at < oldest) return too_old(*page.at, oldest);
    const ObjectQuery query{view};
    ObjectList which{.type = kind.type()};
    if (!ns.empty()) which.ns = ns;
    which.after = page.after;
    if (page.at && *page.at != view.revision()) which.at = page.at;
    const Revision revision = page.at.value_or(view.revision());

    Listed listed;
    std::optional<Error> failed;
    bool more = false;
    ObjectList::Position last;
    const auto take = [&](const ObjectRowView& row) {
      if (options.limit > 0 && listed.items.size() == options.limit) {
        more = true;
        return false;
      }
      auto value = which.at ? objects.load_version(row.json) : objects.load(row.json);
      if (!value) {
        if (value.error().code == ErrorCode::kGone) return true;  // removed meanwhile
        failed = value.error();
        return false;
      }
      if (!labels.matches(value.value()["metadata"]["labels"]) || !is_selected(fields, kind, value.value()))
        return true;
      last = {std::string{row.ns}, std::string{row.name}};
      listed.items.push_back(std::move(value).value());
      return true;
    };
    if (const auto name = fields.name(); name && which.ns && !page.after && !page.at) {
      SHIPLOG_TRY(const auto row, query.get({which.type, *which.ns, *name}));
      if (row) take({row->key.ns, row->key.name, row->revision, row->json});
    } else {
      SHIPLOG_TRY(query.visit(which, take));
    }
    if (failed) return *failed;

    listed.metadata = Value::object({{"resourceVersion", std::to_string(revision.value)}});
    if (more) {
      listed.metadata.set("continue", encode(ContinueToken{revision, last.ns, last.name}));
      if (labels.empty() && fields.empty()) {
        which.after = last;
        SHIPLOG_TRY(const auto remaining, query.count(which));
        listed.metadata.set("remainingItemCount", static_cast<int64_t>(remaining));
      }
    }
    return listed;
  });
}

}  // namespace shiplog::api
