#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"
#include "services/cel/library/semantic_version.h"

// semver of Kubernetes. Source: k8s.io/apiserver/pkg/cel/library/semverlib.go, cost.go.

namespace shiplog::cel {
namespace {

const std::string kSemver = "kubernetes.Semver";

Result<SemanticVersion> read(CelArguments a) {
  return parse_semantic_version(a[0].as_string(), a.size() > 1 && a[1].as_bool());
}

}  // namespace

void add_semver_functions(CelFunctions& functions) {
  const CelType semver = CelType::extension(kSemver);
  functions.add_type(kSemver, semver);
  const auto make = [](CelArguments a, CelMeter& meter) {
    // Two bytes may make an identifier.
    if (!affordable(meter, text_size(a[0]) / kItemsOfUnit)) return unaffordable();
    auto version = read(a);
    if (!version) return CelValue::error(version.error().message);
    return extension_of(kSemver, std::move(version).value(), text_size(a[0]));
  };
  const auto test = [](CelArguments a, CelMeter&) { return CelValue::boolean(static_cast<bool>(read(a))); };
  for (const auto& arguments : {std::vector<CelType>{CelKind::kString}, {CelKind::kString, CelKind::kBool}}) {
    add_function(functions, "semver", arguments, semver, make, cost_of_reading(0));
    add_function(functions, "isSemver", arguments, CelKind::kBool, test, cost_of_reading(0));
  }
  const auto order = [](CelArguments a) {
    return compare_versions(held<SemanticVersion>(a[0]), held<SemanticVersion>(a[1]));
  };
  add_member(functions, "isGreaterThan", {semver, semver}, CelKind::kBool,
             [order](CelArguments a, CelMeter&) { return CelValue::boolean(order(a) > 0); });
  add_member(functions, "isLessThan", {semver, semver}, CelKind::kBool,
             [order](CelArguments a, CelMeter&) { return CelValue::boolean(order(a) < 0); });
  add_member(functions, "compareTo", {semver, semver}, CelKind::kInt,
             [order](CelArguments a, CelMeter&) { return CelValue::integer(sign_of(order(a))); });
  const auto add_part = [&](const char* name, uint64_t SemanticVersion::*part) {
    add_member(functions, name, {semver}, CelKind::kInt, [part](CelArguments a, CelMeter&) {
      return CelValue::integer(static_cast<int64_t>(held<SemanticVersion>(a[0]).*part));
    });
  };
  add_part("major", &SemanticVersion::major);
  add_part("minor", &SemanticVersion::minor);
  add_part("patch", &SemanticVersion::patch);
}

}  // namespace shiplog::cel
