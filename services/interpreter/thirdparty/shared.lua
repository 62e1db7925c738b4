-- Functions shared by the scripts of third-party kinds. The build prepends this file to each of them.
local kube = require("kube")

local function empty(value) return value == nil or value == "" end

-- The statuses of the items that have one.
local function statuses(items)
  local found = {}
  for _, item in ipairs(items or {}) do
    if item.status ~= nil then found[#found + 1] = item.status end
  end
  return found
end

-- Sums over the items; 0 if no item has the field.
local function sum_up(status, items, fields)
  local all = statuses(items)
  for _, field in ipairs(fields) do
    local total = 0
    for _, member in ipairs(all) do total = total + (member[field] or 0) end
    status[field] = total
  end
end

-- The value of the last item that has one. Else `fallback`; without a fallback, the value of the status.
local function take_last(status, items, fields, fallback)
  local all = statuses(items)
  for _, field in ipairs(fields) do
    local chosen = fallback
    if chosen == nil then chosen = status[field] end
    for _, member in ipairs(all) do
      if not empty(member[field]) then chosen = member[field] end
    end
    status[field] = chosen
  end
end

-- Conditions with equal type, status and reason are merged; the message names each cluster. Messages are joined at the
-- end: appended one by one they would cost more with each of a fleet's clusters. While there are texts as long as the
-- result every instruction costs more, so this is to come last.
local function unite_conditions(status, items)
  local united, messages = {}, {}
  for _, item in ipairs(items or {}) do
    for _, condition in ipairs(item.status and item.status.conditions or {}) do
      local place = #united + 1
      for index, one in ipairs(united) do
        if one.type == condition.type and one.status == condition.status and one.reason == condition.reason then place = index end
      end
      united[place] = united[place] or condition
      messages[place] = messages[place] or {}
      table.insert(messages[place], item.clusterName .. "=" .. (condition.message or ""))
    end
  end
  for index, condition in ipairs(united) do condition.message = table.concat(messages[index], ", ") end
  status.conditions = united
end

-- The template's generation counts as observed once every item has observed it: here exactly, not at least.
local function observe(object, items)
  local generation = object.metadata.generation or 0
  local status = object.status
  local seen = 0
  for _, member in ipairs(statuses(items)) do
    if (member.resourceTemplateGeneration or 0) == generation
      and (member.generation or 0) == (member.observedGeneration or 0) then
      seen = seen + 1
    end
  end
  status.observedGeneration = status.observedGeneration or 0
  if seen == #(items or {}) then status.observedGeneration = generation end
end

-- The named fields of a member's status.
local function chosen(object, fields)
  local status = {}
  if object == nil or object.status == nil then return status end
  for _, field in ipairs(fields) do status[field] = object.status[field] end
  return status
end

-- The same, with the generation of the member's object and of the template to which it refers.
local function chosen_with_generations(object, fields)
  local status = chosen(object, fields)
  if object == nil or object.status == nil or object.metadata == nil then return status end
  status.generation = object.metadata.generation
  local annotations = object.metadata.annotations or {}
  status.resourceTemplateGeneration = tonumber(annotations["resourcetemplate.karmada.io/generation"])
  return status
end

local function has_condition(object, type, status, reason)
  for _, condition in ipairs(object.status and object.status.conditions or {}) do
    if condition.type == type and condition.status == status and (reason == nil or condition.reason == reason) then
      return true
    end
  end
  return false
end

-- Collects the objects that a template refers to, each once.
local function references(namespace)
  local list, seen = {}, {}
  local function add(kind, name)
    if empty(name) or seen[kind .. "/" .. name] then return end
    seen[kind .. "/" .. name] = true
    list[#list + 1] = {apiVersion = "v1", kind = kind, namespace = namespace, name = name}
  end
  return list, add
end

-- A Flux object: all conditions; each text from the last cluster that has it. `keep`: kept if no cluster has it.
local function aggregate_flux(object, items, texts, keep)
  object.status = object.status or {}
  observe(object, items)
  local fallback = ""
  if keep and items ~= nil then fallback = nil end
  take_last(object.status, items, texts, fallback)
  unite_conditions(object.status, items)
  return object
end

-- The same for sources, which also have an artifact.
local function aggregate_source(object, items, texts)
  object.status = object.status or {}
  object.status.artifact = nil
  take_last(object.status, items, {"artifact"})
  return aggregate_flux(object, items, texts, false)
end

-- L-10: a suspension that a user has set on a member is kept.
local function retain_suspend(desired, observed)
  if observed.spec.suspend ~= nil then desired.spec.suspend = observed.spec.suspend end
  return desired
end

local function named(reference) return reference and reference.name end

local function joined(first, second)
  local all = {}
  for _, list in ipairs({first, second}) do
    for _, value in ipairs(list) do all[#all + 1] = value end
  end
  return all
end

-- The native health rule of workloads: all replicas of the present generation, updated and available.
local function all_updated(object)
  local status = object.status or {}
  local updated = status.updatedReplicas or 0
  return status.observedGeneration == object.metadata.generation
    and (object.spec.replicas == nil or updated >= object.spec.replicas)
    and (status.availableReplicas or 0) >= updated
end

local function to_number(value, default) return tonumber(value) or default end

-- The objects that several pod templates refer to, each once.
local function dependencies_of(templates, namespace)
  local list, add = references(namespace)
  for _, template in ipairs(templates) do
    for _, one in ipairs(kube.getPodDependencies(template, namespace)) do add(one.kind, one.name) end
  end
  return list
end

-- Without empty values: 0, "", "0s" and tables that contain only such values.
local function without_empty(value)
  if type(value) ~= "table" then
    if value == 0 or value == "" or value == "0s" then return nil end
    return value
  end
  local kept = {}
  if #value > 0 then
    for _, one in ipairs(value) do kept[#kept + 1] = without_empty(one) end
  else
    for key, one in pairs(value) do kept[key] = without_empty(one) end
  end
  if next(kept) == nil then return nil end
  return kept
end

-- The earliest (or latest) of the items' times; RFC 3339 in UTC sorts as text.
local function time_of(items, field, latest)
  local found
  for _, member in ipairs(statuses(items)) do
    local time = member[field]
    if not empty(time) and (found == nil or (latest and time > found) or (not latest and time < found)) then found = time end
  end
  return found
end

-- Adds up {role = {active, failed, succeeded}} of all items, for the given roles or for any.
local function sum_roles(items, roles)
  local sums = {}
  for _, role in ipairs(roles or {}) do sums[role] = {active = 0, failed = 0, succeeded = 0} end
  for _, member in ipairs(statuses(items)) do
    for role, counts in pairs(member.replicaStatuses or {}) do
      if roles == nil then sums[role] = sums[role] or {active = 0, failed = 0, succeeded = 0} end
      for field in pairs(sums[role] or {}) do sums[role][field] = sums[role][field] + (counts[field] or 0) end
    end
  end
  return sums
end

-- One component for each role that the job has: `names` is {{role, component's name, default replicas}, ...}.
local function components_of_roles(specs, names)
  local components = {}
  for _, entry in ipairs(names) do
    local role = specs and specs[entry[1]]
    if role ~= nil then
      components[#components + 1] = {
        name = entry[2], replicas = to_number(role.replicas, entry[3]),
        replicaRequirements = role.template and kube.accuratePodRequirements(role.template) or nil,
      }
    end
  end
  return components
end

-- Pod templates of a Ray cluster: the head's, then each worker group's.
local function ray_templates(cluster)
  local templates = {}
  if cluster == nil then return templates end
  if cluster.headGroupSpec ~= nil then templates[1] = cluster.headGroupSpec.template end
  for _, group in ipairs(cluster.workerGroupSpecs or {}) do templates[#templates + 1] = group.template end
  return templates
end

local function ray_components(cluster)
  local components = {}
  if cluster == nil then return components end
  local head = cluster.headGroupSpec and cluster.headGroupSpec.template
  if head ~= nil then
    components[1] = {name = "ray-head", replicas = 1, replicaRequirements = kube.accuratePodRequirements(head)}
  end
  for index, group in ipairs(cluster.workerGroupSpecs or {}) do
    components[#components + 1] = {
      name = empty(group.groupName) and "worker-" .. index or group.groupName, replicas = group.replicas or 0,
      replicaRequirements = group.template and kube.accuratePodRequirements(group.template) or nil,
    }
  end
  return components
end
