#include <boost/pfr.hpp>

#include "events/codec/explanation_codec.h"
#include "events/codec/wire_writer.h"

namespace shiplog::codec {
namespace {

void put_item(uint32_t field, const std::string& text, std::string& out) { put_text(field, text, out); }

void put_members(const Fact& fact, std::string& out);

template <class Message>
void put_members(const Message& message, std::string& out);

template <class Message>
void put_item(uint32_t field, const Message& message, std::string& out) {
  put_measured(field, out, [&] { put_members(message, out); });
}

// As in proto3, a member that has its default is left out.

void put(uint32_t field, bool value, std::string& out) {
  if (!value) return;
  put_tag(field, FactWireType::kVarint, out);
  put_varint(1, out);
}
void put(uint32_t field, int64_t value, std::string& out) {
  if (value == 0) return;
  put_tag(field, FactWireType::kVarint, out);
  put_varint(zigzag(value), out);
}
template <class Constant>
requires std::is_enum_v<Constant>
void put(uint32_t field, Constant value, std::string& out) {
  if (value == Constant{}) return;
  put_tag(field, FactWireType::kVarint, out);
  put_varint(static_cast<uint64_t>(value), out);
}
void put(uint32_t field, const std::string& text, std::string& out) {
  if (!text.empty()) put_item(field, text, out);
}
void put(uint32_t field, const Fact& fact, std::string& out) {
  if (!fact.empty()) put_item(field, fact, out);
}
void put(uint32_t field, const std::vector<int64_t>& numbers, std::string& out) {
  put_packed(field, numbers, out, zigzag);
}
void put(uint32_t field, const ClusterIndexes& clusters, std::string& out) {
  put_packed(field, clusters, out, [](uint32_t index) { return uint64_t{index}; });
}
template <class Item>
void put(uint32_t field, const std::vector<Item>& items, std::string& out) {
  for (const Item& item : items) put_item(field, item, out);
}

template <class Message>
void put_members(const Message& message, std::string& out) {
  boost::pfr::for_each_field(
      message, [&](const auto& member, size_t place) { put(static_cast<uint32_t>(place) + 1, member, out); });
}

// The oneof: one member, by the number of its type.
void put_members(const Fact& fact, std::string& out) {
  std::visit([&](const auto& kind) { put_item(std::decay_t<decltype(kind)>::kInfo.number, kind, out); },
             static_cast<const FactVariant&>(fact));
}

}  // namespace

void write_facts(const Explanation& why, std::string& out) {
  put(facts_field::kSummary, why.summary, out);
  put(facts_field::kSteps, why.steps, out);
  put(facts_field::kJudgements, why.judgements, out);
  for (const ClusterExplanation& line : why.clusters) put_item(facts_field::kClusters, line.cluster, out);
  put_packed(facts_field::kClusterJudgements, why.clusters, out,
             [](const ClusterExplanation& line) { return uint64_t{line.judgement}; });
  put_packed(facts_field::kClusterAvailable, why.clusters, out,
             [](const ClusterExplanation& line) { return zigzag(line.available_replicas); });
  put_packed(facts_field::kClusterReplicas, why.clusters, out,
             [](const ClusterExplanation& line) { return zigzag(line.replicas); });
}

}  // namespace shiplog::codec
