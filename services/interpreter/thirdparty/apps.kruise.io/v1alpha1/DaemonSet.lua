local counts = {
  "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "updatedNumberScheduled",
  "numberAvailable", "numberUnavailable",
}

function AggregateStatus(object, items)
  object.status = object.status or {}
  observe(object, items)
  sum_up(object.status, items, counts)
  take_last(object.status, items, {"daemonSetHash"}, 0)
  return object
end

function ReflectStatus(object)
  return chosen_with_generations(object, joined(counts, {"daemonSetHash", "observedGeneration"}))
end

function InterpretHealth(object)
  local status = object.status or {}
  local updated = status.updatedNumberScheduled or 0
  return status.observedGeneration == object.metadata.generation and updated >= (status.desiredNumberScheduled or 0)
    and (status.numberAvailable or 0) >= updated
end

function GetDependencies(object) return kube.getPodDependencies(object.spec.template, object.metadata.namespace) end
