#include "tests/crash/control_plane.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

#include "events/journal/embedded/sqlite_journal.h"
#include "tests/crash/journal_history.h"

namespace shiplog::crash {
namespace {

class EmbeddedJournal final : public JournalUnderTest {
 public:
  explicit EmbeddedJournal(const std::string& folder) : file_{folder + "/journal.db"} {}
  std::string address() const override { return "sqlite:" + file_; }
  Result<std::shared_ptr<Journal>> open() const override {
    SqliteJournalOptions options;
    options.create = false;
    SHIPLOG_TRY(auto journal, open_sqlite_journal(file_, options));
    return std::shared_ptr<Journal>{std::move(journal)};
  }

 private:
  std::string file_;
};

int64_t number_from_environment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

std::vector<ListedObject> listed(const Value& list) {
  std::vector<ListedObject> objects;
  for (const Value& item : list["items"].items()) {
    const Value& metadata = item["metadata"];
    if (!ClientWorkload::is_own(metadata["name"].str())) continue;
    objects.push_back({metadata["name"].str(), metadata["uid"].str(), item["data"]["value"].str(),
                       std::stoull(metadata["resourceVersion"].str())});
  }
  return objects;
}

/// Compares the API's history of one object with the journal's.
void check_history(const e2e::ApiClient& api, const std::string& object, const std::vector<uint64_t>& revisions) {
  const e2e::Answer answer = api.get("/shiplog/v1/history?kind=cm&order=oldest&limit=0&name=" + object);
  std::vector<uint64_t> served;
  for (const Value& item : answer.json["items"].items())
    served.push_back(static_cast<uint64_t>(item["revision"].as_int()));
  EXPECT_EQ(served, revisions) << object << ": " << answer;
}

}  // namespace

JournalUnderTestFactory embedded_journal() {
  return {"embedded", [](const std::string& folder) -> std::unique_ptr<JournalUnderTest> {
            return std::make_unique<EmbeddedJournal>(folder);
          }};
}

CrashControlPlane::ProcessLayout CrashControlPlane::one_process_per_role() {
  ProcessLayout layout = {{"plane", "api"}, {"other", "api"}};
  for (const char* role :
       {"binder", "scheduler", "dispatcher", "distributor", "collector", "taint", "quota", "lifecycle", "control"}) {
    layout[role] = role;
  }
  return layout;
}

CrashControlPlane::CrashControlPlane(const JournalUnderTestFactory& backend, ProcessLayout layout,
                                     std::vector<std::string> options)
    : layout_{std::move(layout)}, options_{std::move(options)} {
  const std::string shared = fleet_.path("shared");
  std::filesystem::create_directories(shared);
  journal_ = backend.make(shared);
  options_.push_back("--journal=" + journal_->address());
  std::ranges::copy(journal_->options(), std::back_inserter(options_));
}

std::vector<std::string> CrashControlPlane::names() const {
  std::vector<std::string> names;
  for (const auto& [name, roles] : layout_) names.push_back(name);
  return names;
}

bool CrashControlPlane::serves_api(const std::string& name) const {
  const std::string& roles = layout_.at(name);
  return roles == "all" || roles.find("api") != std::string::npos;
}

void CrashControlPlane::start(const std::string& name, ClientWorkload* workload, bool wait) {
  std::vector<std::string> options = options_;
  options.push_back("--roles=" + layout_.at(name));
  const bool api = serves_api(name);
  fleet_.serve(name, options, api && wait);
  if (workload != nullptr && api && wait) {
    workload->add_server(name, std::make_shared<e2e::ApiClient>(fleet_.kubeconfig(name)));
  }
}

void CrashControlPlane::start_all(ClientWorkload* workload) {
  for (const auto& [name, roles] : layout_) start(name, workload);
}

void CrashControlPlane::kill(const std::string& name, ClientWorkload* workload) {
  if (workload != nullptr) workload->remove_server(name);
  fleet_.kill(name);
}

void CrashControlPlane::freeze(const std::string& name) { fleet_.process(name).freeze(); }
void CrashControlPlane::thaw(const std::string& name) { fleet_.process(name).thaw(); }

void CrashControlPlane::check(const std::vector<Operation>& operations) {
  const e2e::ApiClient api = fleet_.api();
  const auto opened = journal_->open();
  ASSERT_TRUE(opened) << opened.error().message;
  // Roles may still append entries: compare when no entry was added in between.
  Value state, list;
  JournalHistory history;
  e2e::Ran replay;
  EXPECT_TRUE(e2e::eventually([&] {
    state = api.get("/shiplog/v1/state").json;
    list = api.get(std::string{ClientWorkload::kConfigMaps}).json;
    auto read = read_history(*opened.value());
    EXPECT_TRUE(read) << read.error().message;
    if (read) history = std::move(read).value();
    replay = fleet_.shiplogctl({"replay", "--verify", "--journal=" + journal_->address(), "-o", "json"});
    return ::testing::Test::HasFailure() ||
           api.get("/shiplog/v1/state").json["nextOffset"].as_int() == state["nextOffset"].as_int();
  })) << "the journal never comes to rest";

  for (const std::string& broken : find_violations(operations, history.versions, listed(list))) ADD_FAILURE() << broken;
  EXPECT_EQ(state["stateHash"].str(), history.state_hash);
  ASSERT_TRUE(replay.ok()) << replay;
  const Value replayed = e2e::json(replay.out);
  EXPECT_EQ(replayed["stateHash"].str(), history.state_hash);
  EXPECT_EQ(replayed["revision"].as_int(), static_cast<int64_t>(history.revision.value));
  EXPECT_EQ(replayed["differences"].as_int(-1), 0) << replay;

  std::map<std::string, std::vector<uint64_t>> revisions;
  for (const HistoryVersion& version : history.versions) revisions[version.object].push_back(version.revision);
  for (const auto& [object, wanted] : revisions) check_history(api, object, wanted);
}

uint64_t seed_or(uint64_t fallback) {
  return static_cast<uint64_t>(number_from_environment("SHIPLOG_CRASH_SEED", static_cast<int64_t>(fallback)));
}

int soak() { return static_cast<int>(std::max<int64_t>(1, number_from_environment("SHIPLOG_CRASH_SOAK", 1))); }

}  // namespace shiplog::crash
