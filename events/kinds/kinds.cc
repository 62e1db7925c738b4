#include "events/kinds/kinds.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "events/base/api_version.h"
#include "events/base/check.h"
#include "events/base/json.h"
#include "events/kinds/builtin_kinds.h"
#include "events/kinds/stored_definition.h"
#include "schemas/kinds/embedded.h"

namespace shiplog {
namespace {

// "v2beta3" is {2 (beta), 2, 3}; "v1" is {3 (stable), 1, 0}; a name of another form is {0, 0, 0}.
std::tuple<int, int, int> rank_of(std::string_view version) {
  constexpr std::tuple<int, int, int> kNone{0, 0, 0};
  const auto number = [](std::string_view& text, int& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    const bool read = error == std::errc{} && into > 0 && text.front() != '0';
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return read;
  };
  int major = 0;
  int minor = 0;
  if (!version.starts_with('v')) return kNone;
  version.remove_prefix(1);
  if (version.empty() || !number(version, major)) return kNone;
  if (version.empty()) return {3, major, 0};
  const int stage = version.starts_with("beta") ? 2 : version.starts_with("alpha") ? 1 : 0;
  if (stage == 0) return kNone;
  version.remove_prefix(stage == 2 ? 4 : 5);
  if (version.empty() || !number(version, minor) || !version.empty()) return kNone;
  return {stage, major, minor};
}

using KindPtr = std::shared_ptr<const Kind>;

bool precedes(const KindPtr& a, const KindPtr& b) {
  if (a->group != b->group) return a->group < b->group;
  if (a->plural != b->plural) return a->plural < b->plural;
  return compare_versions(a->version, b->version) < 0;
}

auto kind_name(const Kind& kind) {
  return std::tuple<std::string_view, std::string_view, std::string_view>{kind.group, kind.version, kind.kind};
}

bool precedes_by_kind(const Kind* a, const Kind* b) { return kind_name(*a) < kind_name(*b); }

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  const auto rank_a = rank_of(a);
  const auto rank_b = rank_of(b);
  if (rank_a != rank_b) return rank_a > rank_b ? -1 : 1;
  return a.compare(b);
}

Kinds::Kinds(std::vector<KindPtr> kinds) : all_{std::move(kinds)} {
  std::sort(all_.begin(), all_.end(), precedes);
  by_kind_.reserve(all_.size());
  for (const KindPtr& kind : all_) by_kind_.push_back(kind.get());
  std::sort(by_kind_.begin(), by_kind_.end(), precedes_by_kind);
}

const Kinds& Kinds::compiled() {
  static const Kinds all = [] {
    std::vector<KindPtr> kinds;
    for (Kind& kind : builtin_kinds()) kinds.push_back(std::make_shared<const Kind>(std::move(kind)));
    for (const EmbeddedDocument& document : embedded_kinds()) {
      if (!document.name.ends_with(".yaml")) continue;
      const auto crd = parse_json(document.bytes);
      SHIPLOG_CHECK(crd.has_value(), "an embedded CustomResourceDefinition is not JSON");
      auto described = kinds_of(crd.value());
      SHIPLOG_CHECK(described.has_value(), described.error().message.c_str());
      for (Kind& kind : described.value()) kinds.push_back(std::make_shared<const Kind>(std::move(kind)));
    }
    return Kinds{std::move(kinds)};
  }();
  return all;
}

const Kind* Kinds::find(std::string_view group, std::string_view version, std::string_view plural) const {
  auto found = std::lower_bound(
      all_.begin(), all_.end(), std::tuple{group, plural}, [](const KindPtr& kind, const auto& wanted) {
        return std::tuple<std::string_view, std::string_view>{kind->group, kind->plural} < wanted;
      });
  for (; found != all_.end() && (*found)->group == group && (*found)->plural == plural; ++found) {
    if ((*found)->version == version) return found->get();
  }
  return nullptr;
}

const Kind* Kinds::find_kind(std::string_view api_version, std::string_view kind) const {
  const auto [group, version] = split_api_version(api_version);
  const std::tuple wanted{group, version, kind};
  const auto found = std::lower_bound(by_kind_.begin(), by_kind_.end(), wanted,
                                      [](const Kind* each, const auto& name) { return kind_name(*each) < name; });
  return found != by_kind_.end() && kind_name(**found) == wanted ? *found : nullptr;
}

const Kind* Kinds::find_type(std::string_view type) const {
  const size_t dot = type.find('.');
  const std::string_view plural = type.substr(0, dot);
  const std::string_view group = dot == std::string_view::npos ? "" : type.substr(dot + 1);
  auto found = std::lower_bound(
      all_.begin(), all_.end(), std::tuple{group, plural}, [](const KindPtr& kind, const auto& wanted) {
        return std::tuple<std::string_view, std::string_view>{kind->group, kind->plural} < wanted;
      });
  for (; found != all_.end() && (*found)->group == group && (*found)->plural == plural; ++found) {
    if ((*found)->storage) return found->get();
  }
  return nullptr;
}

Result<Kinds> Kinds::with(const Value& crd) const {
  SHIPLOG_TRY(std::vector<Kind> described, kinds_of_stored(crd));
  const std::string type = crd["metadata"]["name"].str();  // also if no version is served
  const Kind* present = find_type(type);
  if (present != nullptr && present->builtin) {
    const std::string message = "Invalid value: \"" + type + "\": it is a built-in resource and cannot be defined anew";
    return Error{ErrorCode::kInvalid,
                 "CustomResourceDefinition " + type + ": metadata.name: " + message,
                 {{"metadata.name", "FieldValueInvalid", message}}};
  }
  // In their places: sorting all of them for each definition would take seconds at a start with a thousand of them.
  Kinds kinds = without(type);
  for (Kind& kind : described) {
    const auto made = std::make_shared<const Kind>(std::move(kind));
    kinds.all_.insert(std::upper_bound(kinds.all_.begin(), kinds.all_.end(), made, precedes), made);
    kinds.by_kind_.insert(std::upper_bound(kinds.by_kind_.begin(), kinds.by_kind_.end(), made.get(), precedes_by_kind),
                          made.get());
  }
  return kinds;
}

Kinds Kinds::without(std::string_view crd_name) const {
  const size_t dot = crd_name.find('.');
  const std::string_view plural = crd_name.substr(0, dot);
  const std::string_view group = dot == std::string_view::npos ? "" : crd_name.substr(dot + 1);
  const auto is_defined = [&](const Kind& kind) {
    return !kind.builtin && kind.plural == plural && kind.group == group;
  };
  Kinds kinds = *this;
  std::erase_if(kinds.by_kind_, [&](const Kind* kind) { return is_defined(*kind); });
  std::erase_if(kinds.all_, [&](const KindPtr& kind) { return is_defined(*kind); });
  return kinds;
}

}  // namespace shiplog
