#include "events/codec/outline.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "schemas/events/v1/entry.pb.h"

namespace shiplog {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

void note_family(uint32_t kind, std::vector<Family>& families) {
  constexpr std::array kFamilies = {Family::kApi,   Family::kScheduling, Family::kDispatch, Family::kTaint,
                                    Family::kQuota, Family::kCluster,    Family::kControl};
  const uint32_t hundreds = kind / 100;  // entry.proto: they name the family
  if (hundreds < 1 || hundreds > kFamilies.size()) return;
  const Family family = kFamilies[hundreds - 1];
  if (std::ranges::find(families, family) == families.end()) families.push_back(family);
}

}  // namespace

EntryId entry_id_in(std::string_view bytes) {
  EntryId id;
  CodedInputStream stream{reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
  constexpr uint32_t kTag =
      WireFormatLite::MakeTag(events::v1::Entry::kIdFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  uint32_t length = 0;
  // encode() writes the fields in the order of their numbers, so the id is first.
  const bool whole = stream.ReadTag() == kTag && stream.ReadVarint32(&length) && length == id.bytes.size() &&
                     stream.ReadRaw(id.bytes.data(), static_cast<int>(id.bytes.size()));
  return whole ? id : EntryId{};
}

Outline outline(std::string_view bytes) {
  using WireEntry = events::v1::Entry;
  Outline found;
  CodedInputStream stream{reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
  while (const uint32_t tag = stream.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    const bool length_first = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    uint32_t length = 0;
    if (!length_first || (field != WireEntry::kIdFieldNumber && field != WireEntry::kEventsFieldNumber)) {
      if (!WireFormatLite::SkipField(&stream, tag)) return found;
      continue;
    }
    if (!stream.ReadVarint32(&length)) return found;
    if (field == WireEntry::kIdFieldNumber) {
      std::string id;
      if (!stream.ReadString(&id, static_cast<int>(length))) return found;
      if (id.size() == found.id.bytes.size()) std::memcpy(found.id.bytes.data(), id.data(), id.size());
      continue;
    }
    const auto limit = stream.PushLimit(static_cast<int>(length));
    while (const uint32_t inner = stream.ReadTag()) {
      note_family(static_cast<uint32_t>(WireFormatLite::GetTagFieldNumber(inner)), found.families);
      if (!WireFormatLite::SkipField(&stream, inner)) return found;
    }
    stream.PopLimit(limit);
  }
  return found;
}

}  // namespace shiplog
