#pragma once

#include <memory>
#include <string>
#include <vector>

#include "services/http/client_target.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "services/programs/member/many/light_member.h"

namespace shiplog::member {

/// Many simulated members in one process, behind one HTTPS server: each one's API is below a path with its name, and at
/// /stats is how many bytes all of them have sent, and requests answered. POST /hang?members=N lets the last N of them
/// hang from then on, and no other.
struct ManyOptions {
  std::string name = "member";  ///< members are called "<name>1", "<name>2", ...
  uint32_t members = 1;
  uint32_t nodes = 3, pods = 0;  ///< of each
  double churn = 0;              ///< pods of each that are replaced, per second
  uint32_t hanging = 0;          ///< so many of them, the last ones, take requests and never answer
  Millis ready_delay{500};
  HttpServer::Options server = {};
  std::string ca_pem = {};  ///< of the server's certificate
  std::string token = {};   ///< of every client
};

class ManyMembers {
 public:
  /// Listens. `loop` outlives it, and has ended before it is destroyed or never runs again. Error: kIo.
  static Result<std::unique_ptr<ManyMembers>> start(const ManyOptions& options, Executor& loop);
  ~ManyMembers();

  /// "member1", "https://127.0.0.1:7443/member1", ...
  std::vector<std::pair<std::string, ClientTarget>> targets() const;
  void stop(Millis deadline) { server_->stop(deadline); }

 private:
  explicit ManyMembers(ManyOptions options, Executor& loop);
  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) const;
  void tick();

  const ManyOptions options_;
  Executor& loop_;
  std::vector<std::shared_ptr<LightMember>> members_;
  double owed_ = 0;  // pods to be replaced
  uint64_t ticks_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<HttpServer> server_;
};

}  // namespace shiplog::member
