#include "events/state/new_binding.h"

#include <algorithm>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/object.h"

namespace shiplog {

namespace {

/// D-6. The one exception is a label that only users set.
bool users_own(std::string_view map, std::string_view key) {
  if (map == "labels" && key == "namespace.karmada.io/skip-auto-propagation") return true;
  return key.find(".karmada.io") == std::string_view::npos && key.find(".shiplog.io") == std::string_view::npos;
}

/// Moves what is not the user's from a map of `metadata` to `rest`. A map that is empty is none.
void take_what_is_not_the_users(Value& metadata, const char* map, Value& rest) {
  const Value& members = metadata[map];
  if (members.is_null()) return;
  Value kept = Value::object();
  Value taken = Value::object();
  for (const auto& member : members.members()) {
    (users_own(map, member.key()) ? kept : taken).set(member.key(), member.value);
  }
  if (taken.size() > 0) rest.set(map, std::move(taken));
  if (kept.size() == 0) {
    metadata.erase(map);
  } else if (kept.size() < members.size()) {
    metadata.set(map, std::move(kept));
  }
}

}  // namespace

std::string template_digest(const Value& object) {
  Value users = object;
  users.erase("status");
  Value& metadata = users.edit("metadata");
  metadata.erase("resourceVersion");
  metadata.erase("managedFields");
  // A claim counts one generation of a Deployment, and a binding is made in the same entry as the claim: it need not be
  // made again. What a user changes shows in the rest.
  metadata.erase("generation");
  Value rest = Value::object();
  take_what_is_not_the_users(metadata, "labels", rest);
  take_what_is_not_the_users(metadata, "annotations", rest);
  return to_string(siphash128(to_json(users))) + "-" + to_string(siphash128(to_json(rest)));
}

std::string_view user_digest(std::string_view template_digest) {
  const size_t end = template_digest.find('-');
  return end == std::string_view::npos ? std::string_view{} : template_digest.substr(0, end);
}

std::string binding_permanent_id(const Value& object, const ObjectKey& binding) {
  const Hash128 hash = siphash128("binding permanent-id\n" + std::string{uid_of(object)} + "\n" + to_string(binding));
  EntryId seed;
  for (size_t byte = 0; byte < 8; ++byte) {
    seed.bytes[byte] = static_cast<uint8_t>(hash.lo >> (8 * byte) & 0xffU);
    seed.bytes[byte + 8] = static_cast<uint8_t>(hash.hi >> (8 * byte) & 0xffU);
  }
  return uid_from(seed, 0);
}

Value owner_reference_to(const Value& object) {
  return Value::object({{"apiVersion", object["apiVersion"]},
                        {"blockOwnerDeletion", true},
                        {"controller", true},
                        {"kind", object["kind"]},
                        {"name", object["metadata"]["name"]},
                        {"uid", object["metadata"]["uid"]}});
}

bool belongs_to(const Value& binding, const Value& object) {
  const Value& resource = binding["spec"]["resource"];
  if (resource["uid"] == object["metadata"]["uid"]) return true;
  const auto owners = binding["metadata"]["ownerReferences"].items();
  const bool owned = std::ranges::any_of(owners, [](const Value& owner) { return owner["controller"].as_bool(); });
  return !owned && resource["apiVersion"] == object["apiVersion"] && resource["kind"] == object["kind"] &&
         resource["name"] == object["metadata"]["name"];
}

Value resource_reference_to(const Value& object, const Value& resource_version) {
  const Value& meta = object["metadata"];
  Value resource = Value::object({{"apiVersion", object["apiVersion"]},
                                  {"kind", object["kind"]},
                                  {"name", meta["name"]},
                                  {"resourceVersion", resource_version},
                                  {"uid", meta["uid"]}});
  if (!meta["namespace"].is_empty()) resource.set("namespace", meta["namespace"]);
  return resource;
}

}  // namespace shiplog
