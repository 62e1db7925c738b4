local counts = {"active", "succeeded", "failed", "desired"}

function GetReplicas(object) return object.spec.parallelism or 1, kube.accuratePodRequirements(object.spec.template) end

function ReviseReplica(object, count)
  object.spec.parallelism = count
  return object
end

-- The pod template's labels are the member's controller's.
function Retain(desired, observed)
  local metadata = observed.spec.template.metadata
  if metadata ~= nil and metadata.labels ~= nil then
    desired.spec.template.metadata = desired.spec.template.metadata or {}
    desired.spec.template.metadata.labels = metadata.labels
  end
  return desired
end

function AggregateStatus(object, items)
  if items == nil then return object end
  local status = object.status or {}
  object.status = status
  sum_up(status, items, counts)
  take_last(status, items, {"phase"}, "")
  local failed, complete = {}, 0
  for _, item in ipairs(items) do
    if has_condition(item, "Failed", "True") then
      failed[#failed + 1] = item.clusterName
    elseif has_condition(item, "Complete", "True") then
      complete = complete + 1
    end
  end
  status.conditions = {}
  if #failed > 0 then
    table.insert(status.conditions, {
      type = "Failed", status = "True", reason = "JobFailed",
      message = "Job executed failed in member clusters: " .. table.concat(failed, ", "),
    })
  end
  if complete == #items and complete > 0 then
    table.insert(status.conditions, {type = "Completed", status = "True", reason = "Completed", message = "Job completed"})
  end
  return object
end

function ReflectStatus(object)
  return chosen(object, joined(counts, {"conditions", "startTime", "completionTime", "phase"}))
end

function InterpretHealth(object)
  local status = object.status or {}
  if status.desired == 0 or status.failed ~= 0 then return false end
  return not (status.succeeded == 0 and status.active == 0)
end

function GetDependencies(object) return kube.getPodDependencies(object.spec.template, object.metadata.namespace) end
