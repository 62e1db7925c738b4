#include "events/codec/encode_placement.h"

#include <algorithm>

#include "events/codec/explanation_codec.h"
#include "events/codec/wire_writer.h"

namespace shiplog::codec {
namespace {

// The numbers of schemas/events/v1.
constexpr uint32_t kPlacementDecided = 202;  // of Event
namespace placement_field {
constexpr uint32_t kBinding = 1, kTargets = 2, kObservedGeneration = 3, kAppliedPlacement = 4, kAffinityName = 5,
                   kWhy = 6, kComponents = 7;
}  // namespace placement_field
namespace key_field {
constexpr uint32_t kType = 1, kNamespace = 2, kName = 3;
}  // namespace key_field
constexpr uint32_t kNameOfCount = 1, kReplicasOfCount = 2;  // of Target and ComponentReplicas
constexpr uint32_t kInputsDigest = 2, kFacts = 6;           // of Explanation

// Bytes.
constexpr size_t kOfACluster = 24, kOfTheRest = 512;

/// How much an explanation takes, but for long names.
size_t rough_size(const Explanation& why) { return kOfTheRest + kOfACluster * why.clusters.size(); }

void put_unless_empty(uint32_t field, std::string_view text, std::string& out) {
  if (!text.empty()) put_text(field, text, out);
}

/// A Target or a ComponentReplicas. There is one for each cluster, so that it is written in three pieces.
void put_count(uint32_t field, const std::string& name, int64_t replicas, std::string& out) {
  if (!is_utf8(name)) return put_count(field, repaired(name), replicas, out);
  char name_head[2 * kLongestVarint];
  char* name_head_end = name_head;
  if (!name.empty()) {
    name_head_end = write_varint(wire_tag(kNameOfCount, FactWireType::kLengthFirst), name_head);
    name_head_end = write_varint(name.size(), name_head_end);
  }
  char tail[2 * kLongestVarint];
  char* tail_end = tail;
  if (replicas != 0) {
    tail_end = write_varint(wire_tag(kReplicasOfCount, FactWireType::kVarint), tail);
    tail_end = write_varint(static_cast<uint64_t>(replicas), tail_end);
  }
  char head[4 * kLongestVarint];
  char* at = write_varint(wire_tag(field, FactWireType::kLengthFirst), head);
  at = write_varint(static_cast<size_t>(name_head_end - name_head) + name.size() + static_cast<size_t>(tail_end - tail),
                    at);
  at = std::copy(name_head, name_head_end, at);
  out.append(head, static_cast<size_t>(at - head));
  out += name;
  out.append(tail, static_cast<size_t>(tail_end - tail));
}

void put_key(uint32_t field, const ObjectKey& key, std::string& out) {
  put_measured(field, out, [&] {
    put_unless_empty(key_field::kType, key.type, out);
    put_unless_empty(key_field::kNamespace, key.ns, out);
    put_unless_empty(key_field::kName, key.name, out);
  });
}

void put_explanation(uint32_t field, const Explanation& why, std::string& out) {
  const size_t expected = rough_size(why);
  put_measured(
      field, out,
      [&] {
        put_unless_empty(kInputsDigest, why.inputs_digest, out);
        const size_t before = out.size();
        put_measured(
            kFacts, out, [&] { write_facts(why, out); }, expected);
        constexpr size_t kEmptyField = 2;
        if (out.size() == before + kEmptyField) out.resize(before);
      },
      expected);
}

}  // namespace

size_t roughly_encoded_size(const PlacementDecided& event) {
  return event.applied_placement.size() + kOfACluster * event.targets.size() + rough_size(event.why);
}

void write_event(const PlacementDecided& event, std::string& out) {
  const auto write = [&] {
    put_key(placement_field::kBinding, event.binding, out);
    for (const Target& target : event.targets)
      put_count(placement_field::kTargets, target.cluster, target.replicas, out);
    put_number(placement_field::kObservedGeneration, event.observed_generation, out);
    put_unless_empty(placement_field::kAppliedPlacement, event.applied_placement, out);
    put_unless_empty(placement_field::kAffinityName, event.affinity_name, out);
    if (event.why != Explanation{}) put_explanation(placement_field::kWhy, event.why, out);
    for (const ComponentReplicas& component : event.components) {
      put_count(placement_field::kComponents, component.name, component.replicas, out);
    }
  };
  put_measured(kPlacementDecided, out, write, roughly_encoded_size(event));
}

}  // namespace shiplog::codec
