local counts = {"matchedPods", "updatedPods", "readyPods"}

function GetReplicas() return 0 end

function Retain(desired) return desired end

function AggregateStatus(object, items)
  object.status = {}
  sum_up(object.status, items, counts)
  return object
end

function ReflectStatus(object)
  if object.status == nil then return {} end
  local status = {}
  for _, field in ipairs(counts) do status[field] = object.status[field] or 0 end
  return status
end

function InterpretHealth(object)
  if object.status == nil then return false end
  local matched = object.status.matchedPods or 0
  return matched == 0 or (object.status.updatedPods or 0) == matched
end

-- Its sidecars are containers like others, in no template.
function GetDependencies(object)
  if object.spec == nil then return {} end
  local pod = {spec = {containers = object.spec.containers, volumes = object.spec.volumes}}
  return kube.getPodDependencies(pod, object.metadata.namespace or "")
end
