#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/fold/fold.h"
#include "events/state/state.h"

namespace shiplog::vault {

/// Which objects exist now and which keys they are sealed with: what distinguishes a lost key from one that was
/// destroyed along with its object. Threads: any.
class LiveKeys {
 public:
  struct Live {
    std::string uid;
    std::vector<std::string> ids;  ///< sorted
    bool operator==(const Live&) const = default;
  };

  /// Forgets everything and takes the Secrets of `state`.
  void load(const State& state);
  /// Notes a change of a Secret; what it was sealed with before, when it is removed.
  void note(const Change& change);

  /// `holder` is the innermost object around a text that is sealed with `id`. True: that object still exists, so the
  /// key should too.
  bool needs(std::string_view id, const Value& holder) const;
  std::map<ObjectKey, Live> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<ObjectKey, Live> live_;
};

/// What sealed text begins with. It contains a colon, which base64 does not: no data of a Secret looks like it.
inline constexpr std::string_view kSealedPrefix = "shiplog:sealed:v1:";
/// The key id of a sealed text; empty: it is not sealed.
std::string_view key_id_of(std::string_view text);
/// The ids in an object, sorted, each once.
std::vector<std::string> key_ids_in(const Value& object);

}  // namespace shiplog::vault
