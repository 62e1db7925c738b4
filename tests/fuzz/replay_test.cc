#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

// The targets without libFuzzer: over every input that is checked in, and over mutations of these, the same ones every
// time. What breaks an invariant ends the process; the last line then names the input.

namespace shiplog::fuzz {

/// In the names of tests.
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

constexpr size_t kMutations = 4000;  // a target
constexpr size_t kLongest = 8192;

struct Input {
  std::string name;
  std::string bytes;
};

std::vector<Input> inputs_of(const std::string& target) {
  std::vector<Input> inputs;
  for (const auto& file : std::filesystem::directory_iterator{std::string{CORPUS_FOLDER} + "/" + target}) {
    std::ifstream in{file.path(), std::ios::binary};
    inputs.push_back({file.path().filename().string(), {std::istreambuf_iterator<char>{in}, {}}});
  }
  std::ranges::sort(inputs, {}, &Input::name);
  return inputs;
}

using Chance = std::mt19937_64;
// Not a standard distribution: these give other numbers in other libraries.
size_t below(Chance& chance, size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(chance() % bound); }

/// One small change: of a byte, of a run of bytes, or with a piece of another input.
void mutate(std::string& bytes, const std::string& other, Chance& chance) {
  static constexpr std::string_view kTelling[] = {"\n---\n",  "null", "{",  "}",  "[",    "]",        "\"",  ",",
                                                  ":",        "$",    "\\", "%",  "~1",   "9999999",  "-1",  "\r\n",
                                                  "\r\n\r\n", "&",    "*",  "!!", "\xFF", "\xF0\x9F", "1e9", "0.0"};
  const size_t at = below(chance, bytes.size() + 1);
  const size_t length = below(chance, 1 + std::min<size_t>(bytes.size() - at, 40));
  switch (below(chance, 6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(chance());
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(chance, 8)));
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, bytes.substr(below(chance, bytes.size()), length));
      break;
    case 4:
      bytes.insert(at, kTelling[below(chance, std::size(kTelling))]);
      break;
    default:
      bytes.insert(at, other.substr(below(chance, other.size()), 1 + below(chance, 60)));
      break;
  }
  if (bytes.size() > kLongest) bytes.resize(kLongest);
}

/// What is being run, for the last words; and where its input is left.
char current[1024];
char left_at[512];
std::string_view current_bytes;

void say_current(int) {
  (void)!::write(STDERR_FILENO, current, ::strnlen(current, sizeof current));
  const int file = ::open(left_at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) (void)!::write(file, current_bytes.data(), current_bytes.size());
}

void run(const Target& target, const std::string& what, const std::string& bytes) {
  std::snprintf(left_at, sizeof left_at, "%sfuzz-%s.input", testing::TempDir().c_str(), target.name.c_str());
  std::snprintf(current, sizeof current, "the target %s has failed on %s, which is left in %s\n", target.name.c_str(),
                what.c_str(), left_at);
  current_bytes = bytes;
  target.run(bytes);
}

class Fuzz : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    for (const int death : {SIGABRT, SIGSEGV}) {
      struct sigaction action = {};
      action.sa_handler = say_current;
      action.sa_flags = static_cast<int>(SA_RESETHAND);
      ::sigaction(death, &action, nullptr);
    }
    inputs_ = inputs_of(GetParam().name);
    ASSERT_FALSE(inputs_.empty()) << "tests/fuzz/corpus/" << GetParam().name << " has no inputs";
  }
  std::vector<Input> inputs_;
};

TEST_P(Fuzz, HoldsForEveryCheckedInInput) {
  for (const Input& input : inputs_) run(GetParam(), input.name, input.bytes);
}

TEST_P(Fuzz, HoldsForMutationsOfThem) {
  Chance chance{4};
  for (size_t number = 0; number < kMutations; ++number) {
    const Input& seed = inputs_[below(chance, inputs_.size())];
    std::string bytes = seed.bytes;
    for (size_t changes = 1 + below(chance, 6); changes > 0; --changes) {
      mutate(bytes, inputs_[below(chance, inputs_.size())].bytes, chance);
    }
    run(GetParam(), "mutation " + std::to_string(number) + ", of " + seed.name, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn([] {
                           auto all = targets();
                           std::ranges::sort(all, {}, &Target::name);
                           return all;
                         }()),
                         [](const auto& target) { return target.param.name; });

}  // namespace
}  // namespace shiplog::fuzz
