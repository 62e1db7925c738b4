#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>

#include "services/programs/member/shell/commands.h"

namespace shiplog::member {
namespace {

std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t index = 0; index < text.size(); ++index) {
    if (text[index] != '\\' || index + 1 == text.size()) {
      plain += text[index];
      continue;
    }
    const char c = text[++index];
    if (c == 'n') {
      plain += '\n';
    } else if (c == 't') {
      plain += '\t';
    } else if (c == 'r') {
      plain += '\r';
    } else if (c == 'e') {
      plain += '\x1b';
    } else if (c == '\\') {
      plain += '\\';
    } else {
      plain.append(1, '\\').append(1, c);
    }
  }
  return plain;
}

awaitable<int> echo(Invocation& invocation) {
  bool newline = true;
  bool escapes = false;
  size_t first = 1;
  for (; first < invocation.words.size(); ++first) {
    const std::string& word = invocation.words[first];
    if (word != "-n" && word != "-e" && word != "-ne" && word != "-en") break;
    newline = newline && word.find('n') == std::string::npos;
    escapes = escapes || word.find('e') != std::string::npos;
  }
  std::string line;
  for (size_t index = first; index < invocation.words.size(); ++index) {
    if (index > first) line += ' ';
    line += escapes ? unescaped(invocation.words[index]) : invocation.words[index];
  }
  if (newline) line += '\n';
  co_await invocation.streams.out->write(std::move(line));
  co_return 0;
}

/// An input for each file that is named, or standard input ("-", or no file at all). `then` is given the bytes piece by
/// piece; the code is 1 if a file cannot be read.
template <class Then>
awaitable<int> each_input(Invocation& invocation, std::vector<std::string> files, Then then) {
  int code = 0;
  if (files.empty()) files.emplace_back("-");
  for (const std::string& file : files) {
    std::shared_ptr<CommandInput> in = invocation.streams.in;
    if (file != "-") {
      const std::string path = invocation.shell.path(file);
      const auto readable = invocation.shell.files().read(path, 0, 0);
      if (!readable) {
        code = co_await invocation.fail(file + ": " + readable.error().message);
        continue;
      }
      in = std::make_shared<FileInput>(invocation.shell.files(), path);
    }
    while (!invocation.shell.host().stopped()) {
      std::string bytes = co_await in->read();
      if (bytes.empty()) break;
      co_await then(std::move(bytes));
    }
  }
  co_return code;
}

std::vector<std::string> words_from(const Invocation& invocation, size_t first) {
  return {invocation.words.begin() + static_cast<std::ptrdiff_t>(std::min(first, invocation.words.size())),
          invocation.words.end()};
}

awaitable<int> cat(Invocation& invocation) {
  const auto out = invocation.streams.out;
  const auto copy = [out](std::string bytes) -> awaitable<void> { co_await out->write(std::move(bytes)); };
  co_return co_await each_input(invocation, words_from(invocation, 1), copy);
}

struct LineCount {
  int64_t count = 10;
  bool from_start = false;  ///< tail -n +N: from the N-th on
  bool bytes = false;
  size_t first_file = 1;
};

/// -n N, -nN, -N, -c N, -c+N.
std::optional<LineCount> line_count(const std::vector<std::string>& words) {
  LineCount found;
  while (found.first_file < words.size() && words[found.first_file].size() > 1 && words[found.first_file][0] == '-') {
    std::string value = words[found.first_file++].substr(1);
    if (value[0] == 'n' || value[0] == 'c') {
      found.bytes = value[0] == 'c';
      value.erase(0, 1);
      if (value.empty()) {
        if (found.first_file == words.size()) return std::nullopt;
        value = words[found.first_file++];
      }
    }
    found.from_start = value.starts_with('+');
    if (found.from_start) value.erase(0, 1);
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), found.count);
    if (parsed.ec != std::errc{} || parsed.ptr != value.data() + value.size() || found.count < 0) return std::nullopt;
  }
  return found;
}

awaitable<int> head(Invocation& invocation) {
  const auto wanted = line_count(invocation.words);
  if (!wanted || wanted->from_start) co_return co_await invocation.fail("usage: head [-n LINES | -c BYTES] [FILE...]");
  int64_t left = wanted->count;
  const auto out = invocation.streams.out;
  const bool bytes = wanted->bytes;
  const auto copy = [&left, out, bytes](std::string piece) -> awaitable<void> {
    size_t end = 0;
    while (left > 0 && end < piece.size()) {
      const size_t next = bytes ? end + 1 : std::min(piece.find('\n', end), piece.size() - 1) + 1;
      if (bytes || piece[next - 1] == '\n') --left;
      end = next;
    }
    if (end > 0) co_await out->write(piece.substr(0, end));
  };
  co_return co_await each_input(invocation, words_from(invocation, wanted->first_file), copy);
}

constexpr size_t kLongestTail = 128 * 1024;

awaitable<int> tail(Invocation& invocation) {
  const auto wanted = line_count(invocation.words);
  if (!wanted) co_return co_await invocation.fail("usage: tail [-n [+]LINES | -c [+]BYTES] [FILE...]");
  std::string held;
  const auto collect = [&held](std::string piece) -> awaitable<void> {
    held += piece;
    if (held.size() > 2 * kLongestTail) held.erase(0, held.size() - kLongestTail);
    co_return;
  };
  int64_t skip = wanted->count > 0 ? wanted->count - 1 : 0;
  const auto out = invocation.streams.out;
  const bool bytes = wanted->bytes;
  const auto pass = [&skip, out, bytes](std::string piece) -> awaitable<void> {
    size_t begin = 0;
    while (skip > 0 && begin < piece.size()) {
      const size_t next = bytes ? begin + 1 : std::min(piece.find('\n', begin), piece.size() - 1) + 1;
      if (bytes || piece[next - 1] == '\n') --skip;
      begin = next;
    }
    if (begin < piece.size()) co_await out->write(piece.substr(begin));
  };
  if (wanted->from_start) co_return co_await each_input(invocation, words_from(invocation, wanted->first_file), pass);
  const int code = co_await each_input(invocation, words_from(invocation, wanted->first_file), collect);
  size_t begin = held.size();
  if (bytes) {
    begin -= std::min(begin, static_cast<size_t>(wanted->count));
  } else {
    for (int64_t left = wanted->count; left > 0 && begin > 0; --left) {
      const size_t before = begin < 2 ? std::string::npos : held.rfind('\n', begin - 2);
      begin = before == std::string::npos ? 0 : before + 1;
    }
  }
  co_await out->write(held.substr(begin));
  co_return code;
}

awaitable<int> wc(Invocation& invocation) {
  size_t lines = 0;
  size_t words = 0;
  size_t bytes = 0;
  bool inside = false;
  std::string options;
  size_t first = 1;
  for (; first < invocation.words.size() && invocation.words[first].starts_with('-'); ++first) {
    options += invocation.words[first].substr(1);
  }
  if (options.find_first_not_of("lwc") != std::string::npos)
    co_return co_await invocation.fail("usage: wc [-lwc] [FILE]");
  const auto count = [&](std::string piece) -> awaitable<void> {
    bytes += piece.size();
    for (const char c : piece) {
      if (c == '\n') ++lines;
      const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (!blank && !inside) ++words;
      inside = !blank;
    }
    co_return;
  };
  const int code = co_await each_input(invocation, words_from(invocation, first), count);
  std::string line;
  const auto add = [&](char option, size_t number) {
    if (!options.empty() && options.find(option) == std::string::npos) return;
    line += (line.empty() ? "" : " ") + std::to_string(number);
  };
  add('l', lines);
  add('w', words);
  add('c', bytes);
  co_await invocation.streams.out->write(line + "\n");
  co_return code;
}

/// Fixed texts only: patterns of tenants would take time that is not bounded.
awaitable<int> grep(Invocation& invocation) {
  bool inverted = false;
  bool quiet = false;
  size_t first = 1;
  for (; first < invocation.words.size() && invocation.words[first].starts_with('-'); ++first) {
    for (const char option : invocation.words[first].substr(1)) {
      if (option == 'v') inverted = true;
      if (option == 'q') quiet = true;
      if (option != 'v' && option != 'q' && option != 'F') {
        co_return co_await invocation.fail("usage: grep [-Fqv] TEXT [FILE...]; TEXT is no pattern in a trial member",
                                           2);
      }
    }
  }
  if (first == invocation.words.size()) co_return co_await invocation.fail("usage: grep [-Fqv] TEXT [FILE...]", 2);
  const std::string text = invocation.words[first];
  const auto collected = std::make_shared<TextOutput>(invocation.shell.host().memory);
  const auto collect = [collected](std::string piece) -> awaitable<void> {
    co_await collected->write(std::move(piece));
  };
  const int code = co_await each_input(invocation, words_from(invocation, first + 1), collect);
  std::string found;
  const std::string all = collected->take();
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = std::string_view{all}.substr(begin, end - begin);
    if ((line.find(text) != std::string_view::npos) != inverted) found.append(line).append(1, '\n');
    begin = end + 1;
  }
  if (!quiet) co_await invocation.streams.out->write(found);
  if (code != 0) co_return 2;
  co_return found.empty() ? 1 : 0;
}

awaitable<int> tee(Invocation& invocation) {
  bool appends = false;
  size_t first = 1;
  if (first < invocation.words.size() && invocation.words[first] == "-a") {
    appends = true;
    ++first;
  }
  const auto files = words_from(invocation, first);
  Shell& shell = invocation.shell;
  int code = 0;
  for (const std::string& file : files) {
    const auto opened = appends ? shell.files().append(shell.path(file), "", shell.now_seconds())
                                : shell.files().write(shell.path(file), "", shell.now_seconds());
    if (!opened) code = co_await invocation.fail(file + ": " + opened.error().message);
  }
  while (code == 0 && !shell.host().stopped()) {
    std::string bytes = co_await invocation.streams.in->read();
    if (bytes.empty()) break;
    for (const std::string& file : files) {
      const auto written = shell.files().append(shell.path(file), bytes, shell.now_seconds());
      if (!written) code = co_await invocation.fail(file + ": " + written.error().message);
    }
    co_await invocation.streams.out->write(std::move(bytes));
  }
  co_return code;
}

}  // namespace

std::vector<CommandEntry> text_commands() {
  return {{"cat", &cat},   {"echo", &echo}, {"grep", &grep}, {"head", &head},
          {"tail", &tail}, {"tee", &tee},   {"wc", &wc}};
}

}  // namespace shiplog::member
