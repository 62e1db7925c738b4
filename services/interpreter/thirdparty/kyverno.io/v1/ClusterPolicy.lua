function AggregateStatus(object, items)
  if items == nil then return object end
  object.status = {}
  local rules = {validate = 0, generate = 0, mutate = 0, verifyimages = 0}
  for _, member in ipairs(statuses(items)) do
    if member.autogen ~= nil then object.status.autogen = member.autogen end
    if member.ready ~= nil then object.status.ready = member.ready end
    for kind, count in pairs(member.rulecount or {}) do
      if rules[kind] ~= nil then rules[kind] = rules[kind] + count end
    end
  end
  object.status.rulecount = rules
  unite_conditions(object.status, items)
  return object
end

function ReflectStatus(object) return chosen(object, {"autogen", "conditions", "ready", "rulecount"}) end

function InterpretHealth(object)
  if object.status ~= nil and object.status.ready ~= nil then return object.status.ready end
  return has_condition(object, "Ready", "True", "Succeeded")
end
