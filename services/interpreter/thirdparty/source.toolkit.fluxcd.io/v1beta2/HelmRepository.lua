function AggregateStatus(object, items) return aggregate_source(object, items, {"url"}) end

function Retain(desired, observed) return retain_suspend(desired, observed) end

function ReflectStatus(object)
  return chosen_with_generations(object, {"conditions", "artifact", "observedGeneration", "url"})
end

function InterpretHealth(object) return has_condition(object, "Ready", "True", "Succeeded") end

function GetDependencies(object)
  local list, add = references(object.metadata and object.metadata.namespace)
  add("Secret", named(object.spec.secretRef))
  return list
end
