#include <ostream>

#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/effects.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kAlike = 3;

std::string why_not_all(const std::string& truncated, const EffectsOptions& options) {
  if (truncated == "limit") {
    return "only the first " + std::to_string(options.limit) +
           " entries are listed; --limit=0 lists as many as the server does";
  }
  if (truncated == "depth")
    return "what is more than --depth=" + std::to_string(options.depth) + " steps away is left out";
  return "there was no time to find all of them; --within or --depth asks for less";
}

}  // namespace

Result<void> effects(ServerConnection& plane, const EffectsOptions& options, const Output& to) {
  HttpRequest::Query query{
      {"of", options.of}, {"limit", std::to_string(options.limit)}, {"depth", std::to_string(options.depth)}};
  if (!options.within.empty()) query.emplace_back("within", options.within);
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/effects", query));
  const size_t alike = options.all ? 0 : kAlike;
  if (options.output == "svg") {
    SHIPLOG_TRY(const std::string svg, effects_svg(answer, alike));
    to.out << svg << std::flush;
  } else if (options.output == "mermaid") {
    to.out << effects_mermaid(answer, alike) << std::flush;
  } else if (!print_document(answer, options.output, to.out)) {
    to.out << effects_text(answer, alike, to.terminal) << std::flush;
  }
  if (const std::string truncated = answer["truncated"].str(); !truncated.empty()) {
    to.err << "notice: " << why_not_all(truncated, options) << std::endl;
  }
  return ok();
}

void Program::add_effects() {
  auto* sub =
      add(*app_, "effects", "Show everything that followed from one change, as a tree", [this]() -> Result<int> {
        SHIPLOG_TRY(auto plane, access_.connect());
        SHIPLOG_TRY(effects(plane, effects_, to_));
        return 0;
      });
  sub->add_option("REVISION|ENTRY-ID", effects_.of,
                  "The change: a revision that history shows, a time, how long ago it was, or the id of an entry")
      ->required();
  sub->add_option("--within", effects_.within, "Only what followed so soon: 10m")->type_name("DURATION");
  sub->add_option("--limit", effects_.limit, "At most this many entries; 0: as many as the server lists")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--depth", effects_.depth,
                  "At most this many steps from the change; 0: as many as the server follows")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_flag("--all", effects_.all, "Draw each of many equal effects instead of counting them");
  add_output(*sub, effects_.output, {"json", "yaml", "svg", "mermaid"});
}

}  // namespace shiplog::ctl
