function GetComponents(object)
  local specs = {}
  for role, spec in pairs(object.spec and object.spec.mpiReplicaSpecs or {}) do
    if spec.template ~= nil then specs[role] = spec end
  end
  return components_of_roles(specs, {{"Launcher", "Launcher", 1}, {"Worker", "Worker", 0}})
end

function InterpretHealth(object)
  if object.status == nil or #(object.status.conditions or {}) == 0 then return false end
  return not has_condition(object, "Failed", "True")
end

-- Of each type of condition the newest, in the order in which the types were first seen.
function AggregateStatus(object, items)
  if items == nil or #items == 0 then return object end
  if #items == 1 then
    object.status = items[1].status
    return object
  end
  local at, conditions = {}, {}
  local function time(one) return one.lastUpdateTime or one.lastTransitionTime end
  for _, member in ipairs(statuses(items)) do
    for _, one in ipairs(member.conditions or {}) do
      local known = at[one.type]
      if not empty(time(one)) and (known == nil or time(one) > time(conditions[known])) then
        at[one.type] = known or #conditions + 1
        conditions[at[one.type]] = one
      end
    end
  end
  object.status = {
    replicaStatuses = sum_roles(items), conditions = conditions, startTime = time_of(items, "startTime", false),
    completionTime = time_of(items, "completionTime", true), lastReconcileTime = time_of(items, "lastReconcileTime", true),
  }
  return object
end

function ReflectStatus(object)
  local status = chosen(object, {"conditions", "startTime", "completionTime", "lastReconcileTime"})
  if object.status == nil or object.status.replicaStatuses == nil then return status end
  status.replicaStatuses = {}
  for role, counts in pairs(object.status.replicaStatuses) do
    status.replicaStatuses[role] = {
      active = counts.active, succeeded = counts.succeeded, failed = counts.failed, selector = counts.selector,
    }
  end
  return status
end
