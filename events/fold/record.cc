#include "events/fold/record.h"

namespace shiplog {

Value owned_record(const Staged& staged, const ObjectKey& key, const char* kind, const ObjectKey& subject,
                   const Value& about) {
  const Value* before = staged.find(key);
  Value record = before != nullptr ? *before : Value::object();
  record.set("apiVersion", "control.shiplog.io/v1");
  record.set("kind", kind);
  Value& metadata = record.edit("metadata");
  metadata.set("name", key.name);
  if (!key.ns.empty()) metadata.set("namespace", key.ns);
  metadata.set("ownerReferences", Value::array({Value::object({{"apiVersion", about["apiVersion"]},
                                                               {"kind", about["kind"]},
                                                               {"name", subject.name},
                                                               {"uid", about["metadata"]["uid"]}})}));
  return record;
}

Applied put_record(Staged& staged, const ObjectKey& key, Value record) {
  return staged.find(key) == nullptr ? staged.create(key, std::move(record)) : staged.update(key, std::move(record));
}

}  // namespace shiplog
