#include "services/programs/snapshot_store.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/http/server.h"
#include "services/programs/snapshot_files.h"
#include "tests/support/projected_fleet.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

/// A web server that keeps what it is given.
class WebFolder {
 public:
  std::string url() const { return server_->url() + "/fleet"; }
  size_t count() {
    const std::lock_guard lock{mutex_};
    return files_.size();
  }

 private:
  HttpResponse answer(const HttpRequest& request) {
    const std::lock_guard lock{mutex_};
    if (request.method == "PUT") {
      files_[request.path] = request.body;
      return {201, {}, ""};
    }
    if (request.method == "DELETE") return {files_.erase(request.path) > 0 ? 204 : 404, {}, ""};
    const auto found = files_.find(request.path);
    return found == files_.end() ? HttpResponse{404, {}, ""} : HttpResponse{200, {}, found->second};
  }
  static HttpServer::Options large_bodies() {
    HttpServer::Options options;
    options.refusal = [](const HttpRequest&, int status, const std::string&) { return HttpResponse{status, {}, ""}; };
    options.max_body_bytes = 64 << 20;
    return options;
  }

  std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::unique_ptr<HttpServer> server_ = must(HttpServer::start(
      large_bodies(), [this](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
        writer->send(answer(request));
      }));
};

TEST(SnapshotFiles, DraftsOfProcessesThatHaveEndedAreRemoved) {
  const TestDirectory folder{"drafts"};
  const auto put = [&](const std::string& name, std::chrono::minutes age) {
    std::ofstream{folder.file(name)} << "x";
    std::filesystem::last_write_time(folder.file(name), std::filesystem::file_time_type::clock::now() - age);
  };
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  const std::string old = "draft-" + std::to_string(ended) + ".db";
  const std::string own = std::filesystem::path{snapshot_draft(folder.path(), "draft")}.filename().string();
  for (const std::string& name : {old, old + ".unfinished-journal", "fetched-" + std::to_string(ended) + ".db", own,
                                  std::string{"revision-00000000000000000042.db"}, std::string{"notes.db-1"}}) {
    put(name, std::chrono::minutes{5});
  }
  put("draft-" + std::to_string(ended) + ".db.unfinished", std::chrono::minutes{0});
  remove_abandoned_drafts(folder.path());
  std::set<std::string> left;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) left.insert(file.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{own, "revision-00000000000000000042.db", "notes.db-1", old + ".unfinished"}));
}

class StoredSnapshots : public testing::Test {
 protected:
  VerifiedSnapshot take() {
    fleet_.create(config_map("default", "c" + std::to_string(fleet_.revision().value)), std::string(2000, 'x'));
    const std::string file = fleet_.folder.file("taken.db");
    must(fleet_.projections().snapshot(file));
    return {file, must(Projections::verify_snapshot(file))};
  }
  std::string fetched() const { return fleet_.folder.file("fetched"); }
  /// The same for every kind of store.
  void expect_the_newest_is_fetched(SnapshotStore& store) {
    EXPECT_FALSE(must(store.fetch("journal", fetched(), Offset{0}, Offset{1'000'000})));
    for (int count = 0; count < 3; ++count) must(store.publish("journal", take()));
    const VerifiedSnapshot last = take();
    must(store.publish("journal", last));
    must(store.publish("journal", last));
    const auto found = must(store.fetch("journal", fetched(), Offset{0}, Offset{1'000'000}));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->info.hash, fleet_.state().hash());
    EXPECT_EQ(must(Projections::verify_snapshot(found->file)).revision, fleet_.revision());
    EXPECT_FALSE(must(store.fetch("ephemera", fetched(), Offset{0}, Offset{1'000'000})));
    EXPECT_FALSE(must(store.fetch("journal", fetched(), Offset{last.info.next.value + 1}, Offset{1'000'000})))
        << "it does not reach as far";
  }

  TestFleet fleet_;
};

TEST_F(StoredSnapshots, InAFolder) {
  const std::string folder = fleet_.folder.file("store");
  SnapshotStore store{must(open_blob_store("file://" + folder))};
  expect_the_newest_is_fetched(store);
  size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator{folder + "/journal"}) ++files;
  EXPECT_EQ(files, 3U) << "two snapshots of one part each, and the manifest";
}

TEST_F(StoredSnapshots, OnAWebServer) {
  WebFolder web;
  SnapshotStore store{must(open_blob_store(web.url()))};
  expect_the_newest_is_fetched(store);
  EXPECT_EQ(web.count(), 3U);
}

TEST_F(StoredSnapshots, ADamagedOneIsLeftOutForTheOneBefore) {
  const std::string folder = fleet_.folder.file("store");
  SnapshotStore store{must(open_blob_store("file://" + folder))};
  const VerifiedSnapshot first = take();
  must(store.publish("journal", first));
  const VerifiedSnapshot second = take();
  must(store.publish("journal", second));
  const std::string part = folder + "/journal/" + snapshot_file_name(second.info.revision) + ".part-00000";
  ASSERT_TRUE(std::filesystem::exists(part));
  std::filesystem::resize_file(part, 5000);
  const auto found = must(store.fetch("journal", fetched(), Offset{0}, Offset{1'000'000}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->info.revision, first.info.revision);
  EXPECT_FALSE(std::filesystem::exists(fetched() + "/" + snapshot_file_name(second.info.revision)));
}

TEST(SnapshotStoreAddress, OthersAreRefusedWithWhatThereIs) {
  for (const char* address : {"s3://bucket", "file://relative", "/folder", ""}) {
    const auto opened = open_blob_store(address);
    ASSERT_FALSE(opened) << address;
    EXPECT_NE(opened.error().message.find("file:///FOLDER"), std::string::npos);
  }
}

}  // namespace
}  // namespace shiplog
