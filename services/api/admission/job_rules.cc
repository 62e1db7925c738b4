#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "events/base/names.h"
#include "events/base/utf8.h"
#include "events/state/policy.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/pod_rules.h"
#include "services/api/admission/pod_warnings.h"
#include "services/api/admission/rules.h"
#include "services/cron/cron_schedule.h"

// Jobs and CronJobs. Source: CRU-8 to CRU-10; pkg/apis/batch/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

/// Defaults of a JobSpec. Its selector and the labels that go with it follow when the job has its uid:
/// generate_job_selector.
void fill_job_spec(Value& spec) {
  if (spec["completions"].is_null() && spec["parallelism"].is_null()) spec.set("completions", 1);
  if (spec["backoffLimit"].is_null()) spec.set("backoffLimit", 6);
  if (spec["completionMode"].is_null()) spec.set("completionMode", "NonIndexed");
  if (spec["suspend"].is_null()) spec.set("suspend", false);
  if (spec["parallelism"].is_null()) spec.set("parallelism", 1);
  if (spec["podReplacementPolicy"].is_empty()) {
    spec.set("podReplacementPolicy", spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  }
  if (Value* pod = template_spec(spec)) fill_pod_spec(*pod);
}

void fill_job(Value& object, const Write&) {
  if (object["spec"].is_object()) fill_job_spec(object.edit("spec"));
}

constexpr size_t kLongestJobName = 63;  // a label of its pods
constexpr size_t kMostPolicyRules = 20;
constexpr size_t kMostExitCodes = 255;

/// When a pod's container ended with some code. `pod`: the template's PodSpec.
void check_exit_codes(const Value& codes, const Value& pod, const std::string& field, Causes& causes) {
  const Value& op = codes["operator"];
  if (op.is_empty()) {
    causes.required(field + ".operator", "valid values: [\"In\" \"NotIn\"]");
  } else {
    check_one_of(op, field + ".operator", {"In", "NotIn"}, causes);
  }
  if (const Value& name = codes["containerName"]; !name.is_null()) {
    const auto has = [&](const char* list) {
      return std::ranges::any_of(pod[list].items(), [&](const Value& each) { return each["name"] == name; });
    };
    if (!has("containers") && !has("initContainers")) {
      causes.invalid(field + ".containerName", name,
                     "must be one of the container or initContainer names in the pod template");
    }
  }
  const Value& values = codes["values"];
  const std::string here = field + ".values";
  if (values.size() == 0) causes.invalid(here, values, "at least one value is required");
  if (values.size() > kMostExitCodes) causes.too_many(here, values.size(), kMostExitCodes);
  std::set<int64_t> known;
  bool ordered = true;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t code = values[i].as_int();
    if (op.as_string() == "In" && code == 0)
      causes.invalid(at(here, i), values[i], "must not be 0 for the In operator");
    if (!known.insert(code).second) causes.duplicate(at(here, i), values[i]);
    ordered = ordered && code == *known.rbegin();
  }
  if (!ordered) causes.invalid(here, values, "must be ordered");
}

void check_condition_patterns(const Value& patterns, const std::string& field, Causes& causes) {
  if (patterns.size() > kMostPolicyRules) causes.too_many(field, patterns.size(), kMostPolicyRules);
  for (size_t i = 0; i < patterns.size(); ++i) {
    const std::string_view type = patterns[i]["type"].as_string();
    if (const auto problem = qualified_name_problem(type)) {
      causes.invalid(at(field, i) + ".type", Value{type}, *problem);
    }
    const Value& status = patterns[i]["status"];
    if (status.is_empty()) {
      causes.required(at(field, i) + ".status", "valid values: [\"False\" \"True\" \"Unknown\"]");
    } else {
      check_one_of(status, at(field, i) + ".status", {"False", "True", "Unknown"}, causes);
    }
  }
}

/// What becomes of the job when one of its pods fails.
void check_failure_policy(const Value& spec, const std::string& field, Causes& causes) {
  const Value& rules = spec["podFailurePolicy"]["rules"];
  if (rules.size() > kMostPolicyRules) return causes.too_many(field + ".rules", rules.size(), kMostPolicyRules);
  for (size_t i = 0; i < rules.size(); ++i) {
    const Value& rule = rules[i];
    const std::string here = at(field + ".rules", i);
    const Value& action = rule["action"];
    if (action.is_empty()) {
      causes.required(here + ".action", "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    } else if (action.as_string() != "FailIndex") {
      check_one_of(action, here + ".action", {"Count", "FailIndex", "FailJob", "Ignore"}, causes);
    } else if (spec["backoffLimitPerIndex"].is_null()) {
      causes.invalid(here + ".action", action, "requires the backoffLimitPerIndex to be set");
    }
    const Value& codes = rule["onExitCodes"];
    const Value& patterns = rule["onPodConditions"];
    if (!codes.is_null()) check_exit_codes(codes, spec["template"]["spec"], here + ".onExitCodes", causes);
    check_condition_patterns(patterns, here + ".onPodConditions", causes);
    if (codes.is_null() == (patterns.size() == 0)) {
      const char* which = codes.is_null() ? "one of OnExitCodes and OnPodConditions is required"
                                          : "both OnExitCodes and OnPodConditions is not supported";
      causes.add({here, "FieldValueInvalid", std::string{"Invalid value: specifying "} + which});
    }
  }
}

std::optional<int64_t> index_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string not_increasing(int64_t previous, int64_t current) {
  return "non-increasing order, previous: " + std::to_string(previous) + ", current: " + std::to_string(current);
}

/// "3-5" or "7", or what is wrong with it.
struct IndexInterval {
  int64_t first = 0;
  int64_t last = 0;
  Problem problem = std::nullopt;
};

IndexInterval read_interval(std::string_view text, int64_t completions) {
  IndexInterval read;
  const size_t dash = std::min(text.find('-'), text.size());
  const bool single = dash == text.size();
  const std::string_view behind = single ? text : text.substr(dash + 1);
  if (!single && behind.find('-') != std::string_view::npos) {
    read.problem = "the fragment " + quoted(text) +
                   " violates the requirement that an index interval can have at most two parts separated by '-'";
    return read;
  }
  for (const auto& [part, number] : {std::pair{text.substr(0, dash), &read.first}, std::pair{behind, &read.last}}) {
    const auto parsed = index_number(part);
    if (!parsed) {
      read.problem = "cannot convert string to integer for index: " + quoted(part);
    } else if (*parsed >= completions) {
      read.problem = "too large index: " + quoted(part);
    }
    if (read.problem) return read;
    *number = *parsed;
  }
  if (!single && read.first >= read.last) read.problem = not_increasing(read.first, read.last);
  return read;
}

/// How many indexes are in a list ("1,3-5,7"), or what is wrong with it.
struct CompletedIndexes {
  int64_t count = 0;
  Problem problem = std::nullopt;
};

CompletedIndexes read_indexes(std::string_view text, int64_t completions) {
  CompletedIndexes read;
  int64_t last = -1;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    IndexInterval interval = read_interval(text.substr(begin, end - begin), completions);
    if (!interval.problem && interval.first <= last) interval.problem = not_increasing(last, interval.first);
    if (interval.problem) return {0, std::move(interval.problem)};
    read.count += interval.last - interval.first + 1;
    last = interval.last;
    begin = end + 1;
  }
  return read;
}

/// When an indexed job has succeeded before all of its indexes have.
void check_success_policy(const Value& spec, const std::string& field, Causes& causes) {
  const Value& policy = spec["successPolicy"];
  if (policy.is_null()) return;
  if (spec["completionMode"].as_string() != "Indexed") {
    return causes.invalid(field, policy, "requires indexed completion mode");
  }
  const Value& rules = policy["rules"];
  if (rules.size() == 0) {
    causes.required(field + ".rules", "at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.size() > kMostPolicyRules) return causes.too_many(field + ".rules", rules.size(), kMostPolicyRules);
  const int64_t completions = spec["completions"].as_int();
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string here = at(field + ".rules", i);
    const Value& count = rules[i]["succeededCount"];
    const Value& indexes = rules[i]["succeededIndexes"];
    if (count.is_null() && indexes.is_null()) {
      causes.required(here, "at least one of succeededCount or succeededIndexes must be specified");
    }
    const CompletedIndexes read = read_indexes(indexes.as_string(), completions);
    if (read.problem) {
      causes.invalid(here + ".succeededIndexes", indexes, "error parsing succeededIndexes: " + *read.problem);
    }
    check_not_negative(rules[i], here, {"succeededCount"}, causes);
    if (count.as_int() > completions) {
      causes.invalid(
          here + ".succeededCount", count,
          "must be less than or equal to " + std::to_string(completions) + " (the number of specified completions)");
    }
    if (!indexes.is_null() && count.as_int() > read.count) {
      causes.invalid(here + ".succeededCount", count,
                     "must be less than or equal to " + std::to_string(read.count) +
                         " (the number of indexes in the specified succeededIndexes field)");
    }
  }
}

/// The name of the controller that runs the job: "example.com/controller".
void check_manager(const Value& name, const std::string& field, Causes& causes) {
  constexpr size_t kLongest = 63;
  if (name.is_null()) return;
  const std::string_view text = name.as_string();
  const size_t slash = text.find('/');
  if (text.empty()) return causes.required(field);
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return causes.invalid(field, name, "must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  if (const auto problem = subdomain_problem(text.substr(0, slash))) {
    causes.invalid(field, Value{text.substr(0, slash)}, *problem);
  }
  if (text.size() > kLongest) causes.too_long(field, kLongest);
}

/// The rules of a JobSpec that older builds did not have.
void check_job_values(const Value& spec, const std::string& field, Causes& causes) {
  const bool indexed = spec["completionMode"].as_string() == "Indexed";
  for (const char* name : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (spec[name].is_null()) continue;
    check_not_negative(spec, field, {name}, causes);
    if (!indexed) causes.invalid(field + "." + name, spec[name], "requires indexed completion mode");
  }
  if (!spec["maxFailedIndexes"].is_null() && spec["backoffLimitPerIndex"].is_null()) {
    causes.required(field + ".backoffLimitPerIndex", "when maxFailedIndexes is specified");
  }
  if (indexed && spec["maxFailedIndexes"].as_int() > spec["completions"].as_int()) {
    causes.invalid(field + ".maxFailedIndexes", spec["maxFailedIndexes"], "must be less than or equal to completions");
  }
  check_manager(spec["managedBy"], field + ".managedBy", causes);
  check_failure_policy(spec, field + ".podFailurePolicy", causes);
  check_success_policy(spec, field + ".successPolicy", causes);
  const Value& replacement = spec["podReplacementPolicy"];
  const std::string_view policy = replacement.as_string();
  if (spec["podFailurePolicy"].is_null()) {
    if (!policy.empty() && policy != "Failed" && policy != "TerminatingOrFailed") {
      causes.not_supported(field + ".podReplacementPolicy", replacement, {"Failed", "TerminatingOrFailed"});
    }
    return;
  }
  if (!policy.empty() && policy != "Failed") {
    causes.not_supported(field + ".podReplacementPolicy", replacement, {"Failed"});
  }
  if (const Value& restart = spec["template"]["spec"]["restartPolicy"]; restart.as_string() == "OnFailure") {
    causes.invalid(field + ".template.spec.restartPolicy", restart,
                   "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

/// Whether a job can have these labels from the cluster that runs it: they carry its uid and name.
bool is_generated_label(std::string_view key) {
  return key == "controller-uid" || key == "job-name" || key == "batch.kubernetes.io/controller-uid" ||
         key == "batch.kubernetes.io/job-name";
}

/// The selector of a new job: its own, or one that would have to be generated.
void check_job_selector(const Value& spec, Causes& causes) {
  const Value& selector = spec["selector"];
  if (selector.is_null()) {
    if (spec["manualSelector"].as_bool()) causes.required("spec.selector");
    return;
  }
  check_selector(selector, "spec.selector", causes);
  const auto parsed = label_selector_from(selector);
  if (!parsed.valid) return;
  if (spec["manualSelector"].as_bool()) {
    const Value& labels = spec["template"]["metadata"]["labels"];
    if (parsed.matches(labels)) return;
    return causes.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`");
  }
  const bool generated = std::all_of(parsed.requirements.begin(), parsed.requirements.end(), [](const auto& each) {
    return is_generated_label(each.key) || each.op == "NotIn" || each.op == "DoesNotExist";
  });
  if (!generated) causes.invalid("spec.selector", selector, "`selector` not auto-generated");
}

void check_job_spec(const Value& spec, const Value& old, const std::string& field, Causes& causes) {
  check_not_negative(spec, field,
                     {"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"},
                     causes);
  check_pod_template(spec["template"], old["template"], field + ".template", causes);
  if (spec["template"]["spec"]["restartPolicy"].as_string() == "Always") {  // the default: jobs have none
    causes.required(field + ".template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"");
  }
  const std::string_view mode = spec["completionMode"].as_string();
  if (mode != "NonIndexed" && mode != "Indexed" && !mode.empty()) {
    causes.not_supported(field + ".completionMode", spec["completionMode"], {"Indexed", "NonIndexed"});
  }
  if (mode == "Indexed" && spec["completions"].is_null()) {
    causes.required(field + ".completions", "when completion mode is Indexed");
  }
  const auto check = [&](const Value& each, Causes& found) { check_job_values(each, field, found); };
  check_new(spec, old, check, causes);
}

void take_from(const Value& from, const char* name, Value& to) {
  to.erase(name);
  if (const Value* value = from.find(name)) to.set(name, *value);
}

/// What the template of a suspended job may become: `now` where it may differ from `before`, which is where its pods
/// run and what resources they have.
Value allowed_template(Value before, const Value& now) {
  if (!before["metadata"].is_object()) before.set("metadata", Value::object());
  for (const char* name : {"labels", "annotations"}) take_from(now["metadata"], name, before.edit("metadata"));
  if (now["metadata"].is_null() && before["metadata"].size() == 0) before.erase("metadata");
  if (!before["spec"].is_object()) return before;
  Value& spec = before.edit("spec");
  for (const char* name : {"nodeSelector", "tolerations", "schedulingGates"}) take_from(now["spec"], name, spec);
  if (!spec["affinity"].is_object()) spec.set("affinity", Value::object());
  take_from(now["spec"]["affinity"], "nodeAffinity", spec.edit("affinity"));
  if (spec["affinity"].size() == 0 && now["spec"]["affinity"].is_null()) spec.erase("affinity");
  for (const char* list : {"containers", "initContainers"}) {
    const Value& containers = now["spec"][list];
    if (containers.size() == 0 || containers.size() != spec[list].size()) continue;
    auto&& items = spec.edit(list).edit_items();
    for (size_t i = 0; i < containers.size(); ++i) {
      if (items[i]["name"] == containers[i]["name"]) take_from(containers[i], "resources", items[i]);
    }
  }
  return before;
}

void check_job_template(const Value& now, const Write& write, Causes& causes) {
  const Value& old = old_of(write)["spec"];
  if (now == old["template"]) return;
  Value before = defaulted_old(write)["spec"]["template"];
  if (before["spec"].is_object()) fill_pod_spec(before.edit("spec"));
  const bool suspended = old["suspend"].as_bool();
  if (suspended ? allowed_template(before, now) == now : before == now) return;
  if (!suspended) return causes.invalid("spec.template", now, "field is immutable");
  causes.invalid("spec.template.spec", now["spec"], "field is immutable");
}

void check_job(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_job_spec(spec, old_of(write)["spec"], "spec", causes);
  if (write.old == nullptr) {
    check_job_selector(spec, causes);
    const Value& name = object["metadata"]["name"];  // becomes a label: generate_job_selector
    if (!spec["manualSelector"].as_bool() && name.as_string().size() > kLongestJobName) {
      causes.invalid("spec.template.labels", name, "must be no more than 63 characters");
    }
  } else if (spec["manualSelector"].as_bool() && spec["selector"].is_null()) {
    causes.required("spec.selector");
  }
  for (const char* name :
       {"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    check_immutable(object, write, name, causes);
  }
  // An indexed job may grow and shrink.
  if (spec["completionMode"].as_string() != "Indexed") check_immutable(object, write, "completions", causes);
  if (write.old != nullptr) check_job_template(spec["template"], write, causes);
}

void fill_cron_job(Value& object, const Write&) {
  if (!object["spec"]["jobTemplate"]["spec"].is_object()) return;
  Value& job = object.edit("spec").edit("jobTemplate").edit("spec");
  if (Value* pod = template_spec(job)) fill_pod_spec(*pod);
}

void check_schedule(const Value& spec, const Value& before, Causes& causes) {
  const Value& schedule = spec["schedule"];
  const std::string_view text = schedule.as_string();
  if (text.empty()) {
    causes.required("spec.schedule");
  } else if (schedule != before["schedule"]) {
    constexpr std::string_view kZone = "TZ";
    if (const auto parsed = cron::CronSchedule::parse(text); !parsed) {
      causes.invalid("spec.schedule", schedule, parsed.error().message);
    }
    if (text.find(kZone) != std::string_view::npos &&
        before["schedule"].as_string().find(kZone) == std::string_view::npos) {
      causes.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    }
  }
  const Value& zone = spec["timeZone"];
  if (zone.is_null() || zone == before["timeZone"]) return;
  if (const auto problem = cron::time_zone_problem(zone.as_string())) causes.invalid("spec.timeZone", zone, *problem);
}

void check_cron_job(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& before = old_of(write)["spec"];
  check_schedule(spec, before, causes);
  const std::string_view policy = spec["concurrencyPolicy"].as_string();
  if (policy != "Allow" && policy != "Forbid" && policy != "Replace") {
    causes.not_supported("spec.concurrencyPolicy", spec["concurrencyPolicy"], {"Allow", "Forbid", "Replace"});
  }
  check_not_negative(spec, "spec", {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"},
                     causes);
  const Value& job = spec["jobTemplate"]["spec"];
  const Value& job_before = before["jobTemplate"]["spec"];
  check_job_spec(job, job_before, "spec.jobTemplate.spec", causes);
  if (!job["selector"].is_null() && job["selector"] != job_before["selector"]) {
    causes.invalid("spec.jobTemplate.spec.selector", job["selector"], "`selector` will be auto-generated");
  }
  if (job["manualSelector"].as_bool() && !job_before["manualSelector"].as_bool()) {
    causes.not_supported("spec.jobTemplate.spec.manualSelector", job["manualSelector"], {"nil", "false"});
  }
  if (write.old == nullptr && object["metadata"]["name"].as_string().size() > 52) {
    causes.invalid("metadata.name", object["metadata"]["name"], "must be no more than 52 characters");
  }
}

void check_uncounted(const Value& status, Causes& causes) {
  std::set<std::string_view> known;
  for (const char* list : {"succeeded", "failed"}) {
    const Value& pods = status["uncountedTerminatedPods"][list];
    for (size_t i = 0; i < pods.size(); ++i) {
      const std::string field = at(std::string{"status.uncountedTerminatedPods."} + list, i);
      if (pods[i].is_empty()) {
        causes.invalid(field, pods[i], "must not be empty");
      } else if (!known.insert(pods[i].as_string()).second) {
        causes.duplicate(field, pods[i]);
      }
    }
  }
}

/// What newer versions require besides is left to the members, whose versions differ.
void check_job_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    check_not_negative(status, "status", {"active", "succeeded", "failed", "ready", "terminating"}, found);
    check_uncounted(status, found);
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
}

/// `field`: of the JobSpec, "spec".
void warn_of_job_spec(const Value& job, const std::string& field, std::vector<std::string>& warnings) {
  constexpr int64_t kManyCompletions = 100'000;
  constexpr int64_t kManyPods = 10'000;
  if (job["completionMode"].as_string() == "Indexed" && job["completions"].as_int() > kManyCompletions &&
      job["parallelism"].as_int() > kManyPods) {
    warnings.push_back(field +
                       ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
                       "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes "
                       "fail");
  }
  warn_of_pod_template(job["template"], field + ".template", warnings);
}

void warn_of_job(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  if (write.old == nullptr) warn_of_pod_names(object, warnings);
  if (object["spec"] != old_of(write)["spec"]) warn_of_job_spec(object["spec"], "spec", warnings);
}

void warn_of_cron_job(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  const Value& spec = object["spec"];
  if (write.old == nullptr) warn_of_pod_names(object, warnings);
  if (spec != old_of(write)["spec"]) {
    warn_of_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", warnings);
  }
  if (write.old != nullptr && spec["schedule"].as_string().find("TZ") != std::string_view::npos) {
    warnings.emplace_back(
        "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
  }
}

}  // namespace

const std::vector<Rules>& job_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "jobs.batch",
       .fill = fill_job,
       .check = check_job,
       .warn = warn_of_job,
       .check_status = check_job_status},
      {.type = "cronjobs.batch", .fill = fill_cron_job, .check = check_cron_job, .warn = warn_of_cron_job},
  };
  return kRules;
}

}  // namespace shiplog::api
