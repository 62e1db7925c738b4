#include "services/api/search/member_body.h"

#include <functional>
#include <map>
#include <optional>

#include "events/base/json.h"
#include "events/base/value.h"
#include "events/base/yaml.h"
#include "events/codec/wire_writer.h"
#include "events/kinds/wire_reader.h"
#include "services/api/search/cached_object.h"
#include "services/api/search/multi_version.h"

namespace shiplog::api {
namespace {

/// nullopt: there is no version over clusters that has this one. "0" is none: the member would overwrite the object
/// whatever has changed. It refuses the version over clusters.
std::optional<std::string> own_version(std::string_view text, const std::string& cluster) {
  if (text.empty() || text == "0") return std::nullopt;
  auto own = parse_multi_version(text).of_object(cluster);
  return own && *own != "0" ? std::move(own) : std::nullopt;
}

bool set_own_version(Value& parent, const std::string& cluster) {
  const auto own = own_version(parent["resourceVersion"].as_string(), cluster);
  if (own) parent.set("resourceVersion", *own);
  return own.has_value();
}

bool remove_annotation(Value& metadata) {
  if (!metadata["annotations"].contains(kCachedFromCluster)) return false;
  Value& annotations = metadata.edit("annotations");
  annotations.erase(kCachedFromCluster);
  if (annotations.is_empty()) metadata.erase("annotations");
  return true;
}

// Numbers of fields in Kubernetes' generated.proto files.
constexpr std::string_view kProtobufMagic{"k8s\0", 4};
constexpr uint32_t kRawOfUnknown = 2;
constexpr uint32_t kMetadataOfObject = 1;
constexpr uint32_t kVersionOfMetadata = 6;
constexpr uint32_t kAnnotationsOfMetadata = 12;
constexpr uint32_t kKeyOfEntry = 1;
constexpr uint32_t kPreconditionsOfDeletion = 2;
constexpr uint32_t kVersionOfPreconditions = 2;

/// What becomes of a field.
struct Replacement {
  bool drop = false;
  std::string content = {};
};
/// nullopt: the field stays as it is.
using Rewrite = std::function<std::optional<Replacement>(std::string_view content)>;

/// The message with some of its fields of bytes replaced; all others as they are. nullopt: nothing is, or it is
/// malformed.
std::optional<std::string> rewritten(std::string_view message, const std::map<uint32_t, Rewrite>& rewrites) {
  std::string out;
  bool changed = false;
  WireReader reader{message};
  while (!reader.done()) {
    const std::string_view before = reader.rest();
    const auto field = reader.next();
    if (!field) return std::nullopt;
    const auto rewrite = rewrites.find(field->number);
    const bool concerned = field->wire == WireType::kBytes && rewrite != rewrites.end();
    const auto replacement = concerned ? rewrite->second(field->bytes) : std::nullopt;
    if (!replacement) {
      out.append(before.substr(0, before.size() - reader.rest().size()));
      continue;
    }
    changed = true;
    if (!replacement->drop) codec::put_bytes(field->number, replacement->content, out);
  }
  return changed ? std::optional{std::move(out)} : std::nullopt;
}

/// Rewrites what is within a field.
Rewrite within(std::map<uint32_t, Rewrite> rewrites) {
  return [rewrites = std::move(rewrites)](std::string_view content) -> std::optional<Replacement> {
    auto made = rewritten(content, rewrites);
    if (!made) return std::nullopt;
    return Replacement{false, std::move(*made)};
  };
}

std::optional<Replacement> without_entry_of_cache(std::string_view entry) {
  WireReader reader{entry};
  while (!reader.done()) {
    const auto field = reader.next();
    if (!field) break;
    if (field->number == kKeyOfEntry && field->bytes == kCachedFromCluster) return Replacement{true};
  }
  return std::nullopt;
}

std::string protobuf_for_member(const std::string& method, const std::string& body, const std::string& cluster) {
  const Rewrite version = [&cluster](std::string_view text) -> std::optional<Replacement> {
    auto own = own_version(text, cluster);
    if (!own) return std::nullopt;
    return Replacement{false, std::move(*own)};
  };
  const std::map<uint32_t, Rewrite> of_object =
      method == "DELETE"
          ? std::map<uint32_t, Rewrite>{{kPreconditionsOfDeletion, within({{kVersionOfPreconditions, version}})}}
          : std::map<uint32_t, Rewrite>{
                {kMetadataOfObject,
                 within({{kVersionOfMetadata, version}, {kAnnotationsOfMetadata, without_entry_of_cache}})}};
  const auto made =
      rewritten(std::string_view{body}.substr(kProtobufMagic.size()), {{kRawOfUnknown, within(of_object)}});
  return made ? std::string{kProtobufMagic} + *made : body;
}

}  // namespace

std::string body_for_member(const std::string& method, std::string_view content_type, const std::string& body,
                            const std::string& cluster) {
  if (body.starts_with(kProtobufMagic)) return protobuf_for_member(method, body, cluster);
  auto parsed = parse_json(body);
  if (!parsed && content_type.find("yaml") != std::string_view::npos) parsed = parse_yaml(body);
  if (!parsed || !parsed.value().is_object()) return body;
  Value& object = parsed.value();
  bool changed = false;
  const char* place = method == "DELETE" ? "preconditions" : "metadata";
  if (!object[place].is_object()) return body;
  Value part = object[place];
  changed = set_own_version(part, cluster);
  if (method != "DELETE") changed = remove_annotation(part) || changed;
  if (!changed) return body;
  object.set(place, std::move(part));
  return to_json(object);
}

}  // namespace shiplog::api
