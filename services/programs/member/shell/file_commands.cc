#include <algorithm>

#include "events/base/time.h"
#include "services/programs/member/shell/commands.h"

namespace shiplog::member {
namespace {

std::string permissions(const ContainerFile& file) {
  std::string text(1, file.directory ? 'd' : '-');
  for (const unsigned shift : {6U, 3U, 0U}) {
    const uint32_t bits = file.mode >> shift;
    text += (bits & 4U) != 0 ? 'r' : '-';
    text += (bits & 2U) != 0 ? 'w' : '-';
    text += (bits & 1U) != 0 ? 'x' : '-';
  }
  return text;
}

struct ListOptions {
  bool all = false;
  bool details = false;
  bool one_per_line = false;
  bool itself = false;
};

std::string listed(const ContainerFile& file, const std::string& name, const ListOptions& options) {
  if (!options.details) return name + "\n";
  std::string size = std::to_string(file.directory ? 4096 : file.content.size());
  size.insert(0, 8 - std::min<size_t>(8, size.size()), ' ');
  return permissions(file) + " 1 root root " + size + " " + rfc3339(UtcMillis{file.modified * 1000}) + " " + name +
         "\n";
}

awaitable<int> ls(Invocation& invocation) {
  ListOptions options;
  std::vector<std::string> paths;
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    const std::string& word = invocation.words[index];
    if (!word.starts_with('-') || word == "-") {
      paths.push_back(word);
      continue;
    }
    for (const char option : word.substr(1)) {
      options.all = options.all || option == 'a' || option == 'A';
      options.details = options.details || option == 'l';
      options.itself = options.itself || option == 'd';
      if (std::string_view{"aAld1h"}.find(option) == std::string_view::npos) {
        co_return co_await invocation.fail("usage: ls [-aAdhl1] [FILE...]");
      }
    }
  }
  const bool titles = paths.size() > 1;
  if (paths.empty()) paths.emplace_back(".");
  int code = 0;
  const FileSystem& files = invocation.shell.files();
  for (const std::string& given : paths) {
    const std::string path = invocation.shell.path(given);
    const ContainerFile* file = files.find(path);
    if (file == nullptr) {
      code = co_await invocation.fail(given + ": No such file or directory");
      continue;
    }
    std::string text;
    if (!file->directory || options.itself) {
      text = listed(*file, given, options);
    } else {
      if (titles) text += given + ":\n";
      for (const std::string& name : files.list(path)) {
        if (name.starts_with('.') && !options.all) continue;
        text += listed(*files.find(path == "/" ? "/" + name : path + "/" + name), name, options);
      }
    }
    co_await invocation.streams.out->write(std::move(text));
  }
  co_return code;
}

awaitable<int> mkdir(Invocation& invocation) {
  bool parents = false;
  int code = 0;
  Shell& shell = invocation.shell;
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    const std::string& word = invocation.words[index];
    if (word == "-p") {
      parents = true;
      continue;
    }
    const auto made = parents ? shell.files().make_directories(shell.path(word), shell.now_seconds())
                              : shell.files().make_directory(shell.path(word), shell.now_seconds());
    if (!made) code = co_await invocation.fail(word + ": " + made.error().message);
  }
  co_return code;
}

awaitable<int> rm(Invocation& invocation) {
  bool recursive = false;
  bool force = false;
  int code = 0;
  Shell& shell = invocation.shell;
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    const std::string& word = invocation.words[index];
    if (word.size() > 1 && word.starts_with('-') && word.find_first_not_of("rRf", 1) == std::string::npos) {
      recursive = recursive || word.find_first_of("rR") != std::string::npos;
      force = force || word.find('f') != std::string::npos;
      continue;
    }
    const std::string path = shell.path(word);
    const ContainerFile* file = shell.files().find(path);
    if (file == nullptr && force) continue;
    if (file != nullptr && file->directory && !recursive) {
      code = co_await invocation.fail(word + ": Is a directory");
      continue;
    }
    const auto removed = shell.files().remove(path);
    if (!removed) code = co_await invocation.fail(word + ": " + removed.error().message);
  }
  co_return code;
}

awaitable<int> touch(Invocation& invocation) {
  int code = 0;
  Shell& shell = invocation.shell;
  for (size_t index = 1; index < invocation.words.size(); ++index) {
    const std::string path = shell.path(invocation.words[index]);
    const ContainerFile* file = shell.files().find(path);
    if (file != nullptr && file->directory) continue;
    std::string content = file == nullptr ? std::string{} : file->content;
    const auto written = shell.files().write(path, std::move(content), shell.now_seconds());
    if (!written) code = co_await invocation.fail(invocation.words[index] + ": " + written.error().message);
  }
  co_return code;
}

/// test EXPRESSION and [ EXPRESSION ]: of one condition, negated or not.
awaitable<int> test(Invocation& invocation) {
  std::vector<std::string> words{invocation.words.begin() + 1, invocation.words.end()};
  if (invocation.words.front() == "[") {
    if (words.empty() || words.back() != "]") co_return co_await invocation.fail("missing ]", 2);
    words.pop_back();
  }
  bool negated = false;
  if (!words.empty() && words.front() == "!") {
    negated = true;
    words.erase(words.begin());
  }
  bool holds = false;
  if (words.size() == 1) {
    holds = !words[0].empty();
  } else if (words.size() == 2) {
    const ContainerFile* file = invocation.shell.files().find(invocation.shell.path(words[1]));
    if (words[0] == "-n" || words[0] == "-z") {
      holds = words[1].empty() == (words[0] == "-z");
    } else if (words[0] == "-e" || words[0] == "-r") {
      holds = file != nullptr;
    } else if (words[0] == "-d") {
      holds = file != nullptr && file->directory;
    } else if (words[0] == "-f") {
      holds = file != nullptr && !file->directory;
    } else if (words[0] == "-s") {
      holds = file != nullptr && !file->content.empty();
    } else {
      co_return co_await invocation.fail(words[0] + ": unknown operator", 2);
    }
  } else if (words.size() == 3 && (words[1] == "=" || words[1] == "==" || words[1] == "!=")) {
    holds = (words[0] == words[2]) == (words[1] != "!=");
  } else if (!words.empty()) {
    co_return co_await invocation.fail("the test of a trial member knows -d -e -f -n -r -s -z, = and != only", 2);
  }
  co_return holds != negated ? 0 : 1;
}

awaitable<int> pwd(Invocation& invocation) {
  co_await invocation.streams.out->write(invocation.shell.directory() + "\n");
  co_return 0;
}

awaitable<int> cd(Invocation& invocation) {
  const std::string target = invocation.words.size() > 1 ? invocation.words[1] : "/root";
  const std::string path = invocation.shell.path(target);
  const ContainerFile* file = invocation.shell.files().find(path);
  if (file == nullptr || !file->directory) {
    co_return co_await invocation.fail("can't cd to " + target +
                                       (file == nullptr ? ": No such file or directory" : ": Not a directory"));
  }
  invocation.shell.directory() = path;
  co_return 0;
}

}  // namespace

std::vector<CommandEntry> file_commands() {
  return {{"[", &test},  {"cd", &cd}, {"ls", &ls},     {"mkdir", &mkdir},
          {"pwd", &pwd}, {"rm", &rm}, {"test", &test}, {"touch", &touch}};
}

}  // namespace shiplog::member
