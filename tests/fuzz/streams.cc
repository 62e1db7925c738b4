#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/base/check.h"
#include "services/http/spdy/frames.h"
#include "services/http/websocket/frames.h"
#include "services/programs/member/shell/syntax.h"
#include "services/programs/member/shell/tar_archive.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

/// What a reader makes of bytes that arrive in pieces: all payload, and the message of the error, if there is one.
struct ReadBack {
  std::string payload;
  std::string error;
  bool operator==(const ReadBack&) const = default;
};

void note(ReadBack& read, const spdy::Frame& frame) {
  if (const auto* data = std::get_if<spdy::Data>(&frame)) {
    read.payload += data->bytes;
    if (data->fin) read.payload += "(fin " + std::to_string(data->stream) + ")";
    return;
  }
  read.payload += "(frame " + std::to_string(frame.index()) + ")";
  if (const auto* syn = std::get_if<spdy::SynStream>(&frame)) {
    size_t bytes = 0;
    for (const auto& [name, value] : syn->headers.all()) bytes += name.size() + value.size();
    SHIPLOG_CHECK(bytes <= 2 * spdy::HeaderInflater::kLongestBlock * 16, "the headers of a frame are bounded");
    read.payload += std::to_string(syn->headers.all().size());
  }
}

void note(ReadBack& read, const websocket::WebSocketMessage& message) {
  read.payload += std::to_string(static_cast<int>(message.opcode)) + message.payload;
}

void note(ReadBack& read, const member::TarEntry& entry) { read.payload += entry.name + "\n" + entry.content; }

template <class Reader>
ReadBack read_in_pieces(Reader reader, std::string_view bytes, size_t piece) {
  ReadBack read;
  for (size_t begin = 0; begin < bytes.size(); begin += piece) {
    reader->feed(bytes.substr(begin, piece));
    while (true) {
      auto next = reader->next();
      if (!next) {
        read.error = next.error().message;
        SHIPLOG_CHECK(!read.error.empty(), "an error has a message");
        return read;
      }
      if (!next.value()) break;
      note(read, *next.value());
    }
  }
  return read;
}

template <class Make>
void check_reader(Make make, std::string_view bytes) {
  const ReadBack whole = read_in_pieces(make(), bytes, bytes.size() + 1);
  SHIPLOG_CHECK(whole == read_in_pieces(make(), bytes, 1), "how bytes are cut does not matter");
}

}  // namespace

// The first byte tells which reader: the frames of SPDY or of WebSocket, a tar archive, a script of the small shell.
SHIPLOG_FUZZ_TARGET(streams) {
  if (input.empty()) return;
  const std::string_view bytes = std::string_view{input}.substr(1);
  switch (input.front()) {
    case 's':
      return check_reader([] { return std::make_unique<spdy::SpdyReader>(); }, bytes);
    case 'w':
      return check_reader([] { return std::make_unique<websocket::MessageReader>(1024); }, bytes);
    case 't':
      return check_reader([] { return std::make_unique<member::TarReader>(4096); }, bytes);
    default: {
      const auto script = member::parse_script(bytes);
      SHIPLOG_CHECK(script || !script.error().message.empty(), "a refusal has a message");
    }
  }
}

}  // namespace shiplog
