#include "tests/conformance/conformance.h"

#include <algorithm>
#include <atomic>

#include "events/base/yaml.h"
#include "events/kinds/protobuf.h"
#include "events/state/condition.h"
#include "tests/contract/raw_connection.h"

namespace shiplog::e2e {
namespace {

const char* const kWidgets = R"(
metadata: {name: widgets.conformance.example.com}
spec:
  group: conformance.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wdg], categories: [conformance]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Applied, type: string, jsonPath: '.status.conditions[?(@.type=="Applied")].status'}
    - {name: Since, type: date, jsonPath: .spec.since}
    - {name: Colour, type: string, priority: 1, jsonPath: .spec.colour}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 0, maximum: 100}
              colour: {type: string, default: red, enum: [red, green]}
              since: {type: string}
              plain: {type: array, items: {type: string}}
              tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, weight: {type: integer}}
              anything: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              size: {type: integer}
              selector: {type: string}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
)";

bool established(const Answer& definition) { return condition_holds(definition.json, "Established"); }

}  // namespace

std::string own_namespace() {
  static std::atomic<int> made{0};
  std::string name = "ns-" + std::to_string(++made);
  const Answer answer =
      api().post("/api/v1/namespaces", Value::object({{"metadata", Value::object({{"name", name}})}}));
  EXPECT_EQ(answer.status, 201) << answer;
  return name;
}

std::string in(const std::string& ns, const std::string& resource, const std::string& group_version) {
  const std::string root = group_version.find('/') == std::string::npos ? "/api/" : "/apis/";
  return root + group_version + "/namespaces/" + ns + "/" + resource;
}

std::string widgets_in(const std::string& ns) {
  static const bool defined = [] {
    const Answer made = api().post(kDefinitions, yaml(kWidgets));
    EXPECT_EQ(made.status, 201) << made;
    return eventually([] { return established(api().get(kDefinitions + "/widgets.conformance.example.com")); });
  }();
  EXPECT_TRUE(defined);
  return in(ns, "widgets", "conformance.example.com/v1");
}

Value widget(const std::string& name, const std::string& spec) {
  return json(R"({"apiVersion":"conformance.example.com/v1","kind":"Widget","metadata":{"name":")" + name +
              R"("},"spec":)" + spec + "}");
}

Answer as(const std::string& user, const std::string& method, const std::string& target, const std::string& body,
          HttpHeaders more) {
  more.add("Impersonate-User", user);
  return api().call(method, target, body, std::move(more));
}

Answer apply_to(const std::string& target, const std::string& body, const std::string& query) {
  return api().call("PATCH", target + "?" + query, body, {{"Content-Type", "application/apply-patch+yaml"}});
}

Answer send_protobuf(const std::string& method, const std::string& target, const Value& object) {
  const auto body = encode_protobuf(Kinds::compiled(), object);
  EXPECT_TRUE(body.has_value()) << (body ? "" : body.error().message);
  if (!body) return {};
  return api().call(method, target, body.value(), {{"Content-Type", kProtobuf}});
}

std::string send_raw(std::string head, const std::string& body) {
  const size_t end = head.find("\r\n\r\n");
  EXPECT_NE(end, std::string::npos) << head;
  head.insert(end, "\r\nConnection: close");
  RawConnection raw{plane().kubeconfig("plane")};
  EXPECT_TRUE(raw.send(head + body));
  return raw.read_until("");
}

std::string header_of(const std::string& response, const std::string& name) {
  size_t begin = response.find("\r\n");
  const size_t head_end = response.find("\r\n\r\n");
  while (begin != std::string::npos && begin < head_end) {
    begin += 2;
    const size_t end = response.find("\r\n", begin);
    const size_t colon = response.find(':', begin);
    if (colon < end && equal_ignoring_case(response.substr(begin, colon - begin), name)) {
      return response.substr(colon + 2, end - colon - 2);
    }
    begin = end;
  }
  return "";
}

std::string version_of(const Answer& answer) { return version_of(answer.json); }
std::string version_of(const Value& object) { return object["metadata"]["resourceVersion"].str(); }
std::string uid_of(const Answer& answer) { return answer.json["metadata"]["uid"].str(); }

Names names_of(const Answer& list) {
  EXPECT_EQ(list.status, 200) << list;
  Names names;
  for (const Value& item : list.json["items"].items()) names.push_back(item["metadata"]["name"].str());
  return names;
}

Names columns_of(const Answer& table) {
  Names names;
  for (const Value& column : table.json["columnDefinitions"].items()) {
    names.push_back(column["name"].str() + (column["priority"].as_int() > 0 ? "*" : ""));
  }
  return names;
}

Names news_of(const WatchStream& watch) {
  Names news;
  for (const Value& event : watch.events()) {
    const std::string name = event["object"]["metadata"]["name"].str();
    news.push_back(event["type"].str() + (name.empty() ? "" : " " + name));
  }
  return news;
}

Value named(const Value& list, const std::string& name, const char* key) {
  for (const Value& item : list.items()) {
    if (item[key].as_string() == name) return item;
  }
  return {};
}

Names texts_of(const Value& list) {
  Names texts;
  for (const Value& item : list.items()) texts.push_back(item.str());
  return texts;
}

bool has_text(const Value& list, const std::string& text) {
  return std::ranges::any_of(list.items(), [&](const Value& item) { return item.as_string() == text; });
}

Names warnings_of(const Answer& answer) {
  Names warnings;
  for (const auto& [name, value] : answer.headers.all()) {
    if (equal_ignoring_case(name, "Warning")) warnings.push_back(value);
  }
  return warnings;
}

Names fields_of(const Answer& failure) {
  Names fields;
  for (const Value& cause : failure.json["details"]["causes"].items()) fields.push_back(cause["field"].str());
  return fields;
}

Answer remove_with(const std::string& target, const std::string& options) {
  return api().call("DELETE", target, options);
}

Value yaml(const std::string& text) {
  auto parsed = parse_yaml(text);
  if (parsed) return std::move(parsed).value();
  ADD_FAILURE() << parsed.error().message << " in " << text;
  return {};
}

}  // namespace shiplog::e2e
