#pragma once

#include <set>
#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// Defaults of a PodSpec that depend on other fields; the schema has the others.
void fill_pod_spec(Value& spec);

/// `old`: the PodSpec that this one replaces; null for none. `field`: where it stands ("spec.template.spec"). `claims`:
/// names of volumes that its pods get in addition to those listed, as from the volumeClaimTemplates of a StatefulSet.
void check_pod_spec(const Value& spec, const Value& old, const std::string& field, Causes& causes,
                    const std::set<std::string>& claims = {});

}  // namespace shiplog::api
