#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct EffectsOptions {
  std::string of;      ///< a revision, a time or the id of an entry
  std::string within;  ///< a duration; empty: whenever
  std::string output;  ///< "", "json", "yaml", "svg", "mermaid"
  int64_t limit = 1000;
  int64_t depth = 50;
  bool all = false;  ///< equal effects are not counted together
};
Result<void> effects(ServerConnection& plane, const EffectsOptions& options, const Output& to);

/// One entry as it is drawn, or a number of equal ones that are counted instead.
struct DrawnEffect {
  size_t parent = 0;  ///< of an earlier one; the first has none
  size_t depth = 0;
  bool last = true;        ///< of its parent's
  std::string when = {};   ///< "+1.2s" after the cause; of the cause itself: its revision and time
  std::string who = {};    ///< the role or the user; empty: this counts others
  std::string what = {};   ///< what the entry did, as one line
  std::string state = {};  ///< "refused: the reason"; empty: it was accepted
};

/// What /shiplog/v1/effects answers as a tree in the order in which it is printed, at most `most` of it. Of more than
/// `alike` equal effects of one entry only the first are drawn; 0: all. Control characters are replaced.
std::vector<DrawnEffect> drawn_effects(const Value& answer, size_t alike, size_t most);

/// For people: the tree, then how many effects of each kind there are.
std::string effects_text(const Value& answer, size_t alike, const Terminal& terminal = {});
/// A flowchart in Mermaid's language.
std::string effects_mermaid(const Value& answer, size_t alike);
/// A picture that Graphviz lays out. Error: kUnavailable, its library is not installed.
Result<std::string> effects_svg(const Value& answer, size_t alike);

}  // namespace shiplog::ctl
