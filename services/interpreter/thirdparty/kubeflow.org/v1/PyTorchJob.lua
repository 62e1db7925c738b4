local function specs_of(object) return object.spec and object.spec.pytorchReplicaSpecs end

function GetComponents(object)
  return components_of_roles(specs_of(object), {{"Master", "master", 1}, {"Worker", "worker", 1}})
end

function InterpretHealth(object)
  if object.status == nil or object.status.conditions == nil then return false end
  return not has_condition(object, "Failed", "True")
end

local function condition(type, status, time, message)
  return {
    type = type, status = status, lastUpdateTime = time, lastTransitionTime = time, reason = "PyTorchJob" .. type,
    message = message,
  }
end

-- kubectl shows the last condition: they stand in the order in which a job goes through them.
function AggregateStatus(object, items)
  local status = object.status or {}
  object.status = status
  if items == nil or #items == 0 then
    status.startTime, status.completionTime, status.replicaStatuses, status.conditions = nil, nil, nil, nil
    return object
  end
  local created, succeeded, failed, running = 0, 0, {}, nil
  for _, item in ipairs(items) do
    if has_condition(item, "Failed", "True") then
      failed[#failed + 1] = item.clusterName
    elseif has_condition(item, "Succeeded", "True") then
      succeeded = succeeded + 1
    end
    if has_condition(item, "Created", "True") then created = created + 1 end
    for _, one in ipairs(item.status and item.status.conditions or {}) do
      if one.type == "Running" then running = one end
    end
  end
  local started, ended = time_of(items, "startTime", false), time_of(items, "completionTime", true)
  local done = succeeded == #items
  local conditions = {}
  if created > 0 then conditions[1] = condition("Created", "True", started, "PyTorchJob is created.") end
  if running ~= nil then
    local over = #failed > 0 or done
    local one = condition("Running", over and "False" or "True", running.lastUpdateTime, "PyTorchJob is running.")
    one.lastTransitionTime = running.lastTransitionTime
    conditions[#conditions + 1] = one
  end
  if #failed > 0 then
    local message = "PyTorchJob executed failed in member clusters: " .. table.concat(failed, ", ")
    conditions[#conditions + 1] = condition("Failed", "True", ended, message)
  elseif done then
    conditions[#conditions + 1] = condition("Succeeded", "True", ended, "PyTorchJob is successfully completed.")
    status.completionTime = ended
  end
  status.startTime, status.lastReconcileTime = started, time_of(items, "lastReconcileTime", true)
  status.replicaStatuses, status.conditions = sum_roles(items, {"Master", "Worker"}), conditions
  object.status = without_empty(status)
  return object
end

function GetDependencies(object)
  local templates = {}
  for _, role in ipairs({"Master", "Worker"}) do
    local spec = (specs_of(object) or {})[role]
    if spec ~= nil and spec.template ~= nil then templates[#templates + 1] = spec.template end
  end
  return dependencies_of(templates, object.metadata.namespace)
end
