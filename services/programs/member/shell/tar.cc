#include <algorithm>
#include <optional>
#include <utility>

#include "services/programs/member/shell/commands.h"
#include "services/programs/member/shell/tar_archive.h"

namespace shiplog::member {
namespace {

constexpr int kFailed = 2;

struct TarOptions {
  char mode = '\0';  ///< c, x or t
  std::string file = "-";
  std::string directory;
  bool verbose = false;
  bool new_times = false;  ///< -m: files get the time of now
  std::vector<std::string> paths;
};

/// As `kubectl cp` calls it: options with or without a dash, the file's name behind them. nullopt: an option that is
/// not known.
std::optional<TarOptions> options_of(const std::vector<std::string>& words) {
  TarOptions options;
  bool first = true;
  for (size_t index = 1; index < words.size(); ++index) {
    const std::string& word = words[index];
    if (word.starts_with("--")) {
      if (word != "--no-same-permissions" && word != "--no-same-owner" && word != "--") return std::nullopt;
      continue;
    }
    const bool dashed = word.size() > 1 && word.starts_with('-');
    if (!dashed && !first) {
      options.paths.push_back(word);
      continue;
    }
    first = false;
    for (const char option : word.substr(dashed ? 1 : 0)) {
      if (option == 'c' || option == 'x' || option == 't') {
        options.mode = option;
      } else if (option == 'f' || option == 'C') {
        if (++index == words.size()) return std::nullopt;
        (option == 'f' ? options.file : options.directory) = words[index];
      } else if (option == 'v') {
        options.verbose = true;
      } else if (option == 'm') {
        options.new_times = true;
      } else if (option != 'p' && option != 'o') {
        return std::nullopt;
      }
    }
  }
  if (options.mode == '\0') return std::nullopt;
  return options;
}

/// The path as it is stored: without a leading slash.
std::string stored_name(std::string name) {
  while (name.starts_with('/')) name.erase(0, 1);
  return name.empty() ? "." : name;
}

awaitable<void> add(Shell& shell, CommandOutput& out, std::string path, std::string name) {
  const ContainerFile* file = shell.files().find(path);
  if (file == nullptr || shell.host().stopped()) co_return;
  const size_t size = file->content.size();
  const bool directory = file->directory;  // the file may be gone after a write
  // Named, not temporary, here and below: GCC 12 destroys some temporaries of an expression that is suspended twice.
  const TarEntry entry{stored_name(name), directory, file->mode, file->modified, {}};
  std::string header = tar_header(entry, size);
  co_await out.write(std::move(header));
  if (!directory) {
    size_t written = 0;
    while (written < size && !shell.host().stopped()) {
      auto piece = shell.files().read(path, written, std::min(FileInput::kPiece, size - written));
      if (!piece || piece.value().empty()) piece = std::string(size - written, '\0');  // it has become shorter
      written += piece.value().size();
      co_await out.write(std::move(piece).value());
    }
    co_await out.write(tar_padding(size));
    co_return;
  }
  const std::vector<std::string> children = shell.files().list(path);
  for (const std::string& child : children) {
    std::string below = path == "/" ? "/" + child : path + "/" + child;
    std::string name_below = name + "/" + child;
    co_await add(shell, out, std::move(below), std::move(name_below));
  }
}

awaitable<int> create(Invocation& invocation, const TarOptions& options) {
  Shell& shell = invocation.shell;
  const std::string base = options.directory.empty() ? shell.directory() : shell.path(options.directory);
  int code = 0;
  if (options.paths.empty())
    co_return co_await invocation.fail("Cowardly refusing to create an empty archive", kFailed);
  if (options.file != "-")
    co_return co_await invocation.fail("archives are written to - only in a trial member", kFailed);
  for (const std::string& path : options.paths) {
    const std::string from = resolved_path(base, path);
    if (shell.files().find(from) == nullptr) {
      co_await invocation.fail(path + ": Cannot stat: No such file or directory");
      code = kFailed;
      continue;
    }
    co_await add(shell, *invocation.streams.out, from, path);
  }
  co_await invocation.streams.out->write(std::string(kTarEnd, '\0'));
  if (code != 0) co_await invocation.fail("Exiting with failure status due to previous errors");
  co_return code;
}

/// A name with ".." must not lead out of the folder that is extracted into, as with GNU tar.
bool leaves_folder(std::string_view name) {
  while (!name.empty()) {
    const size_t slash = std::min(name.find('/'), name.size());
    if (name.substr(0, slash) == "..") return true;
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return false;
}

Result<void> extract(Shell& shell, const std::string& base, TarEntry entry, bool new_times) {
  if (leaves_folder(entry.name)) return Error{ErrorCode::kInvalid, "Member name contains '..'"};
  const std::string path = resolved_path(base, stored_name(entry.name));
  const int64_t time = new_times || entry.modified == 0 ? shell.now_seconds() : entry.modified;
  if (entry.directory) return shell.files().make_directories(path, shell.now_seconds());
  SHIPLOG_TRY(shell.files().make_directories(std::string{parent_path(path)}, shell.now_seconds()));
  return shell.files().write(path, std::move(entry.content), time, entry.mode);
}

awaitable<int> read_archive(Invocation& invocation, const TarOptions& options) {
  Shell& shell = invocation.shell;
  const std::string base = options.directory.empty() ? shell.directory() : shell.path(options.directory);
  const ContainerFile* folder = shell.files().find(base);
  if (folder == nullptr || !folder->directory) {
    co_return co_await invocation.fail(options.directory + ": Cannot open: No such file or directory", kFailed);
  }
  std::shared_ptr<CommandInput> in = invocation.streams.in;
  if (options.file != "-") {
    const auto readable = shell.files().read(shell.path(options.file), 0, 0);
    if (!readable) co_return co_await invocation.fail(options.file + ": " + readable.error().message, kFailed);
    in = std::make_shared<FileInput>(shell.files(), shell.path(options.file));
  }
  TarReader reader{WrittenFiles::kMostBytes};
  ByteLease held{shell.host().memory};
  size_t leased = 0;
  int code = 0;
  bool any = false;
  while (!shell.host().stopped()) {
    std::string bytes = co_await in->read();
    if (bytes.empty()) break;
    any = true;
    if (code != 0) continue;  // what is left is taken, so that the client can send it
    // Clients that stop in the middle of large files must not fill the memory.
    if (reader.held_bytes() + bytes.size() > leased) {
      const size_t more = reader.held_bytes() + bytes.size() - leased;
      if (!held.grow(more)) co_return co_await invocation.fail("Cannot allocate memory", kFailed);
      leased += more;
    }
    reader.feed(bytes);
    while (true) {
      auto next = reader.next();
      if (!next) {
        code = co_await invocation.fail(next.error().message, kFailed);
        break;
      }
      if (!next.value()) break;
      const std::string name = next.value()->name;
      if (options.mode == 't' || options.verbose) co_await invocation.streams.out->write(name + "\n");
      if (options.mode == 't') continue;
      const auto extracted = extract(shell, base, *std::move(next.value()), options.new_times);
      if (!extracted) {
        code = co_await invocation.fail(name + ": " + extracted.error().message, kFailed);
        break;
      }
    }
    if (reader.ended()) break;  // a client may have no way to end its input
  }
  if (code == 0 && any && !reader.ended()) co_return co_await invocation.fail("Unexpected EOF in archive", kFailed);
  co_return code;
}

}  // namespace

awaitable<int> tar(Invocation& invocation) {
  const auto options = options_of(invocation.words);
  if (!options) {
    co_return co_await invocation.fail("usage: tar cf - PATH..., tar xf - [-C DIRECTORY], tar tf -", kFailed);
  }
  if (options->mode == 'c') co_return co_await create(invocation, *options);
  co_return co_await read_archive(invocation, *options);
}

}  // namespace shiplog::member
