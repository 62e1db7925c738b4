local function cluster_of(object) return object.spec and object.spec.rayClusterConfig end

-- L-9: the head and all workers; each is taken for as large as the largest.
function GetReplicas(object)
  local cluster = cluster_of(object)
  local head = cluster and cluster.headGroupSpec and cluster.headGroupSpec.template
  if head == nil then return 0, nil end
  local replicas = 1
  local requirements = kube.accuratePodRequirements(head)
  for _, group in ipairs(cluster.workerGroupSpecs or {}) do
    replicas = replicas + (group.replicas or 0)
    local wanted = group.template and kube.accuratePodRequirements(group.template)
    if requirements ~= nil and wanted ~= nil and wanted.resourceRequest ~= nil then
      requirements.resourceRequest = requirements.resourceRequest or {}
      local request = requirements.resourceRequest
      for _, name in ipairs({"cpu", "memory"}) do
        local amount = wanted.resourceRequest[name]
        if kube.getResourceQuantity(amount) > kube.getResourceQuantity(request[name]) then request[name] = amount end
      end
    end
  end
  return replicas, requirements
end

-- What remains after the head goes to the worker groups, in proportion to what they have; the last takes the rest.
function ReviseReplica(object, count)
  local cluster = cluster_of(object)
  local groups = cluster and cluster.workerGroupSpecs or {}
  local workers, before, given = math.max(0, count - 1), 0, 0
  for _, group in ipairs(groups) do before = before + (group.replicas or 0) end
  for index, group in ipairs(groups) do
    if index == #groups then
      group.replicas = workers - given
    elseif before == 0 then
      group.replicas = math.floor(workers / #groups)
      if index <= workers % #groups then group.replicas = group.replicas + 1 end
    else
      group.replicas = math.floor(workers * ((group.replicas or 0) / before) + 0.5)
    end
    given = given + group.replicas
  end
  return object
end

function InterpretHealth(object) return has_condition(object, "Ready", "True") end

local application = {
  RUNNING = 0, NOT_STARTED = 1, DEPLOYING = 2, DELETING = 3, UNHEALTHY = 4, DEPLOY_FAILED = 5,
}

local function worse(one, other)
  return other == nil or (application[one.status] or 0) > (application[other.status] or 0)
end

function AggregateStatus(object, items)
  if items == nil then return object end
  if #items == 1 then
    object.status = items[1].status
    return object
  end
  local status = object.status or {}
  object.status = status
  sum_up(status, items, {"numServeEndpoints"})
  status.conditions, status.observedGeneration, status.serviceStatus = {}, 0, "Running"
  status.lastUpdateTime = time_of(items, "lastUpdateTime", true)
  local active, pending, applications = nil, nil, {}
  for _, member in ipairs(statuses(items)) do
    for _, condition in ipairs(member.conditions or {}) do table.insert(status.conditions, condition) end
    status.observedGeneration = math.max(status.observedGeneration, member.observedGeneration or 0)
    if member.serviceStatus == "" then status.serviceStatus = "" end
    active = active or member.activeServiceStatus
    pending = pending or member.pendingServiceStatus
    local here = member.activeServiceStatus and member.activeServiceStatus.applicationStatuses
    for name, one in pairs(here or {}) do
      if worse(one, applications[name]) then applications[name] = one end
    end
  end
  if active ~= nil then
    active.applicationStatuses = applications
    status.activeServiceStatus = active
  end
  if pending ~= nil then status.pendingServiceStatus = pending end
  return object
end

function GetDependencies(object) return dependencies_of(ray_templates(cluster_of(object)), object.metadata.namespace) end
