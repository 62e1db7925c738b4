function AggregateStatus(object, items) return aggregate_source(object, items, {"url"}) end

function Retain(desired, observed) return retain_suspend(desired, observed) end

function ReflectStatus(object)
  return chosen_with_generations(object, {
    "conditions", "artifact", "url", "observedGeneration", "observedIgnore", "observedLayerSelector",
  })
end

function InterpretHealth(object) return has_condition(object, "Ready", "True", "Succeeded") end

function GetDependencies(object)
  local list, add = references(object.metadata and object.metadata.namespace)
  local spec = object.spec
  add("Secret", named(spec.secretRef))
  add("Secret", named(spec.verify and spec.verify.secretRef))
  add("Secret", named(spec.certSecretRef))
  add("ServiceAccount", spec.serviceAccountName)
  return list
end
