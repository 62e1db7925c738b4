#include "services/api/search/cached_object.h"

#include "events/base/json.h"

namespace shiplog::api {
namespace {

constexpr size_t kLongestName = 253;
constexpr size_t kLongestNamespace = 63;

Error not_of(const CachedScope& scope, const std::string& why) {
  return {ErrorCode::kInvalid, "cluster " + scope.cluster + " has sent an object of " + scope.plural + " that " + why};
}

/// One that could not be read back from a line of a watch or a path would be of no use.
bool is_plain(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == '/' || c == 0x7f) return false;
  }
  return true;
}

Result<void> check(const CachedScope& scope, const Value& metadata) {
  const std::string_view name = metadata["name"].as_string();
  const std::string_view ns = metadata["namespace"].as_string();
  const std::string_view version = metadata["resourceVersion"].as_string();
  if (name.empty() || version.empty()) return not_of(scope, "has no name or resourceVersion");
  const bool long_one = name.size() > kLongestName || ns.size() > kLongestNamespace || version.size() > kLongestVersion;
  if (long_one || !is_plain(name) || !is_plain(ns) || !is_plain(version)) {
    return not_of(scope, "has a name, namespace or resourceVersion that Kubernetes does not allow");
  }
  if (scope.namespaced == ns.empty() || (!scope.ns.empty() && ns != scope.ns)) {
    return not_of(scope, "is in a namespace that was not asked for");
  }
  return ok();
}

}  // namespace

Result<CachedObject::Ptr> CachedObject::make(const CachedScope& scope, Value object, Compressor& compressor,
                                             const std::shared_ptr<CacheBudget>& budget, CacheBudget::Use use) {
  SHIPLOG_TRY(check(scope, object["metadata"]));
  // Items of lists of built-in kinds have neither.
  object.set("apiVersion", scope.api_version());
  object.set("kind", scope.kind);
  Value& metadata = object.edit("metadata");
  metadata.erase("managedFields");
  metadata.edit("annotations").set(kCachedFromCluster, scope.cluster);

  std::shared_ptr<CachedObject> made{new CachedObject};
  const std::string_view ns = metadata["namespace"].as_string();
  const std::string_view name = metadata["name"].as_string();
  const std::string_view version = metadata["resourceVersion"].as_string();
  const std::string json = to_json(object);
  const auto packed = compressor.compress(json);
  const std::string_view stored = packed ? *packed : std::string_view{json};
  std::string block;
  block.reserve(ns.size() + name.size() + version.size() + stored.size());
  block.append(ns).append(name).append(version).append(stored);
  made->block_ = std::move(block);
  made->size_ = static_cast<uint32_t>(json.size());
  made->ns_ = static_cast<uint8_t>(ns.size());
  made->name_ = static_cast<uint16_t>(name.size());
  made->version_ = static_cast<uint8_t>(version.size());
  made->compressed_ = packed.has_value();
  if (!budget->take(made->bytes(), use)) return Error{ErrorCode::kTooLarge, kSearchCacheFull};
  made->budget_ = budget;
  return Ptr{std::move(made)};
}

CachedObject::~CachedObject() {
  if (budget_ != nullptr) budget_->give(bytes());
}

Result<std::string> CachedObject::json(Compressor& compressor) const {
  const std::string_view stored = std::string_view{block_}.substr(size_t{ns_} + name_ + version_);
  if (!compressed_) return std::string{stored};
  SHIPLOG_TRY(const auto text, compressor.decompress(stored, kNewestDictionary, size_));
  return std::string{text};
}

Result<Value> CachedObject::value(Compressor& compressor) const {
  SHIPLOG_TRY(const auto text, json(compressor));
  return parse_stored_json(text);
}

}  // namespace shiplog::api
