#pragma once

#include <set>
#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// Defaults of a PodSpec that depend on other fields; the schema has the others.
void fill_pod_spec(Value& spec);

/// The PodSpec of the pod template in `spec`, for writing; nullptr when there is none.
Value* template_spec(Value& spec);

/// `old`: the PodSpec that this one replaces; null for none. `field`: where it stands ("spec.template.spec"). `claims`:
/// names of volumes that its pods get in addition to those listed, as from the volumeClaimTemplates of a StatefulSet.
void check_pod_spec(const Value& spec, const Value& old, const std::string& field, Causes& causes,
                    const std::set<std::string>& claims = {});

/// One of the containers in the PodSpec `spec`, with the checks of any container. `names`: of those before it; its own
/// is added.
void check_pod_container(const Value& container, const Value& spec, const std::string& field,
                         std::set<std::string>& names, Causes& causes);

/// As check_pod_spec(), of a PodTemplateSpec with its metadata; `field`: "spec.template".
void check_pod_template(const Value& pod, const Value& old, const std::string& field, Causes& causes,
                        const std::set<std::string>& claims = {});

/// As check_pod_spec(), of a Pod, of which more is required than of a template.
void check_whole_pod(const Value& pod, const Value& old, Causes& causes);

}  // namespace shiplog::api
