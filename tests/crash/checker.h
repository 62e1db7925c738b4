#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shiplog::crash {

enum class Verb { kCreate, kUpdate, kRemove, kRead };

/// The outcome of a request as its client knows it.
enum class KnownOutcome {
  kDone,     ///< acknowledged; of a read: found
  kAbsent,   ///< of a read: the object does not exist
  kRefused,  ///< the server reports that nothing was changed
  kUnknown,  ///< no response, or one that leaves the outcome open
};

/// One request as its client saw it. `invoked` and `answered` are ticks of one counter that all clients share: an
/// operation whose `answered` is below another's `invoked` ended before the other began.
struct Operation {
  uint64_t invoked = 0;
  uint64_t answered = 0;
  Verb verb = Verb::kRead;
  KnownOutcome outcome = KnownOutcome::kUnknown;
  std::string object;
  /// The value to be stored, unique for every write; the value that a read returned.
  std::string value;
  std::string uid;        ///< of the object created or found; the only one that a removal may remove
  uint64_t revision = 0;  ///< of an acknowledged create or update, or of the version that a read returned
};

/// One change in the server's history.
struct HistoryVersion {
  enum class Kind { kCreated, kUpdated, kRemoved };
  uint64_t revision = 0;
  Kind kind = Kind::kCreated;
  std::string object;
  std::string uid;
  std::string value;
  bool by_client = true;  ///< false: a role of the control plane changed other fields of the object
};

/// One object that exists at the end.
struct ListedObject {
  std::string object;
  std::string uid;
  std::string value;
  uint64_t revision = 0;
};

/// Compares the responses that clients received with the complete history, in its order, and with the final state.
/// Returns one message for each violation of these rules:
/// - The history is consistent: revisions increase, changed objects exist.
/// - An acknowledged write is in the history once, at its revision. One of unknown outcome is there at most once, a
///   refused one never.
/// - All values and removals in the history were requested by a client.
/// - The history is linearizable: everything that was answered before a request was sent precedes it. No read, of any
///   client at any server, is older than an earlier response to any client.
/// - The final state is the result of the history.
std::vector<std::string> find_violations(const std::vector<Operation>& operations,
                                         const std::vector<HistoryVersion>& history,
                                         const std::vector<ListedObject>& listed);

}  // namespace shiplog::crash
