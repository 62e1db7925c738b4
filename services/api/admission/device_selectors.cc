#include "services/api/admission/device_selectors.h"

#include <memory>
#include <string_view>
#include <utility>

#include "services/cel/cel_libraries.h"
#include "services/cel/parser.h"
#include "services/cel/program.h"

// Source: k8s.io/dynamic-resource-allocation/cel and validateSelector in pkg/apis/resource/validation of
// Kubernetes 1.36.

namespace shiplog::api {
namespace {

using cel::CelField;
using cel::CelType;
using DeviceTypeKind = CelType::Kind;

constexpr size_t kMostDeviceSelectors = 32;
constexpr size_t kLongestDeviceSelector = size_t{10} * 1024;

/// Maps by domain and name.
CelField by_domain(const CelType& value) {
  const CelType names = CelType::map(DeviceTypeKind::kString, value);
  CelField inner{.type = names};
  inner.item = std::make_shared<const CelField>(CelField{.type = value});
  CelField outer{.type = CelType::map(DeviceTypeKind::kString, names)};
  outer.item = std::make_shared<const CelField>(std::move(inner));
  return outer;
}

const cel::CelEnvironment& device_environment() {
  static const cel::CelEnvironment kEnvironment = [] {
    cel::CelObjectType device;
    device.name = "kubernetes.DRADevice";
    device.fields.emplace("driver", CelField{.type = DeviceTypeKind::kString});
    device.fields.emplace("attributes", by_domain(DeviceTypeKind::kDyn));
    device.fields.emplace("capacity", by_domain(CelType::extension("kubernetes.Quantity")));
    device.fields.emplace("allowMultipleAllocations", CelField{.type = DeviceTypeKind::kBool});
    const CelType type = CelType::object(std::make_shared<const cel::CelObjectType>(std::move(device)));
    return cel::CelEnvironment{.functions = &cel::kubernetes_functions(), .variables = {{"device", type}}};
  }();
  return kEnvironment;
}

/// `cel.bind` and `includes` are functions of these selectors alone. The syntax of an expression that calls them is
/// checked, but not its types, which only the members know.
bool calls_device_functions(std::string_view expression) {
  return expression.find("cel.bind") != std::string_view::npos ||
         expression.find(".includes") != std::string_view::npos;
}

void check_expression(const Value& expression, const std::string& field, Causes& causes) {
  const std::string_view text = expression.as_string();
  if (text.size() > kLongestDeviceSelector) return causes.too_long(field, kLongestDeviceSelector);
  if (calls_device_functions(text)) {
    const auto parsed = cel::parse_expression(text);
    if (!parsed) causes.invalid(field, expression, "compilation failed: " + parsed.error().message);
    return;
  }
  const auto program = cel::CelProgram::compile(text, device_environment());
  if (!program) return causes.invalid(field, expression, "compilation failed: " + program.error().message);
  const CelType& type = program.value().type();
  if (type.is(DeviceTypeKind::kBool) || type.is_dyn()) return;
  causes.invalid(field, expression, "must evaluate to bool or the unknown type, not " + type.text());
}

}  // namespace

void check_device_selectors(const Value& selectors, const std::string& field, Causes& causes) {
  if (selectors.size() > kMostDeviceSelectors) return causes.too_many(field, selectors.size(), kMostDeviceSelectors);
  for (size_t i = 0; i < selectors.size(); ++i) {
    const Value& cel = selectors[i]["cel"];
    if (cel.is_null()) {
      causes.required(at(field, i) + ".cel");
    } else {
      check_expression(cel["expression"], at(field, i) + ".cel.expression", causes);
    }
  }
}

}  // namespace shiplog::api
