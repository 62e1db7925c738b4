local scale = {b = 1, k = 1024, m = 1024 ^ 2, g = 1024 ^ 3, t = 1024 ^ 4, p = 1024 ^ 5}

-- "512m", "1g", "1gb" as the JVM writes memory: in bytes.
local function bytes(text)
  local number, unit = string.match(string.lower(tostring(text)), "^(%d+%.?%d*)([a-z]*)$")
  local factor = unit and scale[string.sub(unit, 1, 1)]
  if factor == nil then error("the memory " .. tostring(text) .. " has no unit that is known") end
  return tonumber(number) * factor
end

-- What a pod takes besides the heap: as said, or a share of it that is not below 384 MiB.
local function memory_of(part, share)
  local heap = bytes(part.memory or "1g")
  local overhead = part.memoryOverhead and bytes(part.memoryOverhead) or math.max(heap * share, bytes("384m"))
  return string.format("%.3f", heap + overhead)
end

local function component(name, replicas, part, share)
  local request = {cpu = part.cores or 1, memory = memory_of(part, share)}
  local gpu = part.gpu
  if gpu ~= nil and not empty(gpu.name) and to_number(gpu.quantity, 0) > 0 then request[gpu.name] = to_number(gpu.quantity, 0) end
  local requirements = {resourceRequest = request}
  local node = part.affinity and part.affinity.nodeAffinity
  local required = node and node.requiredDuringSchedulingIgnoredDuringExecution
  if part.nodeSelector ~= nil or part.tolerations ~= nil or required ~= nil then
    requirements.nodeClaim = {nodeSelector = part.nodeSelector, tolerations = part.tolerations, hardNodeAffinity = required}
  end
  if not empty(part.priorityClassName) then requirements.priorityClassName = part.priorityClassName end
  return {name = name, replicas = replicas, replicaRequirements = requirements}
end

function GetComponents(object)
  local spec = object.spec
  local language = string.lower(spec.type or "")
  local jvm = language == "java" or language == "scala"
  local share = to_number(spec.memoryOverheadFactor, jvm and 0.1 or 0.4)
  local executor = spec.executor or {}
  local executors = to_number(executor.instances, 1)
  local dynamic = spec.dynamicAllocation or {}
  if dynamic.enabled then
    executors = math.max(executors, to_number(dynamic.initialExecutors, 1), to_number(dynamic.minExecutors, 1))
  end
  return {component("driver", 1, spec.driver or {}, share), component("executor", executors, executor, share)}
end

function InterpretHealth(object)
  local state = object.status and object.status.applicationState and object.status.applicationState.state
  return state ~= nil and state ~= "FAILED"
end

-- In order of increasing severity.
local rank = {
  UNKNOWN = 0, SUBMITTED = 1, PENDING_RERUN = 1, COMPLETED = 2, SUSPENDING = 3, SUSPENDED = 3, RUNNING = 4, RESUMING = 4,
  SUCCEEDING = 4, INVALIDATING = 5, FAILING = 6, FAILED = 6, SUBMISSION_FAILED = 6,
}

function AggregateStatus(object, items)
  if items == nil then return object end
  if #items == 1 then
    object.status = items[1].status
    return object
  end
  local status = object.status or {}
  object.status = status
  sum_up(status, items, {"executionAttempts", "submissionAttempts"})
  status.lastSubmissionAttemptTime = time_of(items, "lastSubmissionAttemptTime", true) or ""
  status.terminationTime = time_of(items, "terminationTime", true) or ""
  status.applicationState, status.executorState = {}, {}
  local worst = -1
  for _, member in ipairs(statuses(items)) do
    local state = member.applicationState
    if state ~= nil and (rank[state.state or ""] or 0) > worst then
      worst = rank[state.state or ""] or 0
      status.applicationState = state
    end
    for executor, one in pairs(member.executorState or {}) do status.executorState[executor] = one end
  end
  return object
end

function ReflectStatus(object)
  return chosen(object, {
    "applicationState", "driverInfo", "executorState", "sparkApplicationId", "lastSubmissionAttemptTime",
    "submissionAttempts", "executionAttempts", "submissionID", "terminationTime",
  })
end
