// Reads every #include of the tree and compares it with the layers: schemas <- events <- projections <- services, and
// with what pure code may know. Header-only libraries and include paths would let slips through otherwise.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;  // from the root
  int line = 0;
  std::string target;  // as written, without quotes
  bool quoted = false;
};

bool is_test(const std::string& file) { return file.starts_with("tests/") || file.ends_with("_test.cc"); }

const std::vector<Include>& includes() {
  static const std::vector<Include> all = [] {
    std::vector<Include> found;
    const fs::path root = SHIPLOG_SOURCE_DIR;
    for (const char* top : {"schemas", "events", "projections", "services", "tests"}) {
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const std::string extension = entry.path().extension().string();
        if (extension != ".h" && extension != ".cc") continue;
        const std::string file = fs::relative(entry.path(), root).string();
        std::ifstream in{entry.path()};
        std::string line;
        for (int number = 1; std::getline(in, line); ++number) {
          if (!line.starts_with("#include ")) continue;
          const char open = line.size() > 9 ? line[9] : ' ';
          const size_t end = line.find(open == '<' ? '>' : '"', 10);
          if (end == std::string::npos) continue;
          found.push_back({file, number, line.substr(10, end - 10), open == '"'});
        }
      }
    }
    return found;
  }();
  return all;
}

std::set<std::string> files() {
  std::set<std::string> all;
  for (const Include& include : includes()) all.insert(include.file);
  return all;
}

/// Empty: there is no such file.
std::string text_of(const std::string& file) {
  std::ifstream in{fs::path{SHIPLOG_SOURCE_DIR} / file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

int layer_of(const std::string& path) {
  const std::vector<std::string> layers = {"schemas/", "events/", "projections/", "services/", "tests/"};
  for (size_t at = 0; at < layers.size(); ++at) {
    if (path.starts_with(layers[at])) return static_cast<int>(at);
  }
  return -1;
}

std::string at(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " includes " + include.target;
}

/// The folders of services/ in layer order: each includes from itself and from those before it.
const std::vector<std::string> kServices = {"client",   "cron",     "http",     "runtime", "interpreter",
                                            "adapters", "cel",      "feeds",    "roles",   "rehearsal",
                                            "api",      "debugger", "requests", "programs"};

/// "services/http/tls.h" -> 0; nullopt: not below services/.
std::optional<size_t> service_layer_of(const std::string& path) {
  for (size_t index = 0; index < kServices.size(); ++index) {
    if (path.starts_with("services/" + kServices[index] + "/")) return index;
  }
  return std::nullopt;
}

/// "services/roles/binder/decide.cc" -> "binder"; "" for what is no role's.
std::string role_of(const std::string& path) {
  const std::string roles = "services/roles/";
  if (!path.starts_with(roles)) return "";
  const size_t end = path.find('/', roles.size());
  return end == std::string::npos ? "" : path.substr(roles.size(), end - roles.size());
}

std::vector<std::string> violations(const std::function<bool(const Include&)>& wrong) {
  std::vector<std::string> found;
  for (const Include& include : includes()) {
    if (wrong(include)) found.push_back(at(include));
  }
  return found;
}

/// decide and its rules, and everything that folds: no clock, no chance, no I/O.
bool is_pure(const std::string& file) {
  if (is_test(file)) return false;
  if (file.starts_with("events/fold/") || file.starts_with("events/state/") || file.starts_with("events/kinds/"))
    return true;
  if (!file.starts_with("services/")) return false;
  const std::string name = fs::path{file}.filename().string();
  if (name.starts_with("decide")) return true;
  return std::ranges::any_of(
      std::vector<std::string>{"/filter/", "/score/", "/select/", "/assign/", "/apply/", "/patch/", "/selector/",
                               "/table/", "/admission/", "/auth/rbac/", "services/interpreter/"},
      [&](const std::string& part) { return file.find(part) != std::string::npos; });
}

TEST(Layering, TheTreeIsThere) { EXPECT_GT(includes().size(), 500u); }

TEST(Layering, IncludesPointToTheLeft) {
  EXPECT_EQ(violations([](const Include& include) {
              if (!include.quoted || is_test(include.file)) return false;
              const int target = layer_of(include.target);
              return target > layer_of(include.file);
            }),
            std::vector<std::string>{});
}

TEST(Layering, OwnHeadersAreNamedFromTheRoot) {
  EXPECT_EQ(violations([](const Include& include) { return include.quoted && layer_of(include.target) < 0; }),
            std::vector<std::string>{});
}

TEST(Layering, EveryFolderOfServicesHasALayer) {
  EXPECT_EQ(violations([](const Include& include) {
              return include.file.starts_with("services/") && !service_layer_of(include.file);
            }),
            std::vector<std::string>{});
}

TEST(Layering, ServicesIncludeDownwards) {
  EXPECT_EQ(violations([](const Include& include) {
              const auto from = service_layer_of(include.file);
              const auto to = service_layer_of(include.target);
              return from && to && !is_test(include.file) && *to > *from;
            }),
            std::vector<std::string>{});
}

TEST(Layering, RolesDoNotKnowEachOther) {
  EXPECT_EQ(violations([](const Include& include) {
              const std::string from = role_of(include.file);
              const std::string to = role_of(include.target);
              return !from.empty() && !to.empty() && !is_test(include.file) && from != to;
            }),
            std::vector<std::string>{});
}

/// The parts of services/api: its folders, and each topic that lies beside them. "services/api/auth/rbac/rule.h" ->
/// "auth", "services/api/store.cc" -> "store"; "" for what is elsewhere.
std::string api_part_of(const std::string& path) {
  const std::string api = "services/api/";
  if (!path.starts_with(api)) return "";
  const std::string rest = path.substr(api.size());
  return rest.substr(0, rest.find_first_of("/."));
}

TEST(Layering, LibrariesOfTheApiServerDoNotKnowThePipeline) {
  const std::set<std::string> libraries = {"addresses",    "admission", "apply",   "auth",    "conversion",
                                           "custom_rules", "denials",   "insight", "patch",   "selector",
                                           "table",        "versions",  "views",   "webhooks"};
  EXPECT_EQ(violations([&](const Include& include) {
              return libraries.contains(api_part_of(include.file)) && api_part_of(include.target) == "pipeline";
            }),
            std::vector<std::string>{});
}

TEST(Layering, PartsOfTheApiServerFormNoCycle) {
  std::map<std::string, std::set<std::string>> edges;
  for (const Include& include : includes()) {
    const std::string from = api_part_of(include.file);
    const std::string to = api_part_of(include.target);
    if (!from.empty() && !to.empty() && from != to && !is_test(include.file)) edges[from].insert(to);
  }
  ASSERT_GT(edges.size(), 10u);
  // Parts that include nothing but removed parts are removed until none is left: those that remain form cycles.
  bool removed = true;
  while (removed) {
    removed = false;
    for (auto part = edges.begin(); part != edges.end();) {
      std::erase_if(part->second, [&](const std::string& to) { return !edges.contains(to); });
      removed = removed || part->second.empty();
      part = part->second.empty() ? edges.erase(part) : std::next(part);
    }
  }
  std::vector<std::string> cycles;
  for (const auto& [from, to] : edges) {
    for (const std::string& part : to) cycles.push_back(from + " includes " + part);
  }
  EXPECT_EQ(cycles, std::vector<std::string>{});
}

TEST(Layering, StagesDoNotKnowEachOther) {
  const std::set<std::string> stages = {"authenticate", "authorize", "limit",    "resolve", "decode",
                                        "read_current", "mutate",    "validate", "commit",  "respond"};
  const auto stage_of = [&](const std::string& path) {
    const std::string pipeline = "services/api/pipeline/";
    if (!path.starts_with(pipeline)) return std::string{};
    const std::string name = fs::path{path}.stem().string();
    return stages.contains(name) ? name : std::string{};
  };
  for (const std::string& stage : stages) {
    EXPECT_TRUE(fs::exists(fs::path{SHIPLOG_SOURCE_DIR} / "services/api/pipeline" / (stage + ".cc"))) << stage;
  }
  EXPECT_EQ(violations([&](const Include& include) {
              const std::string from = stage_of(include.file);
              const bool composes = include.target == "services/api/pipeline/pipeline.h";
              return !from.empty() && !is_test(include.file) && (composes || !stage_of(include.target).empty());
            }),
            std::vector<std::string>{});
}

TEST(Layering, OnlyProgramsNameJournalBackends) {
  EXPECT_EQ(violations([](const Include& include) {
              const bool backend = include.target.starts_with("events/journal/embedded/") ||
                                   include.target.starts_with("events/journal/kafka/") ||
                                   include.target == "events/journal/memory_journal.h";
              return backend && !is_test(include.file) && !include.file.starts_with("events/journal/") &&
                     !include.file.starts_with("services/programs/");
            }),
            std::vector<std::string>{});
}

// Rule 3 of the design: entries are appended by the runtime, with lease, fence and expectations, and by the API's
// commit stage. What observes the fold keeps caches, and a role decides.
TEST(Layering, OnlyTheRuntimeAndTheCommitStageAppend) {
  const std::vector<std::string> permitted = {"services/runtime/", "services/api/denials/",
                                              "services/api/pipeline/async.cc"};
  const std::regex append{R"((\w+)(\(\))?(\.|->)append(_unless_refused)?\()"};
  const std::regex replica{R"(\bReplica\s*[&*]\s*(\w+))"};
  std::vector<std::string> found;
  size_t known = 0;
  for (const std::string& file : files()) {
    if (is_test(file) || !file.ends_with(".cc") || !file.starts_with("services/")) continue;
    const std::string text = text_of(file);
    if (text.find("append") == std::string::npos) continue;
    const std::string header = text_of(file.substr(0, file.size() - 2) + "h");
    if ((text + header).find("eplica") == std::string::npos) continue;
    std::set<std::string> replicas{"replica"};  // of a Stack or a Store
    for (const std::string& source : {text, header}) {
      for (std::sregex_iterator match{source.begin(), source.end(), replica}, end; match != end; ++match) {
        replicas.insert((*match)[1]);
      }
    }
    for (std::sregex_iterator match{text.begin(), text.end(), append}, end; match != end; ++match) {
      if (!replicas.contains((*match)[1])) continue;
      ++known;
      const bool allowed =
          std::ranges::any_of(permitted, [&](const std::string& place) { return file.starts_with(place); });
      if (!allowed) found.push_back(file + ": " + match->str());
    }
  }
  EXPECT_GE(known, 4U) << "the expressions find what is there";
  EXPECT_EQ(found, std::vector<std::string>{});
}

/// The lines of product code below a folder that an expression finds.
std::vector<std::string> lines_matching(const std::string& folder, const std::regex& expression,
                                        std::initializer_list<std::string_view> words) {
  std::vector<std::string> found;
  for (const std::string& file : files()) {
    if (is_test(file) || !file.starts_with(folder) || file.starts_with("events/explain/")) continue;
    std::istringstream text{text_of(file)};
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      const bool worth =
          std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != line.npos; });
      if (worth && std::regex_search(line, expression)) found.push_back(file + ":" + std::to_string(number) + line);
    }
  }
  return found;
}

// A better wording must change nothing: code branches on facts (decision 0037).
TEST(Layering, NoCodeReadsTheTextOfAnExplanation) {
  const std::regex reads{
      R"((summary|explanation|verdict|text_of\(|summary_of\()[^;]*(\.|->)(starts_with|ends_with|find|rfind|substr)\(")"};
  EXPECT_TRUE(std::regex_search(std::string{R"(if (text_of(step).starts_with("affinity ")) return;)"}, reads));
  EXPECT_EQ(lines_matching("", reads, {"summary", "explanation", "verdict", "text_of("}), std::vector<std::string>{});
}

// Nor on the text of errors, in what decides and reports.
TEST(Layering, NoRoleReadsTheTextOfAnError) {
  const std::regex reads{R"((error|message|reason)[\w.()>-]*(\.|->)(starts_with|ends_with|find|rfind|contains)\()"};
  EXPECT_TRUE(std::regex_search(std::string{R"(const bool health = error.starts_with("Interpret health");)"}, reads));
  EXPECT_EQ(lines_matching("services/roles/", reads, {"error", "message", "reason"}), std::vector<std::string>{});
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// A library whose headers take long to compile, or messages that were generated for one.
bool is_heavy_library(const Include& include) {
  if (include.target.ends_with(".pb.h")) return true;
  if (include.quoted) return false;
  // The types of a coroutine and its executor are light.
  if (include.target == "boost/asio/awaitable.hpp" || include.target == "boost/asio/any_io_executor.hpp") return false;
  return std::ranges::any_of(
      std::vector<std::string>{"boost/asio", "boost/beast", "sqlite3.h", "google/protobuf", "nlohmann/", "spdlog/",
                               "yaml-cpp/", "CLI/", "librdkafka", "prometheus/", "lua", "grpc", "openssl/"},
      [&](const std::string& heavy) { return include.target.starts_with(heavy); });
}

/// Headers that include a heavy library, or another such header.
const std::set<std::string>& heavy_headers() {
  static const std::set<std::string> all = [] {
    std::set<std::string> heavy;
    for (size_t known = 0;; known = heavy.size()) {
      for (const Include& include : includes()) {
        if (!include.file.ends_with(".h") || is_test(include.file)) continue;
        if (is_heavy_library(include) || heavy.contains(include.target)) heavy.insert(include.file);
      }
      if (heavy.size() == known) return heavy;
    }
  }();
  return all;
}

// A folder may wrap a heavy library in headers of its own. Outside of it they reach sources alone: what is in a header
// that others include is compiled hundreds of times.
TEST(Layering, HeavyLibrariesStayInTheirFoldersAndInSources) {
  EXPECT_EQ(violations([](const Include& include) {
              return include.file.ends_with(".h") && !is_test(include.file) &&
                     heavy_headers().contains(include.target) && folder_of(include.target) != folder_of(include.file);
            }),
            std::vector<std::string>{});
}

// Who speaks a protocol: the codec for the journal, client and server for the estimators, the writer of feeds.
TEST(Layering, GeneratedMessagesAreKnownToTheEndsOfTheirProtocolAlone) {
  const std::map<std::string, std::vector<std::string>> ends = {
      {"schemas/events/", {"events/codec/"}},
      {"schemas/estimator/", {"services/adapters/estimators/", "services/programs/estimator/"}},
      {"schemas/feeds/", {"services/feeds/"}},
      {"schemas/requests/", {"services/requests/"}}};
  EXPECT_EQ(violations([&](const Include& include) {
              if (!include.target.ends_with(".pb.h") || is_test(include.file)) return false;
              for (const auto& [protocol, folders] : ends) {
                if (!include.target.starts_with(protocol)) continue;
                return std::ranges::find(folders, folder_of(include.file)) == folders.end();
              }
              return true;
            }),
            std::vector<std::string>{});
}

// What a product folder holds is the product: fixtures, fakes and benchmarks are below tests/.
TEST(Layering, ProductFoldersHoldNoTestSupport) {
  EXPECT_EQ(violations([](const Include& include) {
              return !is_test(include.file) &&
                     (include.target.starts_with("gtest/") || include.target.starts_with("gmock/") ||
                      include.target.starts_with("tests/"));
            }),
            std::vector<std::string>{});
}

TEST(Purity, WhatDecidesKnowsNoClockChanceOrDevice) {
  EXPECT_EQ(violations([](const Include& include) {
              if (!is_pure(include.file)) return false;
              for (const char* impure :
                   {"chrono", "random", "thread", "fstream", "iostream", "filesystem", "unistd.h", "ctime", "time.h",
                    "unordered_map", "unordered_set", "sqlite3.h", "events/base/system.h", "events/base/random.h"}) {
                if (include.target == impure) return true;
              }
              return include.target.starts_with("projections/") || include.target.starts_with("services/runtime/") ||
                     include.target.starts_with("services/http/") || include.target.starts_with("sys/") ||
                     include.target.starts_with("boost/asio");
            }),
            std::vector<std::string>{});
}

TEST(Purity, NoClockOrChanceIsCalledEither) {
  const std::vector<std::string> words = {"system_clock", "steady_clock", "random_device",  "mt19937",
                                          "getenv(",      "std::rand",    "std::unordered_"};
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const Include& include : includes()) {
    if (!is_pure(include.file) || !seen.insert(include.file).second) continue;
    std::ifstream in{fs::path{SHIPLOG_SOURCE_DIR} / include.file};
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      for (const std::string& word : words) {
        if (line.find(word) != std::string::npos)
          found.push_back(include.file + ":" + std::to_string(number) + " " + word);
      }
    }
  }
  EXPECT_EQ(found, std::vector<std::string>{});
}

}  // namespace
