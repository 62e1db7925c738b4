#include <algorithm>
#include <map>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/api/selector/selector.h"

// LIST-5, LIST-6.

namespace shiplog::api {
namespace {

struct Labels {
  std::string_view type;
  std::vector<std::string_view> paths;
};

/// The selectable fields of a kind besides name and namespace.
const std::vector<Labels>& extra_labels() {
  static const std::vector<Labels> kLabels = {
      {"pods",
       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"}},
      {"events",
       {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type"}},
      {"nodes", {"spec.unschedulable"}},
      {"namespaces", {"status.phase"}},
      {"secrets", {"type"}},
      {"services", {"spec.clusterIP", "spec.type"}},
      {"replicasets.apps", {"status.replicas"}},
      {"replicationcontrollers", {"status.replicas"}},
      {"certificatesigningrequests.certificates.k8s.io", {"spec.signerName"}},
      {"jobs.batch", {"status.successful"}},
      {"resourceslices.resource.k8s.io", {"spec.nodeName", "spec.driver"}},
  };
  return kLabels;
}

/// The selectable fields of an Event of events.k8s.io, and where they are in a stored one, which is of core/v1.
const std::map<std::string_view, std::string_view>& event_labels() {
  static const std::map<std::string_view, std::string_view> kLabels = {
      {"regarding.kind", "involvedObject.kind"},
      {"regarding.namespace", "involvedObject.namespace"},
      {"regarding.name", "involvedObject.name"},
      {"regarding.uid", "involvedObject.uid"},
      {"regarding.apiVersion", "involvedObject.apiVersion"},
      {"regarding.resourceVersion", "involvedObject.resourceVersion"},
      {"regarding.fieldPath", "involvedObject.fieldPath"},
      {"reason", "reason"},
      {"reportingController", "reportingComponent"},
      {"type", "type"},
      {"metadata.name", "metadata.name"},
      {"metadata.namespace", "metadata.namespace"},
  };
  return kLabels;
}

bool is_of_definition(const Kind& kind, std::string_view path) {
  return std::ranges::find(kind.selectable_fields, path) != kind.selectable_fields.end();
}

bool is_supported(const Kind& kind, std::string_view path) {
  if (path == "metadata.name" || (path == "metadata.namespace" && kind.namespaced)) return true;
  if (!kind.builtin) return is_of_definition(kind, path);
  const std::string type = kind.type();
  for (const Labels& labels : extra_labels()) {
    if (labels.type == type) return std::find(labels.paths.begin(), labels.paths.end(), path) != labels.paths.end();
  }
  return false;
}

/// Splits at commas that no backslash stands before.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\\') {
      ++i;
    } else if (i == text.size() || text[i] == ',') {
      terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  // A backslash at the very end jumps over it; the rest is still a term.
  if (begin < text.size() && (terms.empty() || terms.back().end() != text.end())) terms.push_back(text.substr(begin));
  return terms;
}

Result<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '\\' && text[i] != ',' && text[i] != '=')) {
        return Error{ErrorCode::kBadRequest,
                     "invalid field selector: invalid escape sequence in value: " + quoted(text)};
      }
    } else if (text[i] == '=') {
      return Error{ErrorCode::kBadRequest, "invalid field selector: unescaped '=' in value: " + quoted(text)};
    }
    plain += text[i];
  }
  return plain;
}

Result<FieldSelector::Term> parse_term(std::string_view text) {
  FieldSelector::Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const size_t length = rest.starts_with("!=") || rest.starts_with("==") ? 2 : rest.starts_with("=") ? 1 : 0;
    if (length == 0) continue;
    term.equal = !rest.starts_with("!=");
    term.path = text.substr(0, i);
    SHIPLOG_TRY(term.value, unescaped(rest.substr(length)));
    return term;
  }
  return Error{ErrorCode::kBadRequest, "invalid selector: " + quoted(text) + "; can't understand " + quoted(text)};
}

const Value& at(const Value& object, std::string_view path) {
  const Value* here = &object;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    here = &(*here)[path.substr(0, dot)];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *here;
}

/// A value as Go prints it; nothing for what is missing.
std::string text_of(const Value& value) {
  if (value.is_string()) return value.str();
  return value.is_bool() || value.is_number() ? to_json(value) : "";
}

/// The text a field is compared by: missing numbers and booleans are what Go's zero value prints as.
std::string text_at(const Value& object, std::string_view path) {
  if (path == "source") {  // of an Event: who reports
    const std::string_view component = object["source"]["component"].as_string();
    return std::string{component.empty() ? object["reportingComponent"].as_string() : component};
  }
  if (path == "status.successful") return std::to_string(object["status"]["succeeded"].as_int());
  if (path == "status.podIPs") return object["status"]["podIPs"][0]["ip"].str();
  const Value& value = at(object, path);
  if (value.is_string() || value.is_bool() || value.is_number()) return text_of(value);
  if (path == "spec.unschedulable" || path == "spec.hostNetwork") return "false";
  if (path == "status.replicas") return "0";
  return "";
}

bool holds(const FieldSelector::Term& term, const Value& object) {
  const std::string text = term.of_definition ? text_of(at(object, term.path)) : text_at(object, term.path);
  return (text == term.value) == term.equal;
}

}  // namespace

bool FieldSelector::matches(const Value& object) const {
  return std::ranges::all_of(terms, [&](const Term& term) { return holds(term, object); });
}

bool FieldSelector::may_match(const Value& object) const {
  return std::ranges::all_of(terms, [&](const Term& term) { return term.of_definition || holds(term, object); });
}

bool FieldSelector::depends_on_version() const {
  return std::ranges::any_of(terms, [](const Term& term) { return term.of_definition; });
}

std::optional<std::string> FieldSelector::name() const {
  for (const Term& term : terms) {
    if (term.path == "metadata.name" && term.equal) return term.value;
  }
  return std::nullopt;
}

Result<FieldSelector> parse_field_selector(std::string_view text, const Kind& kind) {
  FieldSelector selector;
  for (const std::string_view part : split_terms(text)) {
    if (part.empty()) continue;
    SHIPLOG_TRY(auto term, parse_term(part));
    const auto renamed = event_labels().find(term.path);
    const bool newer_event = kind.group == "events.k8s.io" && kind.builtin;
    if (newer_event ? renamed == event_labels().end() : !is_supported(kind, term.path)) {
      return Error{ErrorCode::kBadRequest, "field label not supported: " + printable(term.path, 253)};
    }
    if (newer_event) term.path = renamed->second;
    term.of_definition = is_of_definition(kind, term.path);
    selector.terms.push_back(std::move(term));
  }
  return selector;
}

}  // namespace shiplog::api
