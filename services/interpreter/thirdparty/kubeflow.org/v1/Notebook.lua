function GetReplicas(object) return 1, kube.accuratePodRequirements(object.spec.template) end

function InterpretHealth(object)
  local state = object.status and object.status.containerState
  if state == nil then return false end
  if state.running ~= nil then return true end
  if state.waiting ~= nil then return state.waiting.reason == "ContainerCreating" end
  if state.terminated == nil then return false end
  local bad = {Error = true, OOMKilled = true, ContainerCannotRun = true}
  return not bad[state.terminated.reason or ""] and (state.terminated.exitCode or 0) == 0
end

local function condition(type, reason, message)
  local now = os.date("!%Y-%m-%dT%H:%M:%SZ")
  return {
    type = type, status = "True", lastProbeTime = now, lastTransitionTime = now, reason = reason, message = message,
  }
end

-- What does not run anywhere decides the state; else the latest start.
function AggregateStatus(object, items)
  if items == nil then return object end
  if #items == 1 then
    object.status = items[1].status
    return object
  end
  local status = {conditions = {}}
  sum_up(status, items, {"readyReplicas"})
  local failed, running, started = {}, 0, nil
  for _, item in ipairs(items) do
    if item.status ~= nil then
      local state = item.status.containerState
      if state == nil or next(state) == nil then state = {waiting = {reason = "Unschedulable"}} end
      if state.terminated ~= nil or state.waiting ~= nil then
        failed[#failed + 1] = item.clusterName
        status.containerState = state
      elseif state.running ~= nil and #failed == 0 then
        running = running + 1
        local at = state.running.startedAt
        if started == nil or (at ~= nil and at > started) then
          started = at
          status.containerState = {running = {startedAt = at}}
        end
      end
    end
  end
  if #failed > 0 then
    local message = "Notebook executed failed in member clusters: " .. table.concat(failed, ", ")
    table.insert(status.conditions, condition("Failed", "NotebookFailed", message))
  end
  if running == #items and running > 0 then
    table.insert(status.conditions, condition("Ready", "Ready", "All notebooks are ready"))
  end
  object.status = status
  return object
end

function ReflectStatus(object)
  if object.status == nil then return {} end
  local status = chosen(object, {"containerState", "conditions"})
  status.readyReplicas = object.status.readyReplicas or 0
  return status
end
