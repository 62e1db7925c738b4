local counts = {
  "replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "updatedReadyReplicas", "expectedUpdatedReplicas",
}
local revisions = {"updateRevision", "currentRevision", "labelSelector"}

function GetReplicas(object) return object.spec.replicas, kube.accuratePodRequirements(object.spec.template) end

function ReviseReplica(object, count)
  object.spec.replicas = count
  return object
end

function AggregateStatus(object, items)
  object.status = object.status or {}
  observe(object, items)
  sum_up(object.status, items, counts)
  if items ~= nil then take_last(object.status, items, revisions, "") end
  return object
end

function ReflectStatus(object)
  local fields = {"observedGeneration"}
  for _, field in ipairs(counts) do fields[#fields + 1] = field end
  for _, field in ipairs(revisions) do fields[#fields + 1] = field end
  return chosen_with_generations(object, fields)
end

function InterpretHealth(object)
  local status = object.status or {}
  local updated = status.updatedReplicas or 0
  return status.observedGeneration == object.metadata.generation
    and (object.spec.replicas == nil or updated >= object.spec.replicas)
    and (status.availableReplicas or 0) >= updated
end

function GetDependencies(object) return kube.getPodDependencies(object.spec.template, object.metadata.namespace) end
