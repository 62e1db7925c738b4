#pragma once

#include <string>
#include <vector>

#include "events/base/json.h"
#include "tests/contract/contract.h"

// Tests are named after their rule: TEST(Lists, LIST_04_...) tests LIST-4. rules.txt lists all rules; report.cc reports
// which of them have a test, and the results.

namespace shiplog::e2e {

using Names = std::vector<std::string>;

inline const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
inline const std::string kPartial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
inline const std::string kPartialList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
inline const std::string kProtobuf = "application/vnd.kubernetes.protobuf";
inline const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Creates a namespace for the running test and returns its name.
std::string own_namespace();
/// The path of a resource in a namespace: in("x", "pods"), in("x", "deployments", "apps/v1").
std::string in(const std::string& ns, const std::string& resource, const std::string& group_version = "v1");

/// The collection of a custom resource in `ns`: Widget of conformance.example.com/v1, defined at the first call. It
/// has status and scale, columns, a default, and lists and maps of each type.
std::string widgets_in(const std::string& ns);
Value widget(const std::string& name, const std::string& spec = R"({"size":1})");

/// A request as this user, who has no permissions unless a test grants some.
Answer as(const std::string& user, const std::string& method, const std::string& target, const std::string& body = {},
          HttpHeaders more = {});
Answer apply_to(const std::string& target, const std::string& body, const std::string& query = "fieldManager=one");
/// The same object as a protobuf body.
Answer send_protobuf(const std::string& method, const std::string& target, const Value& object);

/// Sends one request over a new connection, byte by byte as given ("GET /x HTTP/1.1\r\nHost: x\r\n\r\n"), and returns
/// all bytes that the server sends. "Connection: close" is added to the head.
std::string send_raw(std::string head, const std::string& body = {});
/// The value of a header in such a response; empty if it does not exist.
std::string header_of(const std::string& response, const std::string& name);

std::string version_of(const Answer& answer);
std::string version_of(const Value& object);
std::string uid_of(const Answer& answer);
/// Names of the items of a list.
Names names_of(const Answer& list);
/// Names of a table's columns; those shown only with -o wide end in "*".
Names columns_of(const Answer& table);
/// "ADDED name" of each event; a bookmark has no name.
Names news_of(const WatchStream& watch);
/// The element of a list with this name.
Value named(const Value& list, const std::string& name, const char* key = "name");
Names texts_of(const Value& list);
bool has_text(const Value& list, const std::string& text);
/// All fields of the causes in an answer.
Names fields_of(const Answer& failure);
/// The Warning headers.
Names warnings_of(const Answer& answer);

/// Deletes with these options as the body.
Answer remove_with(const std::string& target, const std::string& options);
/// An object of any kind, in YAML.
Value yaml(const std::string& text);

}  // namespace shiplog::e2e
