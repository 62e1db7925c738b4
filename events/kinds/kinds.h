#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "events/kinds/schema.h"

namespace shiplog {

/// A column of `kubectl get`: additionalPrinterColumns of a CustomResourceDefinition.
struct PrintColumn {
  std::string name;
  std::string type;  ///< string, integer, number, boolean, date
  std::string format;
  std::string description;
  int32_t priority = 0;   ///< above 0: only with -o wide
  std::string json_path;  ///< ".spec.replicas"
};

/// The fields of the scale subresource (JSON paths into the object).
struct ScalePaths {
  std::string spec_replicas;
  std::string status_replicas;
  std::string label_selector;  ///< may be empty; built-in kinds: a LabelSelector, else a string
};

using SchemasByVersion = std::map<std::string, std::shared_ptr<const Schema>, std::less<>>;

/// One served version of one resource.
struct Kind {
  std::string group;    ///< "" for core
  std::string version;  ///< "v1"
  std::string kind;     ///< "Deployment"
  std::string plural;   ///< "deployments"
  std::string singular;
  std::string list_kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool builtin = false;         ///< described by the table of built-in kinds, not by a CustomResourceDefinition
  bool ephemeral = false;       ///< stored in the ephemera journal (Lease, Event)
  bool storage = true;          ///< the version that is stored; every kind has exactly one
  bool has_status = false;      ///< status subresource: writes to the main resource do not change the status
  bool has_generation = false;  ///< metadata.generation counts changes outside metadata and status
  std::optional<ScalePaths> scale;
  /// Not empty: this kind shows the objects of that type in another form (events.k8s.io/v1 shows core Events).
  std::string shared_type;
  std::vector<PrintColumn> columns;
  /// What field selectors may name besides name and namespace: "spec.color". Of custom resources.
  std::vector<std::string> selectable_fields;
  /// spec.conversion.webhook of the definition, with which versions are converted into each other; null: they differ in
  /// apiVersion alone.
  Value conversion;
  std::shared_ptr<const Schema> schema;
  /// By version, also by one that is not served: the schema whose defaults are those of objects stored in it. If the
  /// storage version is not served, its schema is that of the version which is stored instead. Null: as `schema`.
  std::shared_ptr<const SchemasByVersion> stored_schemas = {};

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// ObjectKey::type: "deployments.apps", "configmaps".
  std::string type() const {
    if (!shared_type.empty()) return shared_type;
    return group.empty() ? plural : plural + "." + group;
  }
  /// Another kind, or another version of this one, is stored, and has a different form.
  bool is_view() const { return builtin && !storage; }
};

/// The kinds that are served: an immutable set. Adding a CustomResourceDefinition gives a new set.
/// Threads: any number may read.
class Kinds {
 public:
  /// All compiled-in kinds: the built-in kinds, and the Karmada kinds from schemas/kinds. Built once, in a few ms.
  static const Kinds& compiled();

  const Kind* find(std::string_view group, std::string_view version, std::string_view plural) const;
  /// By apiVersion and kind: "apps/v1", "Deployment".
  const Kind* find_kind(std::string_view api_version, std::string_view kind) const;
  /// The stored version of "deployments.apps".
  const Kind* find_type(std::string_view type) const;
  /// Sorted by group, then plural, then version (preferred version first, by Kubernetes' version order).
  const std::vector<std::shared_ptr<const Kind>>& all() const { return all_; }

  /// This set with the kinds that `crd` defines, added or replaced. Error: kInvalid with the invalid fields.
  Result<Kinds> with(const Value& crd) const;
  /// This set without the kinds of the named CustomResourceDefinition (a name like "deployments.apps").
  Kinds without(std::string_view crd_name) const;

 private:
  explicit Kinds(std::vector<std::shared_ptr<const Kind>> kinds);
  std::vector<std::shared_ptr<const Kind>> all_;
  std::vector<const Kind*> by_kind_;  // into all_, sorted by group, version and kind
};

/// Below 0 when version `a` is preferred to `b`: stable before beta before alpha, higher before lower ("v2", "v1",
/// "v1beta2", "v1alpha1"), then names of no such form by alphabet.
int compare_versions(std::string_view a, std::string_view b);

/// The kinds that a CustomResourceDefinition defines, one per served version. Error: kInvalid with field paths. The
/// expressions of validation rules are not read here.
Result<std::vector<Kind>> kinds_of(const Value& crd);

}  // namespace shiplog
