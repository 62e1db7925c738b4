#include "services/api/pipeline/stamped_writer.h"

#include <utility>

#include "events/base/ids.h"
#include "events/base/utf8.h"
#include "services/http/gzip.h"

namespace shiplog::api {
namespace {

class StampedWriter final : public ResponseWriter {
 public:
  StampedWriter(std::shared_ptr<ResponseWriter> writer, std::string audit_id, bool takes_gzip)
      : writer_{std::move(writer)}, audit_id_{std::move(audit_id)}, takes_gzip_{takes_gzip} {}

  void send(HttpResponse response) override {
    stamp(response.status, response.headers);
    if (takes_gzip_ && response.body.size() > kWorthCompressing && !response.headers.contains("Content-Encoding")) {
      response.body = gzip(response.body);
      response.headers.add("Content-Encoding", "gzip");
      const std::string vary{response.headers.get("Vary")};
      response.headers.set("Vary", vary.empty() ? "Accept-Encoding" : vary + ", Accept-Encoding");
    }
    writer_->send(std::move(response));
  }
  void start(int status, HttpHeaders headers) override {
    stamp(status, headers);
    writer_->start(status, std::move(headers));
  }
  void write(std::string chunk, Done done) override { writer_->write(std::move(chunk), std::move(done)); }
  void end() override { writer_->end(); }
  void upgrade(HttpHeaders headers, Upgraded then) override {
    stamp(101, headers);
    writer_->upgrade(std::move(headers), std::move(then));
  }
  void on_close(std::function<void()> callback) override { writer_->on_close(std::move(callback)); }
  bool closed() const override { return writer_->closed(); }

 private:
  static constexpr size_t kWorthCompressing = 128 * 1024;  // as in kube-apiserver (HTTP-10)

  void stamp(int status, HttpHeaders& headers) const {
    headers.set("Audit-Id", audit_id_);
    if (!headers.contains("Cache-Control")) headers.add("Cache-Control", "no-cache, private");
    if (status >= 400) headers.set("X-Content-Type-Options", "nosniff");
  }

  std::shared_ptr<ResponseWriter> writer_;
  std::string audit_id_;
  bool takes_gzip_;
};

}  // namespace

std::string audit_id_of(const HttpRequest& request, Random& random) {
  constexpr size_t kLongest = 256;
  const std::string* given = request.headers.find("Audit-Id");
  const bool usable = given != nullptr && !given->empty() && given->size() <= kLongest && is_utf8(*given);
  return usable ? *given : uid_from(new_entry_id(random), 0);
}

std::shared_ptr<ResponseWriter> stamped(std::shared_ptr<ResponseWriter> writer, const HttpRequest& request,
                                        const std::string& audit_id) {
  return std::make_shared<StampedWriter>(std::move(writer), audit_id,
                                         takes_gzip(request.headers.get("Accept-Encoding")));
}

}  // namespace shiplog::api
