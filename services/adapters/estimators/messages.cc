#include "services/adapters/estimators/messages.h"

#include <algorithm>

namespace shiplog::estimators {
namespace {

void put_texts(const Value& list, google::protobuf::RepeatedPtrField<std::string>* into) {
  for (const Value& item : list.items()) *into->Add() = item.str();
}

void put_expressions(const Value& list, google::protobuf::RepeatedPtrField<pb::NodeSelectorRequirement>* into) {
  for (const Value& expression : list.items()) {
    pb::NodeSelectorRequirement* added = into->Add();
    added->set_key(expression["key"].str());
    added->set_operator_(expression["operator"].str());
    put_texts(expression["values"], added->mutable_values());
  }
}

Value expressions_from(const google::protobuf::RepeatedPtrField<pb::NodeSelectorRequirement>& list) {
  Value expressions = Value::array();
  for (const pb::NodeSelectorRequirement& expression : list) {
    Value values = Value::array();
    for (const std::string& value : expression.values()) values.push_back(value);
    expressions.push_back(Value::object(
        {{"key", expression.key()}, {"operator", expression.operator_()}, {"values", std::move(values)}}));
  }
  return expressions;
}

template <class Amounts>
void put_amounts(const Value& request, Amounts* into) {
  for (const auto& amount : request.members()) {
    pb::Quantity quantity;
    quantity.set_string(amount.value.is_string() ? amount.value.str() : std::to_string(amount.value.as_int()));
    (*into)[std::string{amount.key()}] = quantity.SerializeAsString();
  }
}

/// Maps of Protobuf are unordered; those of Values are ordered.
template <class Amounts>
Result<Value> amounts_from(const Amounts& amounts) {
  Value request = Value::object();
  for (const auto& [name, bytes] : amounts) {
    pb::Quantity quantity;
    if (!quantity.ParseFromString(bytes)) {
      return Error{ErrorCode::kBadRequest, "resourceRequestBytes of " + name + " are not a Quantity"};
    }
    request.set(name, quantity.string());
  }
  return request;
}

template <class Message>
void put_common(const Value& requirements, Message& into) {
  if (requirements["nodeClaim"].is_object()) put_claim(requirements["nodeClaim"], *into.mutable_nodeclaim());
  into.set_priorityclassname(requirements["priorityClassName"].str());
  put_amounts(requirements["resourceRequest"], into.mutable_resourcerequestbytes());
}

template <class Message>
Result<Value> common_from(const Message& message) {
  Value requirements = Value::object();
  SHIPLOG_TRY(Value request, amounts_from(message.resourcerequestbytes()));
  requirements.set("resourceRequest", std::move(request));
  if (!message.priorityclassname().empty()) requirements.set("priorityClassName", message.priorityclassname());
  if (message.has_nodeclaim()) {
    SHIPLOG_TRY(Value claim, claim_from(message.nodeclaim()));
    requirements.set("nodeClaim", std::move(claim));
  }
  return requirements;
}

}  // namespace

void put_claim(const Value& claim, pb::NodeClaim& into) {
  for (const auto& label : claim["nodeSelector"].members()) {
    (*into.mutable_nodeselector())[std::string{label.key()}] = label.value.str();
  }
  if (claim["hardNodeAffinity"].is_object()) {
    pb::NodeSelector selector;
    for (const Value& term : claim["hardNodeAffinity"]["nodeSelectorTerms"].items()) {
      pb::NodeSelectorTerm* added = selector.add_nodeselectorterms();
      put_expressions(term["matchExpressions"], added->mutable_matchexpressions());
      put_expressions(term["matchFields"], added->mutable_matchfields());
    }
    into.set_nodeaffinitybytes(selector.SerializeAsString());
  }
  for (const Value& item : claim["tolerations"].items()) {
    pb::Toleration toleration;
    toleration.set_key(item["key"].str());
    toleration.set_operator_(item["operator"].str());
    toleration.set_value(item["value"].str());
    toleration.set_effect(item["effect"].str());
    if (item["tolerationSeconds"].is_int()) toleration.set_tolerationseconds(item["tolerationSeconds"].as_int());
    into.add_tolerationsbytes(toleration.SerializeAsString());
  }
}

Result<Value> claim_from(const pb::NodeClaim& claim) {
  Value value = Value::object();
  if (claim.nodeselector_size() > 0) {
    Value labels = Value::object();
    for (const auto& [key, wanted] : claim.nodeselector()) labels.set(key, wanted);
    value.set("nodeSelector", std::move(labels));
  }
  if (!claim.nodeaffinitybytes().empty()) {
    pb::NodeSelector selector;
    if (!selector.ParseFromString(claim.nodeaffinitybytes())) {
      return Error{ErrorCode::kBadRequest, "nodeAffinityBytes are not a NodeSelector"};
    }
    Value terms = Value::array();
    for (const pb::NodeSelectorTerm& term : selector.nodeselectorterms()) {
      terms.push_back(Value::object({{"matchExpressions", expressions_from(term.matchexpressions())},
                                     {"matchFields", expressions_from(term.matchfields())}}));
    }
    value.set("hardNodeAffinity", Value::object({{"nodeSelectorTerms", std::move(terms)}}));
  }
  if (claim.tolerationsbytes_size() > 0) {
    Value tolerations = Value::array();
    for (const std::string& bytes : claim.tolerationsbytes()) {
      pb::Toleration toleration;
      if (!toleration.ParseFromString(bytes)) {
        return Error{ErrorCode::kBadRequest, "tolerationsBytes are not a Toleration"};
      }
      tolerations.push_back(Value::object({{"key", toleration.key()},
                                           {"operator", toleration.operator_()},
                                           {"value", toleration.value()},
                                           {"effect", toleration.effect()}}));
    }
    value.set("tolerations", std::move(tolerations));
  }
  return value;
}

void put(const Value& requirements, pb::ReplicaRequirements& into) {
  put_common(requirements, into);
  into.set_namespace_(requirements["namespace"].str());
}

void put(const Value& requirements, pb::ComponentReplicaRequirements& into) { put_common(requirements, into); }

void put(const Value& component, pb::Component& into) {
  into.set_name(component["name"].str());
  into.set_replicas(static_cast<int32_t>(component["replicas"].as_int()));
  put(component["replicaRequirements"], *into.mutable_replicarequirements());
}

void put_assumed(const Value& workloads, google::protobuf::RepeatedPtrField<pb::AssumedWorkload>& into) {
  for (const Value& workload : workloads.items()) {
    pb::AssumedWorkload* added = into.Add();
    added->set_namespace_(workload["namespace"].str());
    for (const Value& component : workload["components"].items()) put(component, *added->add_components());
  }
}

Result<Value> components_from(const google::protobuf::RepeatedPtrField<pb::Component>& components) {
  Value list = Value::array();
  for (const pb::Component& component : components) {
    SHIPLOG_TRY(Value requirements, requirements_from(component.replicarequirements()));
    list.push_back(Value::object({{"name", component.name()},
                                  {"replicas", static_cast<int64_t>(component.replicas())},
                                  {"replicaRequirements", std::move(requirements)}}));
  }
  return list;
}

Result<Value> assumed_from(const google::protobuf::RepeatedPtrField<pb::AssumedWorkload>& workloads) {
  Value list = Value::array();
  for (const pb::AssumedWorkload& workload : workloads) {
    SHIPLOG_TRY(Value components, components_from(workload.components()));
    list.push_back(Value::object({{"namespace", workload.namespace_()}, {"components", std::move(components)}}));
  }
  return list;
}

Result<Value> requirements_from(const pb::ReplicaRequirements& requirements) {
  SHIPLOG_TRY(Value value, common_from(requirements));
  if (!requirements.namespace_().empty()) value.set("namespace", requirements.namespace_());
  return value;
}

Result<Value> requirements_from(const pb::ComponentReplicaRequirements& requirements) {
  return common_from(requirements);
}

}  // namespace shiplog::estimators
