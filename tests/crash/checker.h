#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shiplog::crash {

enum class Verb { kCreate, kUpdate, kRemove, kRead };

/// What a client knows after its request.
enum class Known {
  kDone,     ///< acknowledged; a read: found
  kAbsent,   ///< a read: there is no such object
  kRefused,  ///< the server says that nothing was changed
  kUnknown,  ///< no answer, or one that does not say
};

/// One request as its client saw it. `invoked` and `answered` are ticks of one counter that all clients share: an
/// operation whose `answered` is below another's `invoked` was over before the other began.
struct Operation {
  uint64_t invoked = 0;
  uint64_t answered = 0;
  Verb verb = Verb::kRead;
  Known known = Known::kUnknown;
  std::string object;
  /// What a write wanted to store, different for every write; what a read found.
  std::string value;
  std::string uid;        ///< of the object created or found; the only one that a removal may remove
  uint64_t revision = 0;  ///< of an acknowledged create or update, of what a read found
};

/// One change in the server's history.
struct Version {
  enum class Kind { kCreated, kUpdated, kRemoved };
  uint64_t revision = 0;
  Kind kind = Kind::kCreated;
  std::string object;
  std::string uid;
  std::string value;
  bool by_client = true;  ///< false: the server's own services changed something else of the object
};

/// One object that is there at the end.
struct Present {
  std::string object;
  std::string uid;
  std::string value;
  uint64_t revision = 0;
};

/// Compares what clients were told with the whole history, in its order, and with what is there at the end. Every
/// sentence of the answer is a broken promise; none: all hold.
/// - History makes sense: revisions grow, what is changed is there.
/// - An acknowledged write is in history, once, at its revision. An unknown one at most once. A refused one never.
/// - Nobody's value is in history, and nothing was removed that nobody wanted to remove.
/// - The order of history is an order in which things can have happened: whatever was answered before a request was
///   sent lies before it. So no read, of any client at any server, is older than what any client has seen before.
/// - What is there at the end is what history comes to.
std::vector<std::string> broken_promises(const std::vector<Operation>& operations, const std::vector<Version>& history,
                                         const std::vector<Present>& present);

}  // namespace shiplog::crash
