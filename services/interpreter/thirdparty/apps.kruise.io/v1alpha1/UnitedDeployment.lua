local counts = {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas"}

function GetReplicas(object) return object.spec.replicas, kube.accuratePodRequirements(object.spec.template) end

function ReviseReplica(object, count)
  object.spec.replicas = count
  return object
end

function AggregateStatus(object, items)
  object.status = object.status or {}
  observe(object, items)
  sum_up(object.status, items, counts)
  -- Of each type of condition the last cluster's.
  local at, conditions = {}, {}
  for _, member in ipairs(statuses(items)) do
    for _, condition in ipairs(member.conditions or {}) do
      at[condition.type] = at[condition.type] or #conditions + 1
      conditions[at[condition.type]] = condition
    end
  end
  if #conditions > 0 then object.status.conditions = conditions end
  return object
end

function ReflectStatus(object)
  return chosen_with_generations(object, joined(counts, {"observedGeneration", "conditions"}))
end

function InterpretHealth(object)
  if object.status == nil or object.spec == nil then return false end
  return all_updated(object)
end

function GetDependencies(object) return kube.getPodDependencies(object.spec.template, object.metadata.namespace) end
