local counts = {"minAvailable", "pending", "running", "succeeded", "failed", "terminating", "unknown", "retryCount"}

function GetComponents(object)
  local components = {}
  for index, task in ipairs(object.spec and object.spec.tasks or {}) do
    components[index] = {
      name = empty(task.name) and "task-" .. (index - 1) or task.name, replicas = to_number(task.minAvailable, 1),
      replicaRequirements = kube.accuratePodRequirements(task.template),
    }
  end
  return components
end

local healthy = {
  Running = true, Completed = true, Pending = true, Aborting = true, Aborted = true, Restarting = true, Completing = true,
  Terminating = true, Terminated = true,
}

function InterpretHealth(object)
  local state = object.status and object.status.state
  return state ~= nil and healthy[state.phase or ""] == true
end

-- "1h2m3.5s" in seconds.
local function seconds(duration)
  if type(duration) ~= "string" then return tonumber(duration) or 0 end
  local total, unit_in = 0, {h = 3600, m = 60, s = 1}
  for number, unit in string.gmatch(duration, "([%d%.]+)([hms])") do total = total + tonumber(number) * unit_in[unit] end
  return total > 0 and total or tonumber(duration) or 0
end

local broken = {Failed = true, Aborted = true, Aborting = true, Terminated = true, Terminating = true}

local function has_broken(conditions)
  for _, one in ipairs(conditions) do
    if broken[one.status or ""] then return true end
  end
  return false
end

-- The state of a failed cluster takes precedence; else the newest transition of each status.
local function conditions_of(items)
  for _, member in ipairs(statuses(items)) do
    if has_broken(member.conditions or {}) then return member.conditions end
  end
  local at, list = {}, {}
  for _, member in ipairs(statuses(items)) do
    for _, one in ipairs(member.conditions or {}) do
      local known = at[one.status]
      if known == nil or (one.lastTransitionTime or "") > (list[known].lastTransitionTime or "") then
        at[one.status] = known or #list + 1
        list[at[one.status]] = one
      end
    end
  end
  return list
end

function AggregateStatus(object, items)
  if items == nil then return object end
  if #items == 1 then
    object.status = items[1].status
    return object
  end
  local status = {state = {}, taskStatusCount = {}, controlledResources = {}, version = 0, runningDuration = "0s"}
  sum_up(status, items, counts)
  local failed, completed = {}, 0
  for _, item in ipairs(items) do
    local member = item.status or {}
    status.version = math.max(status.version, member.version or 0)
    if seconds(member.runningDuration) > seconds(status.runningDuration) then
      status.runningDuration = member.runningDuration
    end
    for task, count in pairs(member.taskStatusCount or {}) do
      local sums = status.taskStatusCount[task] or {phase = {}}
      status.taskStatusCount[task] = sums
      for phase, number in pairs(count.phase or {}) do sums.phase[phase] = (sums.phase[phase] or 0) + number end
    end
    for key, value in pairs(member.controlledResources or {}) do status.controlledResources[key] = value end
    local phase = member.state and member.state.phase
    if phase == "Completed" then completed = completed + 1 end
    if phase == "Failed" or phase == "Aborted" then failed[#failed + 1] = item.clusterName end
  end
  local now = os.date("!%Y-%m-%dT%H:%M:%SZ")
  if #failed > 0 then
    status.state = {
      phase = "Failed", reason = "VolcanoJobFailed", lastTransitionTime = now,
      message = "Job failed in clusters: " .. table.concat(failed, ","),
    }
  elseif completed == #items and completed > 0 then
    status.state = {
      phase = "Completed", reason = "Completed", lastTransitionTime = now, message = "Job completed successfully",
    }
  end
  status.conditions = conditions_of(items)
  object.status = without_empty(status) or {}
  return object
end

function ReflectStatus(object)
  return chosen(object, joined(counts, {
    "version", "runningDuration", "taskStatusCount", "controlledResources", "state", "conditions",
  }))
end
