function AggregateStatus(object, items)
  return aggregate_source(object, items, {"url", "observedChartName", "observedSourceArtifactRevision"})
end

function Retain(desired, observed) return retain_suspend(desired, observed) end

function ReflectStatus(object)
  return chosen_with_generations(object, {
    "conditions", "artifact", "observedChartName", "observedGeneration", "observedSourceArtifactRevision", "url",
  })
end

function InterpretHealth(object)
  return has_condition(object, "Ready", "True", "ChartPullSucceeded") or has_condition(object, "Ready", "True", "Succeeded")
end

function GetDependencies(object)
  local list, add = references(object.metadata and object.metadata.namespace)
  add("Secret", named(object.spec.verify and object.spec.verify.secretRef))
  return list
end
