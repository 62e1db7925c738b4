#include "services/api/pod_security/levels.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace shiplog::api {
namespace {

constexpr std::string_view kPrefix = "pod-security.kubernetes.io/";

std::optional<PodSecurityLevel> level_named(std::string_view name) {
  if (name == "privileged") return PodSecurityLevel::kPrivileged;
  if (name == "baseline") return PodSecurityLevel::kBaseline;
  if (name == "restricted") return PodSecurityLevel::kRestricted;
  return std::nullopt;
}

std::optional<int> minor_of(std::string_view version) {
  constexpr std::string_view kMajor = "v1.";
  if (version == "latest") return PodSecurityStandard::kLatest;
  if (!version.starts_with(kMajor)) return std::nullopt;
  const std::string_view digits = version.substr(kMajor.size());
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  int minor = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), minor);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || minor < 0) return std::nullopt;
  return minor;
}

/// The labels of one mode, such as "enforce" and "enforce-version".
class ModeLabels {
 public:
  ModeLabels(const Value& labels, std::string_view mode, std::vector<PodSecurityProblem>& problems)
      : labels_{labels}, mode_{mode}, problems_{problems} {}

  bool has_level() const { return labels_.contains(std::string{kPrefix} + mode_); }
  bool has_version() const { return labels_.contains(std::string{kPrefix} + mode_ + "-version"); }

  /// False: the level cannot be read.
  bool read(PodSecurityStandard& standard, PodSecurityLevel otherwise) {
    bool readable = true;
    if (const Value* given = labels_.find(std::string{kPrefix} + mode_)) {
      const auto level = level_named(given->as_string());
      if (!level) report(mode_, *given, "must be one of privileged, baseline, restricted");
      readable = level.has_value();
      standard.level = level.value_or(otherwise);
    }
    if (const Value* given = labels_.find(std::string{kPrefix} + mode_ + "-version")) {
      const auto minor = minor_of(given->as_string());
      if (!minor) report(mode_ + "-version", *given, R"(must be "latest" or "v1.x")");
      standard.minor = minor.value_or(PodSecurityStandard::kLatest);
    }
    return readable;
  }

 private:
  void report(const std::string& label, const Value& value, const char* message) {
    problems_.push_back({std::string{kPrefix} + label, value, message});
  }

  const Value& labels_;
  std::string mode_;
  std::vector<PodSecurityProblem>& problems_;
};

}  // namespace

std::string PodSecurityStandard::text() const {
  const char* name = level == PodSecurityLevel::kPrivileged ? "privileged"
                     : level == PodSecurityLevel::kBaseline ? "baseline"
                                                            : "restricted";
  return std::string{name} + ":" + (minor == kLatest ? "latest" : "v1." + std::to_string(minor));
}

std::pair<PodSecurityPolicy, std::vector<PodSecurityProblem>> pod_security_of(const Value& labels) {
  PodSecurityPolicy policy;
  std::vector<PodSecurityProblem> problems;
  ModeLabels enforce{labels, "enforce", problems};
  ModeLabels audit{labels, "audit", problems};
  ModeLabels warn{labels, "warn", problems};
  const bool enforces = enforce.read(policy.enforce, PodSecurityLevel::kRestricted) && enforce.has_level();
  audit.read(policy.audit, PodSecurityLevel::kPrivileged);
  warn.read(policy.warn, PodSecurityLevel::kPrivileged);
  // What is enforced is warned about, too: templates are never refused.
  if (!warn.has_level() && enforces && policy.enforce.level > policy.warn.level) {
    policy.warn.level = policy.enforce.level;
    if (!warn.has_version()) policy.warn.minor = policy.enforce.minor;
  }
  return {policy, std::move(problems)};
}

}  // namespace shiplog::api
