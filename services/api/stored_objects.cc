#include "services/api/stored_objects.h"

#include <utility>

#include "events/base/json.h"
#include "services/api/status.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

bool is_secret(const Value& object) {
  return object["kind"].as_string() == "Secret" && object["apiVersion"].as_string() == "v1";
}

}  // namespace

Result<Value> StoredObjects::find(const ObjectKey& key) const {
  SHIPLOG_TRY(const auto row, record_->newest(key));
  if (!row) return Error{ErrorCode::kNotFound, to_string(key) + " not found"};
  return load(row->json);
}

Result<std::optional<std::string>> StoredObjects::find_json(const Kind& kind, const ObjectKey& key) const {
  SHIPLOG_TRY(auto row, store(kind).newest(key));
  if (!row) return std::optional<std::string>{};
  return std::optional{std::move(row->json)};
}

Result<Value> StoredObjects::load(std::string_view json) const {
  SHIPLOG_TRY(auto value, parse_stored_json(json));
  if (vault_ == nullptr) return value;
  return is_secret(value) ? vault_->open(std::move(value)) : vault_->open_partly(std::move(value));
}

Result<Value> StoredObjects::load_as(const Kind& kind, const ObjectKey& key, std::string_view json) const {
  auto object = load(json);
  if (!object) {
    // Its removal is in the journal, though not in the projection yet.
    if (object.error().code == ErrorCode::kGone) return not_found({kind.group, kind.kind, kind.plural, key.name.str()});
    return object.error();
  }
  return kind.builtin ? std::move(object).value() : pruned_in_version(kind, std::move(object).value());
}

Result<Value> StoredObjects::load_version(std::string_view json) const {
  SHIPLOG_TRY(auto value, parse_stored_json(json));
  return open_version(std::move(value));
}

Result<Value> StoredObjects::open_version(Value value) const {
  if (vault_ == nullptr) return value;
  return is_secret(value) ? vault_->open_version(std::move(value)) : vault_->open_partly(std::move(value));
}

}  // namespace shiplog::api
