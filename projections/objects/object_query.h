#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "projections/store/reader.h"

namespace shiplog {

/// One object as of some revision.
struct ObjectRow {
  ObjectKey key;
  Revision revision;  ///< of its newest change
  std::string json;   ///< canonical, as served
};

/// The same without copies: valid during the visit only.
struct ObjectRowView {
  std::string_view ns, name;
  Revision revision;
  std::string_view json;
};

/// Which objects of one type.
struct ObjectList {
  std::string type;
  std::optional<std::string> ns = {};  ///< nullopt: all namespaces, or a cluster-scoped type
  struct Position {
    std::string ns, name;
  };
  std::optional<Position> after = {};  ///< continue after this object
  size_t limit = 0;                    ///< 0: all
  /// As of this revision, exactly; nullopt: as of the view's.
  std::optional<Revision> at = {};
};

/// Objects as of the view's revision, or of any earlier revision that history still contains. Errors of all functions
/// with `at`: kGone, before the oldest stored revision; kBadRequest, newer than the view.
class ObjectQuery {
 public:
  explicit ObjectQuery(const View& view) : view_{view} {}

  /// nullopt: no such object.
  Result<std::optional<ObjectRow>> get(const ObjectKey& key, std::optional<Revision> at = {}) const;

  /// Sorted by namespace and name (bytewise).
  Result<std::vector<ObjectRow>> list(const ObjectList& which) const;

  /// The same, one object at a time, until `visit` returns false: for lists that are filtered or written while they are
  /// read. `limit` counts visits. `visit` may run other queries on the view.
  Result<void> visit(const ObjectList& which, const std::function<bool(const ObjectRowView&)>& visit) const;

  /// Of all objects that there have ever been, sorted.
  Result<std::vector<std::string>> types() const;

  /// The number of objects that `list` would return without its limit; with `after`, the remaining ones.
  Result<uint64_t> count(const ObjectList& which) const;

 private:
  const View& view_;
};

}  // namespace shiplog
