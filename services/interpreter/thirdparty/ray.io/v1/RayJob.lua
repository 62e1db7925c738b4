function GetComponents(object) return ray_components(object.spec and object.spec.rayClusterSpec) end

function InterpretHealth(object)
  local status = object.status or {}
  return status.jobDeploymentStatus == "Running"
    or (status.jobDeploymentStatus == "Complete" and status.jobStatus == "SUCCEEDED")
end

-- In order of increasing precedence.
local deployment = {
  [""] = 0, Initializing = 1, Waiting = 2, Suspending = 3, Suspended = 3, Retrying = 4, Running = 5, Complete = 6,
  ValidationFailed = 7, Failed = 8,
}
local job = {PENDING = 1, RUNNING = 2, SUCCEEDED = 3, STOPPED = 4, FAILED = 5}

function AggregateStatus(object, items)
  if items == nil then return object end
  if #items == 1 then
    object.status = items[1].status
    return object
  end
  local status = object.status or {}
  object.status = status
  status.jobStatus, status.jobDeploymentStatus, status.reason, status.message = nil, nil, nil, nil
  local worst, worst_job = -1, -1
  for _, member in ipairs(statuses(items)) do
    local rank = member.jobDeploymentStatus and (deployment[member.jobDeploymentStatus] or 0)
    if rank ~= nil and rank > worst then
      worst = rank
      status.jobDeploymentStatus, status.reason, status.message = member.jobDeploymentStatus, member.reason, member.message
    end
    if not empty(member.jobStatus) and (job[member.jobStatus] or 0) > worst_job then
      worst_job = job[member.jobStatus] or 0
      status.jobStatus = member.jobStatus
    end
  end
  return object
end

function GetDependencies(object)
  local spec = object.spec or {}
  local templates = ray_templates(spec.rayClusterSpec)
  if spec.submitterPodTemplate ~= nil then templates[#templates + 1] = spec.submitterPodTemplate end
  return dependencies_of(templates, object.metadata.namespace)
end
