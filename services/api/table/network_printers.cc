#include "services/api/table/cells.h"

// Where traffic goes: Endpoints, EndpointSlices, IngressClasses, NetworkPolicies. TBL-6.

namespace shiplog::api {
namespace {

/// The first three, and how many more there are.
class AbbreviatedList {
 public:
  void add(std::string text) {
    constexpr size_t kShown = 3;
    if (shown_.size() < kShown) {
      shown_.push_back(std::move(text));
    } else {
      ++more_;
    }
  }
  std::string text(const char* none) const {
    if (shown_.empty()) return none;
    return joined(shown_) + (more_ == 0 ? "" : " + " + std::to_string(more_) + " more...");
  }

 private:
  std::vector<std::string> shown_;
  size_t more_ = 0;
};

std::string address_and_port(const Value& ip, const Value& port) {
  const bool v6 = ip.as_string().find(':') != std::string_view::npos;
  return (v6 ? "[" + ip.str() + "]" : ip.str()) + ":" + std::to_string(port.as_int());
}

void print_endpoints(const Value& object, UtcMillis now, TableRow& row) {
  AbbreviatedList sample;
  for (const Value& subset : object["subsets"].items()) {
    const auto addresses = subset["addresses"].items();
    if (subset["ports"].size() == 0) {
      for (const Value& address : addresses) sample.add(address["ip"].str());
    }
    for (const Value& port : subset["ports"].items()) {
      for (const Value& address : addresses) sample.add(address_and_port(address["ip"], port["port"]));
    }
  }
  row.cells = Value::array({object["metadata"]["name"], sample.text("<none>"), age_of(object, now)});
}

void print_slice(const Value& slice, UtcMillis now, TableRow& row) {
  AbbreviatedList ports, addresses;
  for (const Value& port : slice["ports"].items()) {
    if (!port["port"].is_null()) {
      ports.add(std::to_string(port["port"].as_int()));
    } else {
      ports.add(port["name"].is_null() ? "*" : port["name"].str());
    }
  }
  for (const Value& endpoint : slice["endpoints"].items()) {
    for (const Value& address : endpoint["addresses"].items()) addresses.add(address.str());
  }
  row.cells = Value::array({slice["metadata"]["name"], slice["addressType"].str(), ports.text("<unset>"),
                            addresses.text("<unset>"), age_of(slice, now)});
}

void print_ingress_class(const Value& object, UtcMillis now, TableRow& row) {
  const Value& parameters = object["spec"]["parameters"];
  std::string shown = "<none>";
  if (!parameters.is_null()) {
    shown = parameters["kind"].str();
    if (!parameters["apiGroup"].is_null()) shown += "." + parameters["apiGroup"].str();
    shown += "/" + parameters["name"].str();
  }
  row.cells =
      Value::array({object["metadata"]["name"], object["spec"]["controller"].str(), shown, age_of(object, now)});
}

void print_network_policy(const Value& object, UtcMillis now, TableRow& row) {
  row.cells =
      Value::array({object["metadata"]["name"], selector_text(object["spec"]["podSelector"]), age_of(object, now)});
}

}  // namespace

const std::vector<Printer>& network_printers() {
  static const std::vector<Printer> kPrinters = {
      {"endpoints", {kName, {"Endpoints"}, kAge}, print_endpoints},
      {"endpointslices.discovery.k8s.io", {kName, {"AddressType"}, {"Ports"}, {"Endpoints"}, kAge}, print_slice},
      {"ingressclasses.networking.k8s.io", {kName, {"Controller"}, {"Parameters"}, kAge}, print_ingress_class},
      {"networkpolicies.networking.k8s.io", {kName, {"Pod-Selector"}, kAge}, print_network_policy},
  };
  return kPrinters;
}

}  // namespace shiplog::api
