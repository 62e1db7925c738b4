#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/networks.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/byte_stream.h"
#include "services/http/io_threads.h"

namespace shiplog {

/// Passes bytes between two streams in both directions until one of them ends; then both are closed, after what was
/// received is sent, and `ended` is called once. Each side is read only as fast as the other one takes it. `first` is
/// sent to `one` before anything else. Threads: any.
void join_streams(std::shared_ptr<ByteStream> one, std::shared_ptr<ByteStream> other, std::string first,
                  std::function<void()> ended);

/// A plain TCP connection. Error: as Transport::connect(), and kTimeout. `done` runs once, on an I/O thread.
void connect_stream(const std::shared_ptr<IoThreads>& io, const std::string& host, const std::string& port,
                    std::shared_ptr<const Networks> denied, Millis timeout,
                    std::function<void(Result<std::shared_ptr<ByteStream>>)> done);

/// A socket at whose other end is the stream, for code that needs a file descriptor: HttpClient::Dial. `first` was
/// received from the stream already. Error: kIo.
Result<int> socket_for(IoThreads& io, std::shared_ptr<ByteStream> stream, std::string first,
                       std::function<void()> ended);

}  // namespace shiplog
