#include "services/programs/shiplogd/make_election.h"

#include <utility>

#include <unistd.h>

#include "events/base/ids.h"
#include "events/fold/fold.h"
#include "services/runtime/file_election.h"
#include "services/runtime/journal_election.h"

namespace shiplog {

std::unique_ptr<Election> make_election(const std::string& leases, std::shared_ptr<Journal> heartbeats, Random& random,
                                        Executor& executor) {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  const std::string identity =
      std::string{host} + "_" + std::to_string(::getpid()) + "_" + to_string(new_entry_id(random)).substr(0, 8);
  if (!heartbeats) {
    return std::make_unique<FileElection>(FileElection::Options{
        .folder = leases, .identity = identity, .executor = &executor, .fold_version = kFoldVersion});
  }
  return std::make_unique<JournalElection>(JournalElection::Options{
      .heartbeats = std::move(heartbeats), .identity = identity, .executor = &executor, .fold_version = kFoldVersion});
}

}  // namespace shiplog
