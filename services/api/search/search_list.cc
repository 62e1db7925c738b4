#include "services/api/search/search_list.h"

#include <utility>

namespace shiplog::api {
namespace {

constexpr size_t kAtOnce = 1000;

/// Goes through the sources in the order of clusters, from where the token says.
class PageCollector {
 public:
  PageCollector(const CachedQuery& query, const std::function<bool()>& stop) : query_{query}, stop_{stop} {}

  /// False: the page is full.
  Result<bool> take_all(const CachedCollection& collection, std::string after) {
    const std::string name = query_.name.empty() ? query_.fields.name().value_or("") : query_.name;
    if (!name.empty() && (!query_.ns.empty() || !collection.scope().namespaced)) {
      const auto object = after.empty() ? collection.find(query_.ns, name) : nullptr;
      if (object == nullptr) return true;
      SHIPLOG_TRY(const bool wanted, matches(*object));
      if (wanted) taken.push_back(object);
      return true;
    }
    while (!stop_()) {
      const auto objects = collection.objects(query_.ns, after, kAtOnce);
      for (const auto& object : objects) {
        if (full()) return false;
        SHIPLOG_TRY(const bool wanted, matches(*object));
        after = CachedCollection::position_text(*object);
        if (!wanted) continue;
        taken.push_back(object);
        last = after;
      }
      if (objects.size() < kAtOnce) break;
    }
    return true;
  }

  bool full() const { return query_.limit > 0 && taken.size() >= query_.limit; }

  Result<bool> matches(const CachedObject& object) {
    if (!query_.name.empty() && object.name() != query_.name) return false;
    if (query_.labels.empty() && query_.fields.empty()) return true;
    SHIPLOG_TRY(const Value value, object.value(compressor_));
    return query_.labels.matches(value["metadata"]["labels"]) && query_.fields.matches(value);
  }

  std::vector<CachedObject::Ptr> taken;
  std::string last;  // position of the last one

 private:
  const CachedQuery& query_;
  const std::function<bool()>& stop_;
  Compressor compressor_;
};

}  // namespace

SearchCache::Sources sources_for(const SearchCache::Sources& sources, const std::string& ns) {
  if (ns.empty()) return sources;
  SearchCache::Sources found;
  for (const auto& source : sources) {
    if (source->scope().ns.empty() || source->scope().ns == ns) found.push_back(source);
  }
  return found;
}

Warnings missing_in(const SearchCache::Sources& sources) {
  Warnings warnings;
  for (const auto& source : sources) {
    const std::string problem = source->problem();
    const bool listed = source->collection().listed();
    if (listed && problem.empty()) continue;
    const std::string what = source->scope().plural + " of cluster " + source->scope().cluster +
                             (listed ? " may be out of date: " : " are missing: ");
    warnings.push_back(what + (problem.empty() ? "they have not been listed yet" : problem));
  }
  return warnings;
}

MultiVersion version_of(const SearchCache::Sources& sources) {
  MultiVersion version;
  for (const auto& source : sources) {
    std::string own = source->collection().version();
    if (own.empty()) continue;
    const auto [at, first] = version.of.emplace(source->scope().cluster, own);
    if (!first) at->second = smaller_version(at->second, own);
  }
  return version;
}

Result<CachedList> list_cached(const Kind& kind, const SearchCache::Sources& sources, const CachedQuery& query,
                               const std::function<bool()>& stop) {
  CachedList list;
  list.api_version = kind.api_version();
  list.kind = kind.list_kind;
  // Before anything is read: a watch from there on repeats what changes meanwhile.
  MultiVersion version = version_of(sources);
  if (!query.from.cluster.empty()) version = parse_multi_version(query.from.versions);

  PageCollector collector{query, stop};
  MultiContinue token;
  // A cluster with several namespaces has them in one order: by namespace.
  for (size_t index = 0; index < sources.size(); ++index) {
    const MemberSource& source = *sources[index];
    const std::string& cluster = source.scope().cluster;
    if (cluster < query.from.cluster) continue;
    const bool goes_on = cluster == query.from.cluster;
    SHIPLOG_TRY(const bool whole, collector.take_all(source.collection(), goes_on ? query.from.position : ""));
    if (!whole) {
      token = {to_text(version), cluster, collector.last};
      break;
    }
    if (collector.full() && index + 1 < sources.size()) {
      const std::string& next = sources[index + 1]->scope().cluster;
      token = {to_text(version), next, next == cluster ? collector.last : ""};
      break;
    }
  }
  list.objects = std::move(collector.taken);
  list.metadata = Value::object({{"resourceVersion", to_text(version)}});
  if (const std::string text = to_text(token); !text.empty()) list.metadata.set("continue", text);
  list.warnings = missing_in(sources);
  return list;
}

}  // namespace shiplog::api
