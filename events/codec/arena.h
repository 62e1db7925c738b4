#pragma once

#include <memory>

#include <google/protobuf/arena.h>

namespace shiplog::codec {

/// Memory for one message at a time, kept for the next one: encoding and decoding are on the path of every entry. One
/// per thread; a typical entry fits the first block and then costs no allocation but those of its long strings.
class Scratch {
 public:
  static google::protobuf::Arena& of_this_thread() {
    thread_local Scratch scratch;
    return scratch.arena_;
  }

 private:
  static constexpr size_t kBlockBytes = size_t{32} * 1024;

  Scratch() : block_{new char[kBlockBytes]}, arena_{block_.get(), kBlockBytes} {}

  std::unique_ptr<char[]> block_;
  google::protobuf::Arena arena_;
};

/// A message in the thread's scratch memory, which is free again when this goes.
template <class Message>
class Scratched {
 public:
  Scratched() : message_{google::protobuf::Arena::CreateMessage<Message>(&Scratch::of_this_thread())} {}
  ~Scratched() { Scratch::of_this_thread().Reset(); }
  Scratched(const Scratched&) = delete;
  Scratched& operator=(const Scratched&) = delete;

  Message& operator*() { return *message_; }
  Message* operator->() { return message_; }

 private:
  Message* message_;
};

}  // namespace shiplog::codec
