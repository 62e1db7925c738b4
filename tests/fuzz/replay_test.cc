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

#include "services/api/admission/admission.h"
#include "tests/fuzz/fuzz.h"

// The targets without libFuzzer: with every checked-in input and with mutations of these, the same ones every time. A
// violated invariant ends the process; the last line of output names the input.

namespace shiplog::fuzz {

/// For the names of tests.
void PrintTo(const FuzzTarget& target, std::ostream* out) { *out << target.name; }

namespace {

constexpr size_t kMutations = 4000;  // for each target
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
// Not a standard distribution: their results differ between libraries.
size_t below(Chance& chance, size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(chance() % bound); }

/// One small change: of a byte, of a range of bytes, or with a part of another input.
void mutate(std::string& bytes, const std::string& other, Chance& chance) {
  static constexpr std::string_view kTokens[] = {"\n---\n",  "null", "{",  "}",  "[",    "]",        "\"",  ",",
                                                 ":",        "$",    "\\", "%",  "~1",   "9999999",  "-1",  "\r\n",
                                                 "\r\n\r\n", "&",    "*",  "!!", "\xFF", "\xF0\x9F", "1e9", "0.0"};
  const size_t position = below(chance, bytes.size() + 1);
  const size_t length = below(chance, 1 + std::min<size_t>(bytes.size() - position, 40));
  switch (below(chance, 6)) {
    case 0:
      if (position < bytes.size()) bytes[position] = static_cast<char>(chance());
      break;
    case 1:
      if (position < bytes.size()) bytes[position] = static_cast<char>(bytes[position] ^ (1 << below(chance, 8)));
      break;
    case 2:
      bytes.erase(position, length);
      break;
    case 3:
      bytes.insert(position, bytes.substr(below(chance, bytes.size()), length));
      break;
    case 4:
      bytes.insert(position, kTokens[below(chance, std::size(kTokens))]);
      break;
    default:
      bytes.insert(position, other.substr(below(chance, other.size()), 1 + below(chance, 60)));
      break;
  }
  if (bytes.size() > kLongest) bytes.resize(kLongest);
}

/// The current input for the last line of output, and the file with its bytes.
char current[1024];
char left_at[512];
std::string_view current_bytes;

void say_current(int) {
  (void)!::write(STDERR_FILENO, current, ::strnlen(current, sizeof current));
  const int file = ::open(left_at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) (void)!::write(file, current_bytes.data(), current_bytes.size());
}

void run(const FuzzTarget& target, const std::string& description, const std::string& bytes) {
  std::snprintf(left_at, sizeof left_at, "%sfuzz-%s.input", testing::TempDir().c_str(), target.name.c_str());
  std::snprintf(current, sizeof current, "the target %s has failed on %s, which is left in %s\n", target.name.c_str(),
                description.c_str(), left_at);
  current_bytes = bytes;
  target.run(bytes);
}

class Fuzz : public testing::TestWithParam<FuzzTarget> {
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

/// Up to three, as edit() reads them.
std::string some_edits(Chance& chance) {
  std::string bytes;
  for (size_t count = 4 * below(chance, 4); count > 0; --count) bytes += static_cast<char>(chance());
  return bytes;
}

/// `objects` with edits where such a target expects them: behind each object, and once more for a later write.
std::string edited(std::string objects, Chance& chance) {
  constexpr std::string_view kNoEdits = "\n---\n\n---\n";
  if (const size_t at = objects.find(kNoEdits); at != std::string::npos) objects.insert(at + 5, some_edits(chance));
  return objects + "\n---\n" + some_edits(chance) + "\n---\n" + some_edits(chance);
}

TEST(EditedObjects, AreRefusedOrStayWritable) {
  constexpr size_t kEdits = 120;  // of each object
  Chance chance{17};
  size_t edits = 0;
  for (const FuzzTarget& target : targets()) {
    if (target.name != "admission" && target.name != "custom_resources") continue;
    for (const Input& input : inputs_of(target.name)) {
      for (size_t number = 0; number < kEdits; ++number, ++edits) {
        run(target, "edit " + std::to_string(number) + ", of " + input.name, edited(input.bytes, chance));
      }
    }
  }
  EXPECT_GT(edits, 50 * kEdits);
}

// Otherwise their edits test little.
TEST(EditedObjects, AreAcceptedBeforeTheyAreEdited) {
  for (const Input& input : inputs_of("admission")) {
    const Value object = json_or_null(input.bytes);
    const Kind& kind = kind_of(object);
    api::Admission admission;
    admission.kinds = &Kinds::compiled();
    admission.kind = &kind;
    if (kind.namespaced) admission.ns = "default";
    const auto created = api::admit_create(admission, object);
    EXPECT_TRUE(created.has_value()) << input.name << ": " << created.error().message;
    EXPECT_EQ(kind.kind, object["kind"].as_string());
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn([] {
                           auto all = targets();
                           std::ranges::sort(all, {}, &FuzzTarget::name);
                           return all;
                         }()),
                         [](const auto& target) { return target.param.name; });

}  // namespace
}  // namespace shiplog::fuzz
