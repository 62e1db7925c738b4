#include "tests/guides/guide.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace shiplog::guides {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

/// A command line: it begins with one of the project's programs or with kubectl.
bool is_command(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("$ ")) line.remove_prefix(2);
  constexpr std::array<std::string_view, 5> kPrograms = {"./dev ", "kubectl ", "shiplogctl ", "shiplogd ",
                                                         "karmadactl "};
  return std::ranges::any_of(kPrograms, [&](std::string_view program) { return line.starts_with(program); });
}

struct Comment {
  std::string name, text;
};

Comment comment_of(std::string_view inner) {
  inner = trimmed(inner);
  const size_t colon = inner.find(':');
  return {std::string{trimmed(inner.substr(0, colon))},
          std::string{colon == std::string_view::npos ? std::string_view{} : trimmed(inner.substr(colon + 1))}};
}

class GuideParser {
 public:
  Guide parse(std::string_view markdown) {
    std::istringstream lines{std::string{markdown}};
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      if (in_comment_) {
        comment_ += line + "\n";
        if (line.find("-->") != std::string::npos) end_comment();
      } else if (in_block_) {
        if (trimmed(line) == "```") {
          end_block();
        } else {
          block_ += line + "\n";
        }
      } else if (line.starts_with("<!--")) {
        comment_ = line + "\n";
        comment_line_ = number_;
        in_comment_ = true;
        if (line.find("-->") != std::string::npos) end_comment();
      } else if (trimmed(line).starts_with("```")) {
        in_block_ = true;
        language_ = trimmed(trimmed(line).substr(3));
        block_line_ = number_ + 1;
        block_.clear();
      } else if (line.starts_with("    ") && is_command(line)) {
        add_mistake(number_, "commands belong in a block fenced with ```sh: " + line.substr(4));
      } else if (!trimmed(line).empty()) {
        drop_comment();
      }
    }
    drop_comment();
    if (in_block_) add_mistake(block_line_, "the block does not end");
    return std::move(guide_);
  }

 private:
  void add_mistake(int line, const std::string& text) {
    guide_.mistakes.push_back("line " + std::to_string(line) + ": " + text);
  }

  void end_comment() {
    in_comment_ = false;
    std::string_view inner = comment_;
    inner.remove_prefix(4);
    inner = inner.substr(0, inner.find("-->"));
    const Comment comment = comment_of(inner);
    if (comment.name == "before") {
      guide_.blocks.push_back({Block::Kind::kHidden, comment_line_, comment.text + "\n", ""});
    } else if (comment.name == "starts with nothing") {
      guide_.starts_with_nothing = true;
    } else if (comment.name == "not run" || comment.name == "fails" || comment.name == "keeps running" ||
               comment.name == "keeps running, then stopped") {
      if (comment.text.empty()) add_mistake(comment_line_, "\"" + comment.name + ":\" wants a text behind it");
      marker_ = comment;
    } else {
      add_mistake(comment_line_, "no such comment: \"" + comment.name + "\" (tests/guides/guide.h lists them)");
    }
  }

  void drop_comment() {
    if (!marker_.name.empty()) add_mistake(comment_line_, "\"" + marker_.name + "\" is not above a block of commands");
    marker_ = {};
  }

  void end_block() {
    in_block_ = false;
    if (language_ != "sh" && language_ != "bash") {
      const size_t first_end = block_.find('\n');
      if (language_.empty() && is_command(std::string_view{block_}.substr(0, first_end))) {
        add_mistake(block_line_, "a block of commands begins with ```sh");
      }
      return drop_comment();
    }
    if (block_.find("./dev up") != std::string::npos && marker_.name != "not run") guide_.starts_with_nothing = true;
    Block block{Block::Kind::kRun, block_line_, block_, marker_.text};
    if (marker_.name == "fails") block.kind = Block::Kind::kFails;
    if (marker_.name == "keeps running") block.kind = Block::Kind::kBackground;
    if (marker_.name == "keeps running, then stopped") block.kind = Block::Kind::kStopped;
    if (marker_.name == "not run") {
      guide_.not_run.push_back(block_);
    } else {
      guide_.blocks.push_back(std::move(block));
    }
    marker_ = {};
  }

  Guide guide_;
  int number_ = 0;
  bool in_comment_ = false, in_block_ = false;
  std::string comment_, block_, language_;
  int comment_line_ = 0, block_line_ = 0;
  Comment marker_;
};

}  // namespace

Guide parse_guide(std::string_view markdown) { return GuideParser{}.parse(markdown); }

}  // namespace shiplog::guides
