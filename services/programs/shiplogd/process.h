#pragma once

#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "events/base/result.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "services/programs/shiplogd/options.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and all it starts, ignores SIGPIPE: call before any thread exists.
void block_signals();
/// From now on a thread, descriptor or memory that the system refuses ends the process with exit code 1 and a sentence.
/// Libraries report it as an exception, on any thread; while other threads run, nothing can be undone in order.
void report_refused_resources();
/// Lets this process have as many files and connections open as it may: what shells grant is often 1024.
void allow_open_files();
/// Waits for SIGTERM or SIGINT; or for stop_process(). Gives free memory back to the system meanwhile.
void wait_for_stop();
/// What the process has allocated and not freed; 0 where the allocator does not report it.
size_t heap_bytes();
/// Ends wait_for_stop() because the process cannot go on; its exit code becomes 1. From any thread.
void stop_process();
bool stopped_by_failure();

/// While it lives, an orderly stop may take so long; then the process ends at once, with exit code 1. Nothing is lost
/// by that: what was acknowledged is on disk.
class StopDeadline {
 public:
  explicit StopDeadline(Millis longest);
  ~StopDeadline();
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;
};

/// Why the loop counts as stuck: what runs on it has been running for longer. Empty: it does not.
std::string stuck(const ThreadLoop& loop, Millis longest);

/// What a TLS API server of ours needs: an authority that also signs clients, a server and an administrator
/// certificate, all kept in `<folder>/pki`.
struct Identity {
  KeyPair authority, server, admin;
  KeyPair tokens;  ///< only the key counts: it signs service account tokens
};
Result<Identity> load_identity(const std::string& folder, const HostPort& listen,
                               const std::vector<std::string>& names);

/// The authorities that are not in `<folder>/pki`: load_identity() and load_front_proxy() make those that they need.
std::vector<std::string> missing_authorities(const std::string& folder);

/// Logs that these were made for a fleet that is not new.
void warn_of_new_authorities(const std::vector<std::string>& files);

/// HTTP options from the common ones.
HttpServer::Options http_options(const CommonOptions& common, const HostPort& listen, const Identity& identity);

/// The administrator's kubeconfig for `url`. Writes nothing when `path` is empty.
Result<void> write_admin_kubeconfig(const std::string& path, const std::string& name, const std::string& url,
                                    const Identity& identity);

/// Makes a folder with mode 0700, and its parents. Error: kIo, naming it.
Result<void> make_folder(const std::string& path);
/// Takes all rights from others to the files of a data folder, which an older build may have made readable for all.
void make_private(const std::string& folder);
/// One process for one data folder: two would write the same projection. Holds until the process ends, however it does.
/// Error: kUnavailable, another process holds it.
Result<int> lock_folder(const std::string& folder);

// The subcommands; exit codes.
int serve(const ServeOptions& options);
int trial_member(const TrialMemberOptions& options);
int many_members(const TrialMemberOptions& options, const ManyMembersOptions& many);
int estimator_server(const EstimatorServerOptions& options);

}  // namespace shiplog
