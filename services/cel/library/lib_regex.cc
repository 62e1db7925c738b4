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

// A program of this many instructions is what an expression of some thousand characters makes.
constexpr int64_t kPatternMemory = 512 * 1024;

using Pattern = std::shared_ptr<const re2::RE2>;

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

Result<Pattern> compiled(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto made = std::make_shared<const re2::RE2>(piece(pattern), options);
  if (!made->ok()) {
    return Error{ErrorCode::kInvalid, "error parsing regexp: " + made->error() + ": `" + std::string{pattern} + "`"};
  }
  return Pattern{std::move(made)};
}

/// cel-go's cost, which guesses what a pattern costs from its length.
uint64_t regex_cost(CelArguments a, const CelValue&) {
  const auto pattern = static_cast<uint64_t>(std::ceil(static_cast<double>(cost_size(a[1])) * 0.25));
  return traversal_cost(cost_size(a[0]) + 1) * pattern;
}

/// A short pattern may make a large program ("(a{99}){99}"): what it costs beyond the guess is charged before it runs.
bool affordable_search(const re2::RE2& pattern, std::string_view text, CelMeter& meter) {
  constexpr uint64_t kInstructionsPerUnit = 64;
  const auto steps = static_cast<uint64_t>(std::max(pattern.ProgramSize(), 0)) / kInstructionsPerUnit;
  return steps == 0 || affordable(meter, steps * traversal_cost(text.size() + 1));
}

CelValue matches(const re2::RE2& pattern, CelArguments a, CelMeter& meter) {
  if (!affordable_search(pattern, a[0].as_string(), meter)) return unaffordable();
  return CelValue::boolean(re2::RE2::PartialMatch(piece(a[0].as_string()), pattern));
}

CelValue find(const re2::RE2& pattern, CelArguments a, CelMeter& meter) {
  const std::string_view text = a[0].as_string();
  if (!affordable_search(pattern, text, meter)) return unaffordable();
  re2::StringPiece found;
  if (!pattern.Match(piece(text), 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) return CelValue::string("");
  return CelValue::string(std::string_view{found.data(), found.size()});
}

size_t character_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  return end - at;
}

CelValue find_all(const re2::RE2& pattern, CelArguments a, CelMeter& meter) {
  const std::string_view text = a[0].as_string();
  const int64_t most = a.size() > 2 ? a[2].as_int() : -1;
  std::vector<CelValue> items;
  size_t at = 0;
  size_t last_end = std::string_view::npos;  // an empty match right behind the one before it does not count
  while (at <= text.size() && (most < 0 || items.size() < static_cast<size_t>(most))) {
    // A search may look at all that is left, however little it finds.
    if (!affordable_search(pattern, text.substr(at), meter)) return unaffordable();
    re2::StringPiece found;
    if (!pattern.Match(piece(text), at, text.size(), re2::RE2::UNANCHORED, &found, 1)) break;
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

using Search = CelValue (*)(const re2::RE2&, CelArguments, CelMeter&);

CelOverload overload(std::vector<CelType> arguments, CelType result, Search search, const char* failure) {
  CelOverload made{std::move(arguments), std::move(result), {}, true, regex_cost};
  made.call = [search, failure](CelArguments a, CelMeter& meter) {
    const auto pattern = compiled(a[1].as_string());
    if (!pattern) return CelValue::error(failure + pattern.error().message);
    // Compiling is the larger part of a search in a short text.
    if (!affordable(meter, static_cast<uint64_t>(std::max(pattern.value()->ProgramSize(), 0)) / 16)) {
      return unaffordable();
    }
    return search(*pattern.value(), a, meter);
  };
  made.literal_argument = 1;
  made.prepare = [search](const CelValue& literal) -> Result<CelImplementation> {
    SHIPLOG_TRY(Pattern pattern, compiled(literal.as_string()));
    return CelImplementation{[search, pattern](CelArguments a, CelMeter& meter) { return search(*pattern, a, meter); }};
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
