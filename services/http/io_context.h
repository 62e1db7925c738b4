#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>

#include "services/http/io_threads.h"
#include "services/http/strand.h"

/// What the files of this folder that use Asio share. Internal to services/http.
namespace shiplog {

/// Each thread has an event loop of its own. If they shared one, the thread that takes an event would wake another one
/// to wait for the next, at every event. Everything that can still use an executor holds a reference. Handlers that are
/// still queued are destroyed, without being called, when the last thread has finished.
struct IoThreads::Impl {
  struct Context : boost::asio::io_context {
    Context() : boost::asio::io_context{1} {}  // run by one thread
    void drop_handlers() { shutdown(); }
  };
  using Guard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  explicit Impl(size_t count);
  void serve(size_t index);
  /// That of the next connection: they take turns.
  Context& next_context() { return *contexts[turn.fetch_add(1, std::memory_order_relaxed) % contexts.size()]; }

  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<Guard> guards;
  std::atomic<size_t> turn{0};
  std::vector<std::thread> threads;
  std::mutex stop_mutex;  // held by stop()
  std::mutex mutex;       // of the three below
  std::condition_variable finished;
  size_t running;  // threads that have work left
  size_t serving;  // threads that still run handlers
  bool stopping = false;
};

namespace net {

using Executor = boost::asio::strand<boost::asio::io_context::executor_type>;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
using SteadyTimer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                      boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Strand::Impl {
  Impl(std::shared_ptr<IoThreads::Impl> threads, Executor on) : io{std::move(threads)}, executor{std::move(on)} {}
  // First, so that it is destroyed last.
  std::shared_ptr<IoThreads::Impl> io;
  Executor executor;
};

}  // namespace net
}  // namespace shiplog
