#pragma once

#include <memory>
#include <string>

#include "services/cel/cel_function.h"

namespace shiplog::cel {

/// What an expression asks of the authorizer.
struct CelAccessQuestion {
  std::string service_account_namespace, service_account;  ///< empty: asked for the user of the request
  std::string verb;
  bool is_resource = true;
  std::string path;  ///< of a question that is about no resource
  std::string group, resource, subresource, ns, name;
  bool operator==(const CelAccessQuestion&) const = default;
};

struct CelAccessAnswer {
  bool allowed = false;
  std::string reason;
  std::string error;  ///< empty: none
};

/// Who may do what. It knows the user of the request. Called on the thread of the evaluation.
class CelAuthorizer {
 public:
  CelAuthorizer() = default;
  CelAuthorizer(const CelAuthorizer&) = delete;
  CelAuthorizer& operator=(const CelAuthorizer&) = delete;
  virtual ~CelAuthorizer() = default;
  virtual CelAccessAnswer decide(const CelAccessQuestion& question) const = 0;
};

/// The declared types of the variables `authorizer` and `authorizer.requestResource`.
CelType authorizer_type();
CelType resource_check_type();

/// The value of the variable `authorizer`.
CelValue authorizer_value(std::shared_ptr<const CelAuthorizer> authorizer);
/// The value of `authorizer.requestResource`: group to name of `about` are those of the request.
CelValue request_resource_value(std::shared_ptr<const CelAuthorizer> authorizer, CelAccessQuestion about);

}  // namespace shiplog::cel
