function GetReplicas(object)
  local spec = object.spec
  local pod = {affinity = spec.affinity, nodeSelector = spec.nodeSelector, tolerations = spec.tolerations}
  return spec.parallelism or 1, kube.accuratePodRequirements({spec = pod})
end

function ReviseReplica(object, count)
  object.spec.parallelism = count
  return object
end

-- Its controller keeps what has been run in the status, which is no subresource.
function Retain(desired, observed)
  if observed.status ~= nil then desired.status = observed.status end
  return retain_suspend(desired, observed)
end

function InterpretHealth(object)
  local phase = object.status and object.status.phase
  return not (empty(phase) or phase == "Error" or phase == "Failed")
end

function GetDependencies(object)
  local spec = object.spec
  local namespace = object.metadata.namespace
  local list, add = references(namespace)
  for _, one in ipairs(kube.getPodDependencies({spec = {
    volumes = spec.volumes, imagePullSecrets = spec.imagePullSecrets, serviceAccountName = spec.serviceAccountName,
  }}, namespace)) do
    add(one.kind, one.name)
  end
  add("ServiceAccount", spec.executor and spec.executor.serviceAccountName)
  for _, claim in ipairs(spec.volumeClaimTemplates or {}) do add("PersistentVolumeClaim", claim.metadata.name) end
  return list
end
