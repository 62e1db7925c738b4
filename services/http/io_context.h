#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
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

/// Everything that can still use an executor holds a reference. Handlers that are still queued are destroyed, without
/// being called, when the last thread has finished.
struct IoThreads::Impl {
  struct Context : boost::asio::io_context {
    using boost::asio::io_context::io_context;
    void drop_handlers() { shutdown(); }
  };

  explicit Impl(size_t count) : context{static_cast<int>(count)}, guard{context.get_executor()}, running{count} {}
  void serve();

  Context context;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> guard;
  std::vector<std::thread> threads;
  std::mutex stopping;  // held by stop()
  std::mutex mutex;     // of `running`
  std::condition_variable finished;
  size_t running;
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
