-- What the scripts of third-party kinds share. The build puts it in front of each of them.
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

-- Sums over the items; 0 where nobody says anything.
local function sum_up(status, items, fields)
  local all = statuses(items)
  for _, field in ipairs(fields) do
    local total = 0
    for _, member in ipairs(all) do total = total + (member[field] or 0) end
    status[field] = total
  end
end

-- What the last item says that says anything. Else `fallback`; without one, what the status had.
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

-- Conditions alike in type, status and reason become one, whose message names each cluster.
local function unite_conditions(status, items)
  local united = {}
  for _, item in ipairs(items or {}) do
    for _, condition in ipairs(item.status and item.status.conditions or {}) do
      local message = item.clusterName .. "=" .. (condition.message or "")
      local known
      for _, one in ipairs(united) do
        if one.type == condition.type and one.status == condition.status and one.reason == condition.reason then known = one end
      end
      if known then
        known.message = known.message .. ", " .. message
      else
        condition.message = message
        united[#united + 1] = condition
      end
    end
  end
  status.conditions = united
end

-- The template's generation counts as observed once every item has seen it: here exactly, not at least.
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

-- The same, with which generation of the member's object, and of the template, it speaks of.
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

-- Collects what a template refers to, each thing once.
local function references(namespace)
  local list, seen = {}, {}
  local function add(kind, name)
    if empty(name) or seen[kind .. "/" .. name] then return end
    seen[kind .. "/" .. name] = true
    list[#list + 1] = {apiVersion = "v1", kind = kind, namespace = namespace, name = name}
  end
  return list, add
end
