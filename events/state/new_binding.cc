#include "events/state/new_binding.h"

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/object.h"

namespace shiplog {

std::string template_digest(const Value& object) {
  Value relevant = object;
  relevant.erase("status");
  Value& metadata = relevant.edit("metadata");
  metadata.erase("resourceVersion");
  metadata.erase("managedFields");
  return to_string(siphash128(to_json(relevant)));
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
