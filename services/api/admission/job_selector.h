#pragma once

#include "events/base/value.h"

namespace shiplog::api {

/// Gives a new Job, which has its uid, the selector and the labels of its pods that kube-apiserver generates. Clients
/// rely on a selector (Karmada's dashboard cannot show a Job without one). What the Job states itself stays, as
/// does a Job with manualSelector. Members do not get any of it: `pruned` removes what carries the uid of the template.
/// Source: CRU-10; generateSelector in pkg/registry/batch/job/strategy.go of Kubernetes 1.36.
void generate_job_selector(Value& job);

}  // namespace shiplog::api
