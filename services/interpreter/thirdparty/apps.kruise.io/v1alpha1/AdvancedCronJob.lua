function AggregateStatus(object, items)
  if items == nil then return object end
  local status = object.status or {}
  object.status = status
  status.active, status.type, status.lastScheduleTime = {}, "", nil
  for _, member in ipairs(statuses(items)) do
    for _, one in ipairs(member.active or {}) do table.insert(status.active, one) end
  end
  take_last(status, items, {"type"}, "")
  take_last(status, items, {"lastScheduleTime"})
  return object
end

function GetDependencies(object)
  local template = object.spec.template
  local job = template.broadcastJobTemplate or template.jobTemplate
  return kube.getPodDependencies(job and job.spec.template or {}, object.metadata.namespace)
end
