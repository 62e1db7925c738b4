#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "events/kinds/schema.h"
#include "services/cel/cel_type.h"

namespace shiplog::api {

/// The types that expressions see of a structural schema. Each part of a schema is converted once.
/// Source: Kubernetes' documentation of validation rules ("Types").
class SchemaTypes {
 public:
  /// `is_resource`: the root of a resource, where apiVersion, kind, metadata.name and metadata.generateName are known.
  /// nullopt: expressions do not see it, as its type is not known (x-kubernetes-preserve-unknown-fields).
  const std::optional<cel::CelField>& field_of(const Schema& schema, bool is_resource);

 private:
  std::optional<cel::CelField> convert(const Schema& schema, bool is_resource);
  std::optional<cel::CelField> list(const Schema& schema);
  std::optional<cel::CelField> map(const Schema& schema);
  cel::CelField object(const Schema& schema, bool is_resource);

  std::map<std::pair<const Schema*, bool>, std::optional<cel::CelField>> converted_;
};

}  // namespace shiplog::api
