function AggregateStatus(object, items) return aggregate_source(object, items, {}) end

function Retain(desired, observed) return retain_suspend(desired, observed) end

function ReflectStatus(object)
  return chosen_with_generations(object, {
    "conditions", "artifact", "observedGeneration", "observedIgnore", "observedRecurseSubmodules",
  })
end

function InterpretHealth(object) return has_condition(object, "Ready", "True", "Succeeded") end

function GetDependencies(object)
  local list, add = references(object.metadata and object.metadata.namespace)
  add("Secret", named(object.spec.secretRef))
  add("Secret", named(object.spec.verify and object.spec.verify.secretRef))
  return list
end
