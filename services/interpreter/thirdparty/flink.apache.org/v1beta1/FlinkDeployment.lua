local fields = {
  "clusterInfo", "error", "jobManagerDeploymentStatus", "jobStatus", "observedGeneration", "lifecycleState",
  "reconciliationStatus", "taskManager",
}

local function part(object, name) return object.spec and object.spec[name] or {} end

local function job_managers(object) return to_number(part(object, "jobManager").replicas, 1) end

-- The number is given, or follows from the slots that the job needs.
local function task_managers(object)
  local said = tonumber(part(object, "taskManager").replicas)
  if said ~= nil then return said end
  local parallelism = tonumber(part(object, "job").parallelism)
  local slots = tonumber(part(object, "flinkConfiguration")["taskmanager.numberOfTaskSlots"])
  if parallelism == nil or slots == nil or slots == 0 then return 1 end
  return math.ceil(parallelism / slots)
end

local function pod_of(object) return part(object, "podTemplate").spec end

local function component(object, name, replicas)
  local resource = part(object, name == "jobmanager" and "jobManager" or "taskManager").resource or {}
  local requirements = {resourceRequest = {cpu = resource.cpu}}
  if resource.memory ~= nil then requirements.resourceRequest.memory = kube.getResourceQuantity(resource.memory) end
  local pod = pod_of(object)
  if pod ~= nil then
    if pod.nodeSelector ~= nil or pod.tolerations ~= nil then
      requirements.nodeClaim = {nodeSelector = pod.nodeSelector, tolerations = pod.tolerations}
    end
    if not empty(pod.priorityClassName) then requirements.priorityClassName = pod.priorityClassName end
  end
  return {name = name, replicas = replicas, replicaRequirements = requirements}
end

function GetComponents(object)
  return {
    component(object, "jobmanager", job_managers(object)), component(object, "taskmanager", task_managers(object)),
  }
end

-- L-9: both kinds of pods count, and each is taken for as large as the larger.
function GetReplicas(object)
  local job, task = part(object, "jobManager").resource or {}, part(object, "taskManager").resource or {}
  local request = {cpu = job.cpu or task.cpu, memory = job.memory or task.memory}
  if job.cpu ~= nil and task.cpu ~= nil then request.cpu = math.max(job.cpu, task.cpu) end
  if job.memory ~= nil and task.memory ~= nil
    and kube.getResourceQuantity(task.memory) >= kube.getResourceQuantity(job.memory) then
    request.memory = task.memory
  end
  local requirements = {resourceRequest = request, nodeClaim = {}}
  local pod = pod_of(object)
  if pod ~= nil then
    requirements.nodeClaim = {nodeSelector = pod.nodeSelector, tolerations = pod.tolerations}
    if not empty(pod.priorityClassName) then requirements.priorityClassName = pod.priorityClassName end
  end
  if not empty(object.metadata.namespace) then requirements.namespace = object.metadata.namespace end
  return job_managers(object) + task_managers(object), requirements
end

-- All values are taken from the last cluster that has any.
function AggregateStatus(object, items)
  if items == nil then return object end
  object.status = object.status or {}
  local all = statuses(items)
  local last = all[#all] or {error = "", jobManagerDeploymentStatus = "", lifecycleState = "", observedGeneration = 0}
  for _, field in ipairs(fields) do object.status[field] = last[field] end
  return object
end

function ReflectStatus(object) return chosen(object, fields) end

local settled = {
  RUNNING = true, FINISHED = true, FAILED = true, CANCELED = true, SUSPENDED = true, CANCELLING = true, FAILING = true,
  RESTARTING = true,
}
local starting = {CREATED = true, INITIALIZING = true, RECONCILING = true}

-- A job that only begins is healthy when what holds it up is the user's to mend: moving it would not help.
function InterpretHealth(object)
  local status = object.status or {}
  local state = status.jobStatus and status.jobStatus.state
  if state == nil then return status.jobManagerDeploymentStatus == "READY" and status.lifecycleState == "STABLE" end
  if settled[state] then return true end
  if not starting[state] then return false end
  for _, known in ipairs({"ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff"}) do
    if string.find(status.error or "", known, 1, true) then return true end
  end
  return false
end
