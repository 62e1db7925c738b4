#include "services/api/admission/pod_warnings.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "events/base/utf8.h"
#include "services/api/admission/address_warnings.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {
namespace {

/// A field or a key that is no longer used, and what is said of it.
using Deprecation = std::pair<std::string_view, std::string_view>;

constexpr Deprecation kNodeLabels[] = {
    {"beta.kubernetes.io/arch", R"(deprecated since v1.14; use "kubernetes.io/arch" instead)"},
    {"beta.kubernetes.io/os", R"(deprecated since v1.14; use "kubernetes.io/os" instead)"},
    {"failure-domain.beta.kubernetes.io/region",
     R"(deprecated since v1.17; use "topology.kubernetes.io/region" instead)"},
    {"failure-domain.beta.kubernetes.io/zone", R"(deprecated since v1.17; use "topology.kubernetes.io/zone" instead)"},
    {"beta.kubernetes.io/instance-type", R"(deprecated since v1.17; use "node.kubernetes.io/instance-type" instead)"},
};

constexpr Deprecation kAnnotations[] = {
    {"scheduler.alpha.kubernetes.io/critical-pod",
     R"(non-functional in v1.16+; use the "priorityClassName" field instead)"},
    {"security.alpha.kubernetes.io/sysctls", R"(non-functional in v1.11+; use the "sysctls" field instead)"},
    {"security.alpha.kubernetes.io/unsafe-sysctls", R"(non-functional in v1.11+; use the "sysctls" field instead)"},
};

constexpr Deprecation kVolumeTypes[] = {
    {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
    {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
    {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
    {"flocker", "deprecated in v1.22, non-functional in v1.25+"},
    {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
    {"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
    {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
    {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
    {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
};

constexpr const char* kNullSelector = "a null labelSelector results in matching no pod";
constexpr const char* kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferredTerms = "preferredDuringSchedulingIgnoredDuringExecution";

// A request must not take time or make an answer far beyond its size: each is compared with so many others at most.
constexpr size_t kMostCompared = 100;
constexpr size_t kMostWarnings = 100;

/// Gathers the warnings about one pod.
class PodWarnings {
 public:
  PodWarnings(const Value& pod, const std::string& field, std::vector<std::string>& warnings)
      : spec_{pod["spec"]},
        annotations_{pod["metadata"]["annotations"]},
        metadata_field_{field.empty() ? "metadata.annotations" : field + ".metadata.annotations"},
        field_{field.empty() ? "spec" : field + ".spec"},
        in_template_{!field.empty()},
        warnings_{warnings} {}

  void gather() {
    node_labels();
    spread_constraints();
    for (const auto& [key, words] : kAnnotations) {
      if (annotations_.contains(key)) add_key(metadata_field_, key, words);
    }
    volume_types();
    overlapping_paths();
    repeated_items("hostAliases", "ip");
    repeated_items("imagePullSecrets", "name");
    empty_pull_secrets();
    fractions(spec_["overhead"], field_ + ".overhead");
    seccomp_annotation("seccomp.security.alpha.kubernetes.io/pod", spec_["securityContext"]);
    each_container([&](const Value& container, const std::string& field) { container_values(container, field); });
    ports();
    port_names();
    if (spec_["terminationGracePeriodSeconds"].as_int() < 0) {
      add(field_ + ".terminationGracePeriodSeconds",
          "must be >= 0; negative values are invalid and will be treated as 1");
    }
    affinity_selectors("podAffinity");
    affinity_selectors("podAntiAffinity");
    addresses();
  }

 private:
  void add(const std::string& field, std::string_view words) { add_line(field + ": " + std::string{words}); }
  bool full() const { return warnings_.size() >= kMostWarnings; }
  void add_line(std::string line) {
    if (!full()) warnings_.push_back(std::move(line));
  }
  void add_key(const std::string& field, std::string_view key, std::string_view words) {
    add(field + "[" + std::string{key} + "]", words);
  }

  template <class F>
  void each_container(F&& use) const {
    for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
      for (size_t i = 0; i < spec_[list].size(); ++i) use(spec_[list][i], at(field_ + "." + list, i));
    }
  }

  static const Deprecation* deprecated_label(std::string_view key) {
    const auto* found = std::ranges::find(kNodeLabels, key, &Deprecation::first);
    return found == std::end(kNodeLabels) ? nullptr : found;
  }

  void node_term(const Value& term, const std::string& field) {
    for (size_t i = 0; i < term["matchExpressions"].size(); ++i) {
      const std::string_view key = term["matchExpressions"][i]["key"].as_string();
      if (const Deprecation* label = deprecated_label(key)) {
        add(at(field + ".matchExpressions", i) + ".key", std::string{key} + " is " + std::string{label->second});
      }
    }
  }

  void label_values(const Value& term, const std::string& field) {
    for (size_t i = 0; i < term["matchExpressions"].size(); ++i) {
      const Value& values = term["matchExpressions"][i]["values"];
      for (size_t j = 0; j < values.size() && !full(); ++j) {
        const auto problem = label_value_problem(values[j].as_string());
        if (!problem) continue;
        add(at(at(field + ".matchExpressions", i) + ".values", j),
            printable(values[j].as_string()) + " is invalid, " + *problem);
      }
    }
  }

  void node_labels() {
    for (const auto& member : spec_["nodeSelector"].members()) {
      if (const Deprecation* label = deprecated_label(member.key())) {
        add_key(field_ + ".nodeSelector", member.key(), label->second);
      }
    }
    const Value& affinity = spec_["affinity"]["nodeAffinity"];
    if (affinity.is_null()) return;
    const std::string field = field_ + ".affinity.nodeAffinity.";
    const Value& terms = affinity[kRequiredTerms]["nodeSelectorTerms"];
    for (size_t i = 0; i < terms.size(); ++i) node_term(terms[i], at(field + kRequiredTerms + ".nodeSelectorTerms", i));
    const Value& preferred = affinity[kPreferredTerms];
    for (size_t i = 0; i < preferred.size(); ++i) {
      const std::string here = at(field + kPreferredTerms, i) + ".preference";
      node_term(preferred[i]["preference"], here);
      label_values(preferred[i]["preference"], here);
    }
  }

  void spread_constraints() {
    const Value& spreads = spec_["topologySpreadConstraints"];
    for (size_t i = 0; i < spreads.size(); ++i) {
      const std::string field = at(field_ + ".topologySpreadConstraints", i);
      const std::string key = spreads[i]["topologyKey"].str();
      if (const Deprecation* label = deprecated_label(key)) {
        add(field + ".topologyKey", key + " is " + std::string{label->second});
      }
      if (spreads[i]["labelSelector"].is_null()) add(field + ".labelSelector", kNullSelector);
    }
  }

  void volume_types() {
    const Value& volumes = spec_["volumes"];
    for (size_t i = 0; i < volumes.size(); ++i) {
      for (const auto& [type, words] : kVolumeTypes) {
        if (volumes[i][type].is_null()) continue;
        const std::string_view shown = type == "storageos" ? "storageOS" : type;
        add(at(field_ + ".volumes", i) + "." + std::string{shown}, words);
      }
    }
  }

  using Paths = std::vector<std::string_view>;

  static Paths paths_in(const Value& items) {
    Paths paths;
    for (const Value& item : items.items()) paths.push_back(item["path"].as_string());
    return paths;
  }

  static bool overlap(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return false;
    const auto within = [](std::string_view path, std::string_view folder) {
      return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
    };
    return within(a, b) || within(b, a);
  }

  void overlaps(const Paths& paths, const std::string& about) {
    std::set<std::string_view> before;
    for (std::string_view path : paths) {
      while (path.ends_with('/')) path.remove_suffix(1);
      const auto other = std::ranges::find_if(before, [&](std::string_view each) { return overlap(each, path); });
      if (other != before.end()) add_line(about + ": overlapping paths: " + quoted(path) + " with " + quoted(*other));
      if (before.size() < kMostCompared) before.insert(path);
    }
  }

  /// Kubernetes names the last one of the files.
  static std::pair<Paths, std::string> certificate_paths(const Value& certificate) {
    static constexpr std::pair<const char*, const char*> kFiles[] = {
        {"certificateChainPath", "PodCertificate chain"},
        {"keyPath", "PodCertificate key"},
        {"credentialBundlePath", "PodCertificate credential bundle"}};
    std::pair<Paths, std::string> found;
    for (const auto& [file, shown] : kFiles) {
      if (certificate[file].is_empty()) continue;
      found.first.push_back(certificate[file].as_string());
      found.second = shown;
    }
    return found;
  }

  /// The paths of one source of a projected volume, and how it is named.
  static std::pair<Paths, std::string> projected_paths(const Value& source) {
    static constexpr std::pair<std::string_view, std::string_view> kKeyTypes[] = {{"configMap", "ConfigMap"},
                                                                                  {"secret", "Secret"}};
    for (const auto& [type, shown] : kKeyTypes) {
      if (source[type]["items"].is_null()) continue;
      return {paths_in(source[type]["items"]), std::string{shown} + " " + quoted(source[type]["name"].as_string())};
    }
    if (!source["downwardAPI"]["items"].is_null()) return {paths_in(source["downwardAPI"]["items"]), "DownwardAPI"};
    if (const Value& token = source["serviceAccountToken"]; !token.is_null()) {
      return {{token["path"].as_string()}, "ServiceAccountToken"};
    }
    if (const Value& certificate = source["podCertificate"]; !certificate.is_null())
      return certificate_paths(certificate);
    if (const Value& bundle = source["clusterTrustBundle"]; !bundle.is_null()) {
      const Value& name = bundle["name"].is_null() ? bundle["signerName"] : bundle["name"];
      return {{bundle["path"].as_string()}, "ClusterTrustBundle " + quoted(name.as_string())};
    }
    return {};
  }

  void projected_overlaps(const Value& sources, const std::string& volume) {
    std::set<std::string_view> all;
    for (const Value& source : sources.items()) {
      if (source.size() == 0) {
        add_line(volume + " (Projected) has no sources provided");
        continue;
      }
      const auto [paths, shown] = projected_paths(source);
      if (paths.empty()) continue;
      const std::string about = volume + " (Projected " + shown + ")";
      overlaps(paths, about);
      if (all.size() >= kMostCompared) continue;
      const std::set<std::string_view> own(paths.begin(), paths.end());
      std::set<std::string_view> both = all;
      both.insert(own.begin(), own.end());
      if (both.size() > own.size()) overlaps({both.begin(), both.end()}, about);
      all = std::move(both);
    }
  }

  void overlapping_paths() {
    for (const Value& volume : spec_["volumes"].items()) {
      const std::string name = "volume " + quoted(volume["name"].as_string());
      const auto named = [](const char* kind, const Value& text) {
        return " (" + std::string{kind} + " " + quoted(text.as_string()) + ")";
      };
      const Value& map = volume["configMap"];
      overlaps(paths_in(map["items"]), name + named("ConfigMap", map["name"]));
      const Value& secret = volume["secret"];
      overlaps(paths_in(secret["items"]), name + named("Secret", secret["secretName"]));
      overlaps(paths_in(volume["downwardAPI"]["items"]), name + " (DownwardAPI)");
      projected_overlaps(volume["projected"]["sources"], name);
    }
  }

  void repeated_items(const char* list, const char* key) {
    std::set<std::string_view> known;
    for (size_t i = 0; i < spec_[list].size(); ++i) {
      const std::string_view text = spec_[list][i][key].as_string();
      if (known.insert(text).second) continue;
      add(at(field_ + "." + list, i) + "." + key, "duplicate " + std::string{key} + " " + quoted(text));
    }
  }

  void empty_pull_secrets() {
    const Value& secrets = spec_["imagePullSecrets"];
    for (size_t i = 0; i < secrets.size(); ++i) {
      if (!secrets[i]["name"].is_empty()) continue;
      add(at(field_ + ".imagePullSecrets", i) + ".name", "invalid empty name \"\"");
    }
  }

  void fractions(const Value& amounts, const std::string& field) {
    for (const char* name : {"memory", "ephemeral-storage"}) {
      const auto quantity = parse_quantity(amounts[name].as_string());
      if (!quantity || quantity.value().whole_milli() % 1000 == 0) continue;
      add_key(field, name,
              "fractional byte value " + quoted(amounts[name].as_string()) + " is invalid, must be an integer");
    }
  }

  void seccomp_annotation(const std::string& key, const Value& security) {
    if (!security["seccompProfile"].is_null() || !annotations_.contains(key)) return;
    add_key(metadata_field_, key, R"(non-functional in v1.27+; use the "seccompProfile" field instead)");
  }

  /// Whether the field says of the pod what the older annotation says of a container.
  static bool is_same_profile(const Value& profile, std::string_view annotation) {
    constexpr std::string_view kLocal = "localhost/";
    if (profile.is_null()) return false;
    const std::string_view type = profile["type"].as_string();
    if (annotation == "unconfined") return type == "Unconfined";
    if (annotation == "runtime/default") return type == "RuntimeDefault";
    return type == "Localhost" && annotation.starts_with(kLocal) &&
           annotation.substr(kLocal.size()) == profile["localhostProfile"].as_string();
  }

  void container_values(const Value& container, const std::string& field) {
    const Value& security = container["securityContext"];
    if (annotations_.size() > 0) {
      seccomp_annotation("container.seccomp.security.alpha.kubernetes.io/" + container["name"].str(), security);
      const std::string key = "container.apparmor.security.beta.kubernetes.io/" + container["name"].str();
      const Value* profile = annotations_.find(key);
      const bool profiled =
          !security["appArmorProfile"].is_null() ||
          (profile != nullptr && is_same_profile(spec_["securityContext"]["appArmorProfile"], profile->as_string()));
      if (in_template_ && !profiled && profile != nullptr) {
        add_key(metadata_field_, key, R"(deprecated since v1.30; use the "appArmorProfile" field instead)");
      }
    }
    fractions(container["resources"]["limits"], field + ".resources.limits");
    fractions(container["resources"]["requests"], field + ".resources.requests");
    hidden_variables(container["env"], field + ".env");
  }

  /// A variable may be defined again by what it was before: "$(PATH):/more".
  void hidden_variables(const Value& variables, const std::string& field) {
    std::set<std::string_view> names;
    for (size_t i = 0; i < variables.size(); ++i) {
      const Value& variable = variables[i];
      const std::string_view value = variable["value"].as_string();
      if (names.insert(variable["name"].as_string()).second) continue;
      const std::string reference = "$(" + variable["name"].str() + ")";
      const bool extends =
          variable["valueFrom"].is_null() && value != reference && value.find(reference) != std::string_view::npos;
      if (extends) continue;
      add(at(field, i), "hides previous definition of " + quoted(variable["name"].as_string()) +
                            ", which may be dropped when using apply");
    }
  }

  struct PortPlace {
    const Value* port;
    std::string field;
  };

  static std::string as_go_prints(const Value& port) {
    return "{Name:" + port["name"].str() + " HostPort:" + std::to_string(port["hostPort"].as_int()) +
           " ContainerPort:" + std::to_string(port["containerPort"].as_int()) + " Protocol:" + port["protocol"].str() +
           " HostIP:" + port["hostIP"].str() + "}";
  }

  /// What is said of a port beside an earlier one with the same number; "": nothing.
  static std::string_view relation(const Value& port, const Value& other) {
    const bool same_address = port["hostIP"].as_string() == other["hostIP"].as_string();
    const int64_t mine = port["hostPort"].as_int();
    const int64_t theirs = other["hostPort"].as_int();
    if (same_address && mine == theirs) return "duplicate";
    if (mine == 0 || theirs == 0) return "overlapping";
    const bool one_anywhere = port["hostIP"].is_empty() != other["hostIP"].is_empty();
    return mine == theirs && one_anywhere ? "dangerously ambiguous" : "";
  }

  void ports() {
    std::map<std::pair<int64_t, std::string_view>, std::vector<PortPlace>> known;
    each_container([&](const Value& container, const std::string& field) {
      const Value& list = container["ports"];
      for (size_t i = 0; i < list.size(); ++i) {
        const Value& port = list[i];
        const std::string here = at(field + ".ports", i);
        if (!port["hostIP"].is_empty() && port["hostPort"].as_int() == 0) {
          add(here, "hostIP set without hostPort: " + as_go_prints(port));
        }
        auto& others = known[{port["containerPort"].as_int(), port["protocol"].as_string()}];
        if (full()) return;
        for (const PortPlace& other : others) {
          const std::string_view how = relation(port, *other.port);
          if (!how.empty()) add(here, std::string{how} + " port definition with " + other.field);
        }
        if (others.size() < kMostCompared) others.push_back({&port, here});
      }
    });
  }

  /// Services and probes find a port by its name in any of the containers.
  void port_names() {
    std::map<std::string_view, std::string> known;
    each_container([&](const Value& container, const std::string& field) {
      const Value& list = container["ports"];
      for (size_t i = 0; i < list.size() && !full(); ++i) {
        const std::string_view name = list[i]["name"].as_string();
        if (name.empty()) continue;
        const std::string here = at(field + ".ports", i);
        const auto [other, first] = known.emplace(name, here);
        if (first) continue;
        add(here, "duplicate port name " + quoted(name) + " with " + other->second +
                      ", services and probes that select ports by name will use " + other->second);
      }
    });
  }

  void addresses() {
    std::vector<std::string> found;
    const Value& servers = spec_["dnsConfig"]["nameservers"];
    for (size_t i = 0; i < servers.size(); ++i) {
      warn_of_ip(at(field_ + ".dnsConfig.nameservers", i), servers[i].as_string(), found);
    }
    const Value& aliases = spec_["hostAliases"];
    for (size_t i = 0; i < aliases.size() && found.size() < kMostWarnings; ++i) {
      warn_of_ip(at(field_ + ".hostAliases", i) + ".ip", aliases[i]["ip"].as_string(), found);
    }
    for (std::string& line : found) add_line(std::move(line));
  }

  void affinity_selectors(const char* type) {
    const Value& affinity = spec_["affinity"][type];
    if (affinity.is_null()) return;
    const std::string field = field_ + ".affinity." + type + ".";
    for (size_t i = 0; i < affinity[kRequiredTerms].size(); ++i) {
      if (!affinity[kRequiredTerms][i]["labelSelector"].is_null()) continue;
      add(at(field + kRequiredTerms, i) + ".labelSelector", kNullSelector);
    }
    for (size_t i = 0; i < affinity[kPreferredTerms].size(); ++i) {
      if (!affinity[kPreferredTerms][i]["podAffinityTerm"]["labelSelector"].is_null()) continue;
      add(at(field + kPreferredTerms, i) + ".podAffinityTerm.labelSelector", kNullSelector);
    }
  }

  const Value& spec_;
  const Value& annotations_;
  const std::string metadata_field_;
  const std::string field_;
  const bool in_template_;
  std::vector<std::string>& warnings_;
};

/// What keeps the name from being a DNS label, as Go prints a list.
std::string label_problems(std::string_view name) {
  std::string problems;
  if (name.size() > 63) problems = "must be no more than 63 characters";
  const bool dotted = name.find('.') != std::string_view::npos && !subdomain_problem(name);
  if (dotted) problems += std::string{problems.empty() ? "" : " "} + "must not contain dots";
  return problems;
}

void warn_of_name(const Value& object, std::string_view use, std::vector<std::string>& warnings) {
  const std::string problems = label_problems(object["metadata"]["name"].as_string());
  if (problems.empty()) return;
  warnings.push_back("metadata.name: this is used in " + std::string{use} +
                     ", which can result in surprising behavior; a DNS label is recommended: [" + problems + "]");
}

}  // namespace

void warn_of_new_pod(const Value& pod, std::vector<std::string>& warnings) { PodWarnings{pod, "", warnings}.gather(); }

void warn_of_pod_template(const Value& pod, const std::string& field, std::vector<std::string>& warnings) {
  PodWarnings{pod, field, warnings}.gather();
}

void warn_of_host_name(const Value& pod, std::vector<std::string>& warnings) {
  warn_of_name(pod, "the Pod's hostname", warnings);
}

void warn_of_pod_names(const Value& object, std::vector<std::string>& warnings) {
  warn_of_name(object, "Pod names and hostnames", warnings);
}

}  // namespace shiplog::api
