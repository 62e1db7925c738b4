local texts = {"lastAttemptedRevision", "lastAppliedRevision", "lastAttemptedValuesChecksum", "helmChart", "lastReleaseRevision"}
local failures = {"failures", "upgradeFailures", "installFailures"}

function AggregateStatus(object, items)
  object.status = object.status or {}
  -- Only for a release that has such counts; otherwise none are set.
  for _, field in ipairs(failures) do
    if items == nil or object.status[field] ~= nil then sum_up(object.status, items, {field}) end
  end
  return aggregate_flux(object, items, texts, true)
end

function Retain(desired, observed) return retain_suspend(desired, observed) end

function ReflectStatus(object)
  return chosen_with_generations(object, {
    "conditions", "observedGeneration", "lastAttemptedRevision", "lastAppliedRevision", "lastAttemptedValuesChecksum",
    "helmChart", "lastReleaseRevision", "failures", "upgradeFailures", "installFailures",
  })
end

function InterpretHealth(object) return has_condition(object, "Ready", "True", "ReconciliationSucceeded") end

function GetDependencies(object)
  local list, add = references(object.metadata and object.metadata.namespace)
  local spec = object.spec
  for _, source in ipairs(spec.valuesFrom or {}) do
    if source.kind == "Secret" or source.kind == "ConfigMap" then add(source.kind, source.name) end
  end
  local chart = spec.chart and spec.chart.spec
  add("Secret", named(chart and chart.verify and chart.verify.secretRef))
  add("Secret", named(spec.kubeConfig and spec.kubeConfig.secretRef))
  add("ServiceAccount", spec.serviceAccountName)
  return list
end
