#pragma once

#include <memory>
#include <string>
#include <utility>

#include "services/http/server.h"

// A server of the tests, and what it answers.
namespace shiplog::testing {

using Writer = std::shared_ptr<ResponseWriter>;

inline std::unique_ptr<HttpServer> serve(HttpServer::Handler handler, HttpServer::Options options = {}) {
  options.refusal = [](const HttpRequest& request, int status, const std::string& message) {
    return HttpResponse{status,
                        {{"Content-Type", "application/json"}},
                        "{\"path\":\"" + request.path + "\",\"message\":\"" + message + "\"}"};
  };
  return HttpServer::start(std::move(options), std::move(handler)).value();
}

inline void answer_with_path(const HttpRequest& request, const Writer& writer) {
  writer->send({200, {{"Content-Type", "text/plain"}}, request.method + " " + request.path + " " + request.body});
}

}  // namespace shiplog::testing
