function GetComponents(object) return ray_components(object.spec) end

function InterpretHealth(object)
  return has_condition(object, "HeadPodReady", "True") and has_condition(object, "RayClusterProvisioned", "True")
    and not has_condition(object, "RayClusterReplicaFailure", "True")
end

-- Actual and desired worker counts are summed; other fields are taken from the first cluster that has them.
function AggregateStatus(object, items)
  if items == nil then return object end
  if #items == 1 then
    object.status = items[1].status
    return object
  end
  local status = object.status or {}
  object.status = status
  sum_up(status, items, {
    "readyWorkerReplicas", "availableWorkerReplicas", "maxWorkerReplicas", "minWorkerReplicas", "desiredWorkerReplicas",
  })
  local all = statuses(items)
  status.conditions = {}
  local cpu, memory, gpu, tpu = "0", "0", 0, 0
  for _, member in ipairs(all) do
    for _, condition in ipairs(member.conditions or {}) do table.insert(status.conditions, condition) end
    if not empty(member.desiredCPU) then cpu = kube.resourceAdd(cpu, member.desiredCPU) end
    if not empty(member.desiredMemory) then memory = kube.resourceAdd(memory, member.desiredMemory) end
    gpu = gpu + to_number(member.desiredGPU, 0)
    tpu = tpu + to_number(member.desiredTPU, 0)
  end
  status.desiredCPU, status.desiredMemory = cpu, memory
  status.desiredGPU, status.desiredTPU = tostring(gpu), tostring(tpu)
  status.lastUpdateTime = time_of(items, "lastUpdateTime", true)
  for _, field in ipairs({"endpoints", "head", "state"}) do
    status[field] = nil
    for _, member in ipairs(all) do
      if status[field] == nil and member[field] ~= nil then
        status[field] = member[field]
        if field == "state" then status.stateTransitionTimes = member.stateTransitionTimes end
      end
    end
  end
  return object
end
