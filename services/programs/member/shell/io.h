#pragma once

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "services/http/byte_budget.h"
#include "services/programs/member/shell/file_system.h"

namespace shiplog::member {

using boost::asio::awaitable;

/// What a command of the shell reads.
class CommandInput {
 public:
  virtual ~CommandInput() = default;
  /// The next bytes; "" at the end, or when the client has gone.
  virtual awaitable<std::string> read() = 0;
};

/// What it writes to. An output that leads nowhere any more drops what is written.
class CommandOutput {
 public:
  virtual ~CommandOutput() = default;
  virtual awaitable<void> write(std::string bytes) = 0;
};

/// A text, such as what the command before in a pipeline has written.
class TextInput final : public CommandInput {
 public:
  explicit TextInput(std::string text) : text_{std::move(text)} {}
  awaitable<std::string> read() override { co_return std::exchange(text_, {}); }

 private:
  std::string text_;
};

/// A file, in pieces, so that none is held as a whole.
class FileInput final : public CommandInput {
 public:
  static constexpr size_t kPiece = 32 * 1024;
  FileInput(const FileSystem& files, std::string path) : files_{files}, path_{std::move(path)} {}
  awaitable<std::string> read() override {
    auto piece = files_.read(path_, offset_, kPiece);
    if (!piece) co_return std::string{};
    offset_ += piece.value().size();
    co_return std::move(piece).value();
  }

 private:
  const FileSystem& files_;
  std::string path_;
  size_t offset_ = 0;
};

/// Collects what is written, up to a bound of its own and that of `memory`; the rest is dropped.
class TextOutput final : public CommandOutput {
 public:
  static constexpr size_t kMostBytes = 1024 * 1024;
  explicit TextOutput(std::shared_ptr<ByteBudget> memory) : lease_{std::move(memory)} {}
  awaitable<void> write(std::string bytes) override {
    truncated_ = truncated_ || bytes.size() > kMostBytes - text_.size() || !lease_.grow(bytes.size());
    if (!truncated_) text_ += bytes;
    co_return;
  }
  std::string take() { return std::exchange(text_, {}); }
  bool truncated() const { return truncated_; }

 private:
  ByteLease lease_;
  std::string text_;
  bool truncated_ = false;
};

}  // namespace shiplog::member
