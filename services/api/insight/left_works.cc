#include "services/api/insight/left_works.h"

#include "events/state/object.h"
#include "events/state/work.h"
#include "projections/objects/object_query.h"

namespace shiplog::api {

Result<std::set<std::string>> clusters_with_work(const View& view, const std::string& work,
                                                 std::optional<Revision> at) {
  const ObjectQuery objects{view};
  SHIPLOG_TRY(const auto rows, objects.list({.type = type::kCluster, .at = at}));
  std::set<std::string> clusters;
  for (const ObjectRow& row : rows) {
    const std::string cluster = row.key.name.str();
    SHIPLOG_TRY(const auto found, objects.get({type::kWork, execution_space(cluster), work}, at));
    if (found) clusters.insert(cluster);
  }
  return clusters;
}

}  // namespace shiplog::api
