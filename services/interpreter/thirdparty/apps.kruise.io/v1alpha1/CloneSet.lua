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
  return chosen_with_generations(object, joined(joined(counts, revisions), {"observedGeneration"}))
end

function InterpretHealth(object) return all_updated(object) end

function GetDependencies(object) return kube.getPodDependencies(object.spec.template, object.metadata.namespace) end
