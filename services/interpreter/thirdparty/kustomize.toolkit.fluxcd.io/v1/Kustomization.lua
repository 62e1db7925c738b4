function AggregateStatus(object, items)
  return aggregate_flux(object, items, {"lastAttemptedRevision", "lastAppliedRevision"}, true)
end

function Retain(desired, observed) return retain_suspend(desired, observed) end

function ReflectStatus(object)
  return chosen_with_generations(object, {"conditions", "lastAppliedRevision", "lastAttemptedRevision", "observedGeneration"})
end

function InterpretHealth(object) return has_condition(object, "Ready", "True", "ReconciliationSucceeded") end

function GetDependencies(object)
  local list, add = references(object.metadata and object.metadata.namespace)
  local spec = object.spec
  add("Secret", named(spec.decryption and spec.decryption.secretRef))
  add("Secret", named(spec.kubeConfig and spec.kubeConfig.secretRef))
  add("ServiceAccount", spec.serviceAccountName)
  return list
end
