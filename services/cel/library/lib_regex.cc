#include <algorithm>
#include <memory>

#include <re2/re2.h>

#include "services/cel/library/declare.h"
#include "services/cel/library/go_text.h"
#include "services/cel/library/libraries.h"

// matches of the language, find and findAll of Kubernetes. Source: cel-spec, standard definitions;
// k8s.io/apiserver/pkg/cel/library/regex.go, cost.go.

namespace shiplog::cel {
namespace {

// A class of letters has 1,300 instructions, so that "[\\pL]{1,63}" has 85,000: what is written in an expression is
// compiled once and may be of that size. What is computed is compiled in each evaluation.
constexpr int64_t kLiteralMemory = 8 * 1024 * 1024;
constexpr int64_t kComputedMemory = 512 * 1024;
// To find that a pattern needs more than kComputedMemory takes some milliseconds.
constexpr uint64_t kRefusalCost = 20'000;
constexpr uint64_t kHeaviestPattern = 10'000;

/// What it takes to read a pattern, in characters: a class of Unicode ("\\pL") takes as long as 128 others.
uint64_t weight_of(std::string_view pattern) {
  constexpr uint64_t kWeightOfClass = 128;
  uint64_t weight = pattern.size();
  for (size_t at = pattern.find('\\'); at < pattern.size(); at = pattern.find('\\', at + 2)) {
    if (at + 1 < pattern.size() && (pattern[at + 1] == 'p' || pattern[at + 1] == 'P')) weight += kWeightOfClass;
  }
  return weight;
}

/// Whether it has \C, which Go does not have: a byte of a code point is no text.
bool matches_bytes(std::string_view pattern) {
  for (size_t at = pattern.find('\\'); at < pattern.size(); at = pattern.find('\\', at + 2)) {
    if (pattern.substr(at).starts_with("\\C")) return true;
    if (pattern.substr(at).starts_with("\\Q")) at = std::min(pattern.find("\\E", at), pattern.size());
  }
  return false;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

uint64_t instructions(const re2::RE2& program) { return static_cast<uint64_t>(std::max(program.ProgramSize(), 0)); }

struct CelPattern {
  CelPattern(std::string_view pattern, const re2::RE2::Options& options) : program{piece(pattern), options} {}
  re2::RE2 program;
  uint64_t steps = 0;  ///< units for ten bytes of a text, at most, beyond what cel-go guesses
};

using Pattern = std::shared_ptr<const CelPattern>;

/// A short pattern may make a large program ("(a{99}){9}"). A search may look at all places of the pattern for each
/// byte. Of a class of Unicode, which is a hundred instructions for one place, a program for bytes has only a few.
uint64_t steps_of(const re2::RE2& program, std::string_view pattern) {
  constexpr uint64_t kPlacesOfUnit = 16;
  constexpr uint64_t kInstructionsOfUnit = 512;
  re2::RE2::Options options = program.options();
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  const re2::RE2 bytes{piece(pattern), options};
  const uint64_t places = instructions(bytes.ok() ? bytes : program);
  return places / kPlacesOfUnit + instructions(program) / kInstructionsOfUnit;
}

Error wrong_pattern(const std::string& why, std::string_view pattern) {
  return {ErrorCode::kInvalid, "error parsing regexp: " + why + ": `" + std::string{pattern} + "`"};
}

Result<Pattern> compiled(std::string_view pattern, int64_t memory) {
  if (weight_of(pattern) > kHeaviestPattern) {
    return Error{ErrorCode::kInvalid, "error parsing regexp: expression too large"};
  }
  if (matches_bytes(pattern)) return wrong_pattern("invalid escape sequence: \\C", pattern);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(memory);
  auto made = std::make_shared<CelPattern>(pattern, options);
  if (!made->program.ok()) return wrong_pattern(made->program.error(), pattern);
  made->steps = steps_of(made->program, pattern);
  return Pattern{std::move(made)};
}

/// cel-go's cost, which guesses what a pattern costs from its length.
uint64_t regex_cost(CelArguments a, const CelValue&) {
  const auto pattern = static_cast<uint64_t>(std::ceil(static_cast<double>(cost_size(a[1])) * 0.25));
  return traversal_cost(cost_size(a[0]) + 1) * pattern;
}

/// Charges what a search costs beyond cel-go's guess, before it is done.
bool affordable_search(const CelPattern& pattern, std::string_view text, CelMeter& meter) {
  return affordable(meter, pattern.steps * traversal_cost(text.size() + 1));
}

CelValue matches(const CelPattern& pattern, CelArguments a, CelMeter& meter) {
  if (!affordable_search(pattern, a[0].as_string(), meter)) return unaffordable();
  return CelValue::boolean(re2::RE2::PartialMatch(piece(a[0].as_string()), pattern.program));
}

CelValue find(const CelPattern& pattern, CelArguments a, CelMeter& meter) {
  const std::string_view text = a[0].as_string();
  if (!affordable_search(pattern, text, meter)) return unaffordable();
  re2::StringPiece found;
  if (!pattern.program.Match(piece(text), 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) return CelValue::string("");
  return CelValue::string(std::string_view{found.data(), found.size()});
}

size_t character_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  return end - at;
}

CelValue find_all(const CelPattern& pattern, CelArguments a, CelMeter& meter) {
  const std::string_view text = a[0].as_string();
  const int64_t most = a.size() > 2 ? a[2].as_int() : -1;
  std::vector<CelValue> items;
  size_t at = 0;
  size_t last_end = std::string_view::npos;  // an empty match right behind the one before it does not count
  while (at <= text.size() && (most < 0 || items.size() < static_cast<size_t>(most))) {
    // A search may look at all that is left, however little it finds.
    if (!affordable_search(pattern, text.substr(at), meter)) return unaffordable();
    re2::StringPiece found;
    if (!pattern.program.Match(piece(text), at, text.size(), re2::RE2::UNANCHORED, &found, 1)) break;
    const auto begin = static_cast<size_t>(found.data() - text.data());
    const size_t end = begin + found.size();
    if (!found.empty() || begin != last_end) items.push_back(CelValue::string(text.substr(begin, found.size())));
    last_end = end;
    at = found.empty() ? end + (end < text.size() ? character_at(text, end) : 1) : end;
    // Beyond the first search, upstream's cost has nothing for the rest of the text that each one may read, as
    // "a(a*b)?" does.
    constexpr size_t kBytesOfUnit = 200;
    if (!affordable(meter,
                    (text.size() - std::min(at, text.size())) / kBytesOfUnit + (items.size() % 4 == 0 ? 1 : 0))) {
      return unaffordable();
    }
  }
  return CelValue::list(std::move(items));
}

using Search = CelValue (*)(const CelPattern&, CelArguments, CelMeter&);

CelOverload overload(std::vector<CelType> arguments, CelType result, Search search, const char* failure) {
  CelOverload made{std::move(arguments), std::move(result), {}, true, regex_cost};
  made.call = [search, failure](CelArguments a, CelMeter& meter) {
    // Compiling is the larger part of a search in a short text.
    constexpr uint64_t kUnitsOfWeight = 8;
    constexpr uint64_t kInstructionsOfUnit = 4;
    const std::string_view text = a[1].as_string();
    if (!affordable(meter, std::min(weight_of(text), kHeaviestPattern) * kUnitsOfWeight)) return unaffordable();
    const auto pattern = compiled(text, kComputedMemory);
    const uint64_t size = pattern ? instructions(pattern.value()->program) / kInstructionsOfUnit : kRefusalCost;
    if (!affordable(meter, size)) return unaffordable();
    if (!pattern) return CelValue::error(failure + pattern.error().message);
    return search(*pattern.value(), a, meter);
  };
  made.literal_argument = 1;
  made.prepare = [search](const CelValue& literal) -> Result<CelPrepared> {
    // Of patterns that take long to read, a definition may not have many, either.
    constexpr size_t kBytesOfWeight = 256;
    constexpr size_t kBytesOfInstruction = 16;
    SHIPLOG_TRY(Pattern pattern, compiled(literal.as_string(), kLiteralMemory));
    const size_t memory =
        weight_of(literal.as_string()) * kBytesOfWeight + instructions(pattern->program) * kBytesOfInstruction;
    return CelPrepared{[search, pattern](CelArguments a, CelMeter& meter) { return search(*pattern, a, meter); },
                       memory};
  };
  return made;
}

}  // namespace

void add_regex_functions(CelFunctions& functions) {
  const CelType string = CelKind::kString;
  CelOverload matching = overload({string, string}, CelKind::kBool, matches, "");
  functions.add("matches", matching);
  matching.member = false;
  functions.add("matches", matching);
  functions.add("find", overload({string, string}, string, find, "Illegal regex: "));
  functions.add("findAll", overload({string, string}, CelType::list(string), find_all, "Illegal regex: "));
  functions.add("findAll",
                overload({string, string, CelKind::kInt}, CelType::list(string), find_all, "Illegal regex: "));
}

}  // namespace shiplog::cel
