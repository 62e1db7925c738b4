#include "services/api/pipeline/oldest_readable.h"

#include <string>

#include "projections/history/history_query.h"
#include "services/api/auth/authorization.h"
#include "services/api/insight/tenant_view.h"

namespace shiplog::api {
namespace {

bool permitted_in_all_namespaces(const Server& server, const RequestContext& context) {
  Attributes wanted = attributes_of(context.request.method, context.request.path, context.request.query);
  wanted.ns.clear();
  return decide(server.options.access, context.user, wanted).allowed;
}

}  // namespace

Result<Revision> oldest_readable(const Server& server, const RequestContext& context) {
  // What is read below /at/ was permitted at its moment, too.
  if (context.past || permitted_in_all_namespaces(server, context)) return Revision{};
  const bool other_journal = context.kind->ephemeral && server.options.ephemera != server.options.record;
  UtcMillis made;
  SHIPLOG_TRY(const Revision oldest, server.options.record->read([&](const View& view) -> Result<Revision> {
    SHIPLOG_TRY(const Revision shown, oldest_shown(view, context.key()));
    if (shown == Revision{} || !other_journal) return shown;
    SHIPLOG_TRY(const auto version, HistoryQuery{view}.version(shown));
    if (version) made = version->entry.time;
    return shown;
  }));
  if (oldest == Revision{} || !other_journal) return oldest;
  // It counts by itself.
  return server.options.ephemera->read([&](const View& view) { return HistoryQuery{view}.revision_at(made); });
}

Result<Revision> oldest_readable(const Server& server, const RequestContext& context, const ReadOptions& options) {
  if (options.continue_token.empty() && options.revision.value_or(Revision{}) == Revision{}) return Revision{};
  return oldest_readable(server, context);
}

}  // namespace shiplog::api
