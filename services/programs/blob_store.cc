#include <filesystem>
#include <future>
#include <utility>

#include "services/http/client.h"
#include "services/http/private_file.h"
#include "services/programs/snapshot_store.h"

namespace shiplog {
namespace {

namespace fs = std::filesystem;

class FolderBlobs final : public BlobStore {
 public:
  explicit FolderBlobs(std::string folder) : folder_{std::move(folder)} {}

  Result<void> put(const std::string& name, std::string bytes) override {
    std::error_code failed;
    fs::create_directories(fs::path{path(name)}.parent_path(), failed);
    if (failed) return Error{ErrorCode::kIo, "cannot make the folder of " + path(name) + ": " + failed.message()};
    return write_private_file(path(name), bytes);
  }
  Result<std::string> get(const std::string& name) override { return read_file(path(name)); }
  void remove(const std::string& name) override {
    std::error_code none;
    fs::remove(path(name), none);
  }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  const std::string folder_;
};

class HttpBlobs final : public BlobStore {
 public:
  explicit HttpBlobs(std::unique_ptr<HttpClient> client) : client_{std::move(client)} {}

  Result<void> put(const std::string& name, std::string bytes) override {
    SHIPLOG_TRY(const HttpResponse response, call("PUT", name, std::move(bytes)));
    if (response.status / 100 == 2) return ok();
    return refused("PUT", name, response);
  }
  Result<std::string> get(const std::string& name) override {
    SHIPLOG_TRY(HttpResponse response, call("GET", name, {}));
    if (response.status == 200) return std::move(response.body);
    if (response.status != 404) return refused("GET", name, response);
    return Error{ErrorCode::kNotFound, client_->name() + " has no " + name};
  }
  void remove(const std::string& name) override { static_cast<void>(call("DELETE", name, {})); }

 private:
  static constexpr Millis kTimeout{60'000};

  Result<HttpResponse> call(const std::string& method, const std::string& name, std::string body) {
    HttpRequest request;
    request.method = method;
    request.target = "/" + name;
    request.body = std::move(body);
    // Shared: the client's thread is still inside set_value() when get() returns.
    const auto answer = std::make_shared<std::promise<Result<HttpResponse>>>();
    client_->request(std::move(request), kTimeout,
                     [answer](Result<HttpResponse> response) { answer->set_value(std::move(response)); });
    return answer->get_future().get();
  }
  Error refused(const std::string& method, const std::string& name, const HttpResponse& response) const {
    return {ErrorCode::kUnavailable,
            client_->name() + ": " + method + " " + name + " is answered with " + std::to_string(response.status)};
  }

  std::unique_ptr<HttpClient> client_;
};

}  // namespace

Result<std::unique_ptr<BlobStore>> open_blob_store(const std::string& address) {
  constexpr std::string_view kFile = "file://";
  if (address.starts_with(kFile) && address.size() > kFile.size() && address[kFile.size()] == '/') {
    return std::unique_ptr<BlobStore>{std::make_unique<FolderBlobs>(address.substr(kFile.size()))};
  }
  if (address.starts_with("http://") || address.starts_with("https://")) {
    SHIPLOG_TRY(auto client, HttpClient::create(std::make_shared<IoThreads>(1), {.url = address}));
    return std::unique_ptr<BlobStore>{std::make_unique<HttpBlobs>(std::move(client))};
  }
  return Error{ErrorCode::kInvalid,
               "--snapshot-store=" + address + ": use file:///FOLDER, or http(s)://HOST/PATH of a server with PUT"};
}

}  // namespace shiplog
