local roles = {"PS", "Worker", "Chief", "Master", "Evaluator"}

local function specs_of(object) return object.spec and object.spec.tfReplicaSpecs end

function GetComponents(object)
  local names = {}
  for _, role in ipairs(roles) do names[#names + 1] = {role, string.lower(role), 1} end
  return components_of_roles(specs_of(object), names)
end

function InterpretHealth(object)
  if object.status == nil or object.status.conditions == nil then return false end
  return not has_condition(object, "Failed", "True")
end

local function condition(type, reason, message)
  local now = os.date("!%Y-%m-%dT%H:%M:%SZ")
  return {
    type = type, status = "True", lastProbeTime = now, lastTransitionTime = now, reason = reason, message = message,
  }
end

function AggregateStatus(object, items)
  local status = object.status or {}
  object.status = status
  if items == nil then
    status.startTime, status.completionTime, status.replicaStatuses, status.conditions = nil, nil, nil, nil
    return object
  end
  local succeeded, failed = 0, {}
  for _, item in ipairs(items) do
    local ended
    for _, one in ipairs(item.status and item.status.conditions or {}) do
      if (one.type == "Succeeded" or one.type == "Failed") and one.status == "True" then ended = one.type end
    end
    if ended == "Succeeded" then succeeded = succeeded + 1 end
    if ended == "Failed" then failed[#failed + 1] = item.clusterName end
  end
  status.conditions = {}
  if #failed > 0 then
    local message = "TFJob executed failed in member clusters: " .. table.concat(failed, ", ")
    table.insert(status.conditions, condition("Failed", "TFJobFailed", message))
  end
  if succeeded == #items and succeeded > 0 then
    table.insert(status.conditions, condition("Succeeded", "Completed", "TFJob completed successfully"))
    status.completionTime = time_of(items, "completionTime", true)
  end
  status.startTime, status.lastReconcileTime = time_of(items, "startTime", false), time_of(items, "lastReconcileTime", true)
  status.replicaStatuses = sum_roles(items, roles)
  object.status = without_empty(status)
  return object
end

function GetDependencies(object)
  local templates = {}
  for _, role in ipairs(roles) do
    local spec = (specs_of(object) or {})[role]
    if spec ~= nil and spec.template ~= nil then templates[#templates + 1] = spec.template end
  end
  return dependencies_of(templates, object.metadata.namespace)
end
