#pragma once

#include <concepts>
#include <string_view>
#include <tuple>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/affinity_index.h"
#include "events/state/cluster_view.h"
#include "events/state/dependency_index.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/label_index.h"
#include "events/state/object_store.h"
#include "events/state/override_policy_view.h"
#include "events/state/owner_index.h"
#include "events/state/policy_view.h"
#include "events/state/quota_view.h"
#include "events/state/service_index.h"
#include "events/state/target_index.h"
#include "events/state/unsettled_index.h"

namespace shiplog {

/// The view depends on the changed object alone.
template <class View>
concept LocalView = requires(View view, const ObjectKey& key, const Value& value) {
  view.update(key, value, value);
};

/// The view also reads other objects, for example when a feature gate changes what it counts.
template <class View>
concept StoreView = requires(View view, const ObjectKey& key, const Value& value, const ObjectStore& objects) {
  view.update(key, value, value, objects);
};

/// What decisions read and would otherwise compute from many objects: a pure function of the objects, kept up to date
/// by the fold.
///   wants(type)                            whether changes of objects of this type concern it; a comparison or two
///   update(key, before, after[, objects])  one such object has changed; null: it did not, or does not, exist.
///                                          `objects` are those after the change.
/// Views do not know each other. For any history, a view that was updated change by change equals one that was given
/// the objects in any order: a restored state has the views of the one that was saved.
template <class View>
concept DerivedView = std::copyable<View> && std::default_initializable<View> && std::equality_comparable<View> &&
    (LocalView<View> || StoreView<View>)&&requires(std::string_view type) {
  { View::wants(type) } -> std::same_as<bool>;
};

/// All views of State. A new one is a file and a line here.
using Views =
    std::tuple<FeatureGatesView, FleetOptionsView, OwnerIndex, LabelIndex, ClusterView, PolicyView, OverridePolicyView,
               QuotaView, DependencyIndex, AffinityIndex, UnsettledIndex, ServiceIndex, TargetIndex>;

/// Updates the views that the object concerns. `objects` has the change already.
void update_views(Views& views, const ObjectStore& objects, const ObjectKey& key, const Value& before,
                  const Value& after);

}  // namespace shiplog
