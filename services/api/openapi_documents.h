#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "events/kinds/kinds.h"
#include "services/api/aggregation/aggregated_versions.h"

namespace shiplog::api {

/// A document as it is sent.
struct ApiDocument {
  std::string body;
  std::string hash;  ///< of the body: changes exactly when it does
};

/// OpenAPI in all its forms. What is written once is kept until one of the kinds it is about changes: the whole takes a
/// processor a few hundred milliseconds, one group a few.
/// Threads: any; the first call after a change writes while others wait.
class OpenApiDocuments {
 public:
  using Ptr = std::shared_ptr<const ApiDocument>;

  /// What is described: kinds that are served here, and the documents of what other servers serve.
  struct Described {
    std::shared_ptr<const Kinds> kinds;
    std::shared_ptr<const AggregatedVersions> remote = nullptr;  ///< nullptr: nothing
  };

  /// GET /openapi/v3: which documents there are, each with its hash (OA-9).
  Ptr index(const Described& described);
  /// GET /openapi/v3/KEY; `key` is "api/v1" or "apis/apps/v1". nullptr: unknown.
  Ptr version3(const Described& described, std::string_view key);
  /// GET /openapi/v2, of all kinds.
  Ptr version2(const Described& described, bool protobuf);

 private:
  using RemoteParts = std::map<std::string, std::shared_ptr<const RemoteOpenApi>, std::less<>>;  // by key
  struct Part {
    std::string group, version;
    std::vector<std::shared_ptr<const Kind>> kinds;
    Ptr three;                       // when written
    std::string definitions, paths;  // of version 2, in protobuf, when written
  };
  void take(const Described& described);
  void take_kinds(const std::shared_ptr<const Kinds>& kinds);
  Value swagger_of_kinds() const;
  static const Ptr& three(const Kinds& kinds, Part& part);

  std::mutex mutex_;
  std::shared_ptr<const Kinds> made_for_;
  std::shared_ptr<const AggregatedVersions> seen_remote_;
  std::map<std::string, Part, std::less<>> parts_;  // by key
  RemoteParts remote_;
  Ptr index_, json_, protobuf_;
};

}  // namespace shiplog::api
