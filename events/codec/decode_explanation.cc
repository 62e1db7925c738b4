#include <algorithm>
#include <utility>

#include <boost/pfr.hpp>

#include "events/base/utf8.h"
#include "events/codec/explanation_codec.h"
#include "events/codec/wire.h"

namespace shiplog::codec {
namespace {

constexpr int kDeepest = 8;  // facts within facts

/// One field: its number, and its bytes or its number.
struct FactField {
  uint32_t number = 0;
  FactWireType type = FactWireType::kVarint;
  uint64_t value = 0;
  std::string_view bytes;
};

/// What is left of a message.
class FactMessage {
 public:
  explicit FactMessage(std::string_view bytes) : left_{bytes} {}

  bool whole() const { return whole_; }

  /// Fields of other wire types are skipped, as a newer build may add them. nullopt: the end, or cut short.
  std::optional<FactField> next() {
    while (whole_ && !left_.empty()) {
      const uint64_t tag = varint();
      FactField field;
      field.number = static_cast<uint32_t>(tag >> kWireTypeBits);
      const uint64_t type = tag & 7U;
      constexpr uint64_t kEightBytes = 1;
      constexpr uint64_t kFourBytes = 5;
      if (type == kEightBytes || type == kFourBytes) {
        take(type == kEightBytes ? 8 : 4);
        continue;
      }
      field.type = static_cast<FactWireType>(type);
      if (field.type == FactWireType::kVarint) {
        field.value = varint();
      } else if (field.type == FactWireType::kLengthFirst) {
        field.bytes = take(varint());
      } else {
        whole_ = false;
      }
      if (whole_) return field;
    }
    return std::nullopt;
  }

  uint64_t varint() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      number |= uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return number;
    }
    whole_ = false;
    return 0;
  }

  bool at_end() const { return left_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (size > left_.size()) {
      whole_ = false;
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool whole_ = true;
};

class FactsReader {
 public:
  std::optional<std::string> read(std::string_view bytes, Explanation& why) {
    FactMessage message{bytes};
    std::vector<uint32_t> judgements;
    std::vector<int64_t> available;
    std::vector<int64_t> replicas;
    while (const auto field = message.next()) {
      if (field->type != FactWireType::kLengthFirst) continue;
      switch (field->number) {
        case facts_field::kSummary:
          take(*field, why.summary);
          break;
        case facts_field::kSteps:
          take(*field, why.steps);
          break;
        case facts_field::kJudgements:
          take(*field, why.judgements);
          break;
        case facts_field::kClusters:
          take(*field, why.clusters.emplace_back().cluster);
          break;
        case facts_field::kClusterJudgements:
          take(*field, judgements);
          break;
        case facts_field::kClusterAvailable:
          take(*field, available);
          break;
        case facts_field::kClusterReplicas:
          take(*field, replicas);
          break;
        default:
          break;
      }
    }
    if (!message.whole()) wrong("they are cut short");
    const size_t count = why.clusters.size();
    if (judgements.size() != count || available.size() != count || replicas.size() != count) {
      wrong("the columns of the clusters differ in length");
    }
    if (wrong_) return wrong_;
    for (size_t line = 0; line < count; ++line) {
      ClusterExplanation& cluster = why.clusters[line];
      cluster.judgement = judgements[line];
      cluster.available_replicas = available[line];
      cluster.replicas = replicas[line];
      if (cluster.judgement > why.judgements.size()) {
        wrong("there is no judgement " + std::to_string(cluster.judgement));
      }
    }
    return wrong_;
  }

 private:
  void wrong(std::string problem) {
    if (!wrong_) wrong_ = std::move(problem);
  }

  // A member of another wire type than ours is skipped.

  void take(const FactField& field, bool& to) {
    if (field.type == FactWireType::kVarint) to = field.value != 0;
  }
  void take(const FactField& field, int64_t& to) {
    if (field.type == FactWireType::kVarint) to = unzigzag(field.value);
  }
  template <class Constant>
  requires std::is_enum_v<Constant>
  void take(const FactField& field, Constant& to) {
    if (field.type == FactWireType::kVarint) to = static_cast<Constant>(field.value);
  }
  void take(const FactField& field, std::string& to) {
    if (field.type != FactWireType::kLengthFirst) return;
    if (!is_utf8(field.bytes)) wrong("text that is no UTF-8");
    to = field.bytes;
  }
  void take(const FactField& field, std::vector<int64_t>& to) {
    take_packed(field, to, [](uint64_t raw) { return unzigzag(raw); });
  }
  void take(const FactField& field, ClusterIndexes& to) {
    take_packed(field, to, [](uint64_t raw) { return static_cast<uint32_t>(raw); });
  }
  template <class Numbers, class Number>
  void take_packed(const FactField& field, Numbers& to, Number number) {
    if (field.type != FactWireType::kLengthFirst) return;
    FactMessage packed{field.bytes};
    while (packed.whole() && !packed.at_end()) to.push_back(number(packed.varint()));
    if (!packed.whole()) wrong("numbers are cut short");
  }
  template <class Item>
  void take(const FactField& field, std::vector<Item>& to) {
    if (field.type == FactWireType::kLengthFirst) take(field, to.emplace_back());
  }

  /// The last alternative counts, as in any oneof.
  void take(const FactField& field, Fact& to) {
    if (field.type != FactWireType::kLengthFirst) return;
    if (++depth_ > kDeepest) {
      wrong("facts are nested too deep");
    } else {
      FactMessage message{field.bytes};
      while (const auto kind = message.next()) {
        if (kind->type == FactWireType::kLengthFirst) take_kind(*kind, to, std::make_index_sequence<kKinds>{});
      }
      if (!message.whole()) wrong("a fact is cut short");
    }
    --depth_;
  }

  static constexpr size_t kKinds = std::variant_size_v<FactVariant>;

  template <size_t... Index>
  void take_kind(const FactField& field, Fact& to, std::index_sequence<Index...>) {
    const bool known = (take_if<std::variant_alternative_t<Index, FactVariant>>(field, to) || ...);
    if (!known) to = Text{"fact " + std::to_string(field.number) + ", which only a newer version knows"};
  }
  template <class Kind>
  bool take_if(const FactField& field, Fact& to) {
    if (Kind::kInfo.number != field.number) return false;
    Kind kind;
    take(field, kind);
    to = std::move(kind);
    return true;
  }

  template <class Struct>
  requires std::is_aggregate_v<Struct>
  void take(const FactField& field, Struct& to) {
    if (field.type != FactWireType::kLengthFirst) return;
    FactMessage message{field.bytes};
    while (const auto inner = message.next()) {
      boost::pfr::for_each_field(to, [&](auto& member, size_t place) {
        if (place + 1 == inner->number) take(*inner, member);
      });
    }
    if (!message.whole()) wrong("a message is cut short");
  }

  std::optional<std::string> wrong_;
  int depth_ = 0;
};

}  // namespace

std::optional<std::string> read_facts(std::string_view bytes, Explanation& why) {
  return FactsReader{}.read(bytes, why);
}

}  // namespace shiplog::codec
