// The slices that a member has reported of one Service, as Works in its execution space (5.7.6, 5.7.10), and what its
// requests remember of that.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "services/roles/multi_cluster_service/slice_names.h"

namespace shiplog::multi_cluster_service {
namespace {

/// What the reports of one Service of one member may make the journal grow by, with all copies that follow from them.
/// It is checked here, as the report may come from the member's agent.
constexpr double kRenderedPerSecond = 2.0 * 1024 * 1024;
constexpr Millis kBetweenRenderings{1'000};

struct WantedSlice {
  Value slice;
  bool for_export = false, for_mcs = false;
};

/// One of the two requests of the Service, and what there is to remember of it.
struct SliceReport {
  ObjectKey key;
  ExportedBy by = ExportedBy::kServiceExport;
  std::string names, problem;
};

class ServiceCollection {
 public:
  ServiceCollection(const State& state, const SliceName& service) : state_{state}, service_{service} {
    for (const ExportedBy by : {ExportedBy::kServiceExport, ExportedBy::kMultiClusterService}) {
      SliceReport report{request_key(service.cluster, {service.ns, service.name, by}), by, "", ""};
      const Value& request = state.value_of(report.key);
      if (!request.is_null() && !deleting(request)) reports_.push_back(std::move(report));
    }
  }

  bool empty() const { return reports_.empty(); }
  /// Something is in the way of a slice.
  bool obstructed() const { return obstructed_; }

  UtcMillis not_before() const {
    int64_t latest = 0;
    for (const SliceReport& report : reports_) {
      const auto text = annotation_of(state_.value_of(report.key), kNotBefore);
      int64_t time = 0;
      std::from_chars(text.data(), text.data() + text.size(), time);
      latest = std::max(latest, time);
    }
    return UtcMillis{latest};
  }

  void read() {
    for (SliceReport& report : reports_) {
      const auto reported = reported_slices(state_.value_of(report.key));
      if (!reported) continue;
      report.problem = reported->problem;
      for (const Value& slice : reported->slices) want(slice, report);
    }
  }

  /// False: the decision is full.
  bool put(UtcMillis now, DecisionBuilder& decision) {
    for (const auto& [name, wanted] : wanted_) {
      const size_t before = decision.size();
      const ObjectKey key = collected_key(service_.cluster, service_.ns, name);
      if (!put_work(state_, key, wanted.slice, form_of(wanted), now, decision)) return false;
      if (decision.size() > before) bytes_ += to_json(wanted.slice).size() * copies_of(name, wanted);
    }
    return true;
  }

  /// After put(). The requests are changed in any case: they hold the time of it.
  bool remember(UtcMillis now, DecisionBuilder& decision) const {
    if (decision.empty() && std::ranges::none_of(reports_, [&](const SliceReport& each) { return is_news(each); })) {
      return true;
    }
    const auto takes = static_cast<int64_t>(static_cast<double>(bytes_) * 1000 / kRenderedPerSecond);
    const UtcMillis then = now + std::max(kBetweenRenderings, Millis{takes});
    return std::ranges::all_of(reports_, [&](const SliceReport& report) {
      return annotate(state_, report.key,
                      {{kCollectedNames, report.names},
                       {kCollectProblem, report.problem},
                       {kNotBefore, std::to_string(then.value)}},
                      decision);
    });
  }

 private:
  void want(const Value& slice, SliceReport& report) {
    const std::string name = slice["metadata"]["name"].str();
    if (const std::string why = why_not(name, report.by); !why.empty()) {
      add_problem(report.problem, why);
      return;
    }
    report.names += (report.names.empty() ? "" : ",") + name;
    WantedSlice& wanted = wanted_[name];
    wanted.slice = slice;
    (report.by == ExportedBy::kServiceExport ? wanted.for_export : wanted.for_mcs) = true;
  }

  /// Why a slice cannot be collected; empty: it can.
  std::string why_not(const std::string& name, ExportedBy by) {
    const std::string longest = by == ExportedBy::kServiceExport ? imported_name(service_.cluster, name)
                                                                 : dispatched_name(service_.cluster, name);
    if (longest.size() > kLongestName) return "the name " + longest + " is too long";
    const Value& present = state_.value_of(collected_key(service_.cluster, service_.ns, name));
    if (present.is_null()) return "";
    if (label_of(present, kCollectedFor).empty()) {
      obstructed_ = true;
      return "EndpointSlice " + name + " was put there by the control plane";
    }
    const auto other = service_of_collected(present);
    // A slice belongs to one Service: what a member reports for two is not taken from the first.
    if (other == service_.name || !is_collected(state_, service_.cluster, service_.ns, other, name)) return "";
    obstructed_ = true;
    return "EndpointSlice " + name + " is reported for Service " + std::string{other} + ", too";
  }

  /// How often the slice is rendered in all: its report, its Work, and its copies.
  size_t copies_of(const std::string& name, const WantedSlice& wanted) const {
    size_t copies = 2;
    if (wanted.for_mcs) {
      const Value& mcs = state_.value_of({type::kMultiClusterService, service_.ns, service_.name});
      copies += mcs_consumers(mcs);
    }
    if (wanted.for_export) {
      const ObjectKey imported{type::kEndpointSlice, service_.ns, imported_name(service_.cluster, name)};
      copies += 1 + state_.value_of(binding_key(imported, "EndpointSlice"))["spec"]["clusters"].size();
    }
    return copies;
  }

  size_t mcs_consumers(const Value& mcs) const {
    const size_t named = mcs["spec"]["consumerClusters"].size();
    return named == 0 ? state_.clusters().size() : std::min(named, state_.clusters().size());
  }

  WorkForm form_of(const WantedSlice& wanted) const {
    WorkForm form;
    std::string features;
    if (wanted.for_mcs) {
      form.labels.set(kMcsNamespace, service_.ns);
      form.labels.set(kMcsName, service_.name);
      features = kForMcs;
    }
    if (wanted.for_export) {
      form.labels.set(kExportNamespace, service_.ns);
      form.labels.set(kExportName, service_.name);
      features = features.empty() ? kForExport : std::string{kForExport} + "." + features;
    }
    form.labels.set(kCollectedFor, features);
    return form;
  }

  bool is_news(const SliceReport& report) const {
    const Value& request = state_.value_of(report.key);
    return annotation_of(request, kCollectedNames) != report.names ||
           annotation_of(request, kCollectProblem) != report.problem;
  }

  const State& state_;
  const SliceName& service_;
  std::vector<SliceReport> reports_;
  std::map<std::string, WantedSlice> wanted_;
  size_t bytes_ = 0;
  bool obstructed_ = false;
};

}  // namespace

ObjectKey collection_key(const std::string& cluster, std::string_view ns, std::string_view service) {
  return {type::kWork, std::string{ns}, cluster + kSeparator + std::string{service}};
}

Result<Decided> decide_collection(const State& state, const ObjectKey& key, UtcMillis now) {
  const auto service = slice_name_of(key);
  if (!service || !takes_works(state, service->cluster)) return Nothing{};
  ServiceCollection collection{state, *service};
  if (collection.empty()) return Nothing{};  // each of the slices is triggered, and goes
  // Asked before the reports are read: each costs time, and there may be very many.
  if (const UtcMillis then = collection.not_before(); now < then) return LookAgain{then};
  collection.read();
  DecisionBuilder decision;
  if (!collection.put(now, decision) || !collection.remember(now, decision)) {
    return std::move(decision).build_and_look_again(now);
  }
  if (!collection.obstructed()) return std::move(decision).build();
  if (decision.empty()) return LookAgain{now + kLookAtObstacle};
  return std::move(decision).build_and_look_again(now + kLookAtObstacle);
}

}  // namespace shiplog::multi_cluster_service
