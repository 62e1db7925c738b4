#include "services/interpreter/lua/pattern.h"

#include "events/base/ascii.h"

namespace shiplog::interpreter::lua {
namespace {

constexpr bool between(unsigned char c, char low, char high) {
  return c >= static_cast<unsigned char>(low) && c <= static_cast<unsigned char>(high);
}
constexpr bool is_digit(unsigned char c) { return between(c, '0', '9'); }
constexpr bool is_lower(unsigned char c) { return between(c, 'a', 'z'); }
constexpr bool is_upper(unsigned char c) { return between(c, 'A', 'Z'); }
constexpr bool is_letter(unsigned char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

/// %a and the other classes. ASCII only, independent of the locale: the same on every machine.
bool in_class(unsigned char c, char letter) {
  const auto code = static_cast<unsigned char>(letter);
  const char kind = lower_case(letter);
  bool in = false;
  switch (kind) {
    case 'a':
      in = is_letter(c);
      break;
    case 'c':
      in = is_control(c);
      break;
    case 'd':
      in = is_digit(c);
      break;
    case 'l':
      in = is_lower(c);
      break;
    case 'p':
      in = c > 0x20 && c < 0x7f && !is_letter(c) && !is_digit(c);
      break;
    case 's':
      in = c == ' ' || between(c, '\t', '\r');
      break;
    case 'u':
      in = is_upper(c);
      break;
    case 'w':
      in = is_letter(c) || is_digit(c);
      break;
    case 'x':
      in = is_digit(c) || between(c, 'a', 'f') || between(c, 'A', 'F');
      break;
    case 'z':
      in = c == 0;
      break;
    default:
      return c == code;
  }
  return is_upper(code) ? !in : in;
}

}  // namespace

void Pattern::step() {
  if (--steps_ < 0) throw TooLong{};
}

/// Counts the traversal of this many bytes of the pattern.
void Pattern::spend(size_t bytes) const {
  steps_ -= static_cast<int64_t>(bytes / 4);
  if (steps_ < 0) throw TooLong{};
}

size_t Pattern::match(size_t at, size_t from) {
  count_ = 0;
  return run(at, from, 0);
}

/// The end of the item that begins at `p`: a character, an escape, a set.
size_t Pattern::item_end(size_t p) const {
  const size_t from = p;
  const char first = pattern_[p++];
  if (first == '%') {
    if (p >= pattern_.size()) throw Malformed{"malformed pattern (ends with '%')"};
    return p + 1;
  }
  if (first != '[') return p;
  if (p < pattern_.size() && pattern_[p] == '^') ++p;
  do {  // a leading ']' belongs to the set
    if (p >= pattern_.size()) throw Malformed{"malformed pattern (missing ']')"};
    if (pattern_[p++] == '%') ++p;
  } while (p >= pattern_.size() || pattern_[p] != ']');
  spend(p - from);
  return p + 1;
}

/// `p` is at '[', `end` behind ']'.
bool Pattern::in_set(unsigned char c, size_t p, size_t end) const {
  spend(end - p);
  const size_t last = end - 1;
  bool in = true;
  if (pattern_[++p] == '^') {
    in = false;
    ++p;
  }
  for (; p < last; ++p) {
    if (pattern_[p] == '%') {
      if (in_class(c, pattern_[++p])) return in;
    } else if (p + 2 < last && pattern_[p + 1] == '-') {
      if (between(c, pattern_[p], pattern_[p + 2])) return in;
      p += 2;
    } else if (static_cast<unsigned char>(pattern_[p]) == c) {
      return in;
    }
  }
  return !in;
}

bool Pattern::single(size_t at, size_t p, size_t end) const {
  if (at >= text_.size()) return false;
  const auto c = static_cast<unsigned char>(text_[at]);
  switch (pattern_[p]) {
    case '.':
      return true;
    case '%':
      return in_class(c, pattern_[p + 1]);
    case '[':
      return in_set(c, p, end);
    default:
      return static_cast<unsigned char>(pattern_[p]) == c;
  }
}

/// As many repetitions as possible, then fewer until the rest of the pattern matches.
size_t Pattern::longest(size_t at, size_t p, size_t end, int depth) {
  size_t count = 0;
  while (single(at + count, p, end)) {
    step();
    ++count;
  }
  for (;; --count) {
    const size_t found = run(at + count, end + 1, depth);
    if (found != kNoMatch || count == 0) return found;
  }
}

size_t Pattern::shortest(size_t at, size_t p, size_t end, int depth) {
  for (;; ++at) {
    const size_t found = run(at, end + 1, depth);
    if (found != kNoMatch) return found;
    if (!single(at, p, end)) return kNoMatch;
  }
}

size_t Pattern::open(size_t at, size_t p, Capture::Kind kind, int depth) {
  if (count_ == kMostCaptures) throw Malformed{"too many captures"};
  captures_[count_++] = {at, 0, kind};
  const size_t found = run(at, p, depth);
  if (found == kNoMatch) --count_;
  return found;
}

size_t Pattern::close(size_t at, size_t p, int depth) {
  size_t index = count_;
  while (index > 0 && captures_[index - 1].kind != Capture::Kind::kOpen) --index;
  if (index == 0) throw Malformed{"invalid pattern capture"};
  Capture& capture = captures_[index - 1];
  capture.kind = Capture::Kind::kText;
  capture.length = at - capture.at;
  const size_t found = run(at, p, depth);
  if (found == kNoMatch) capture.kind = Capture::Kind::kOpen;
  return found;
}

/// %bxy: from an x to the y that closes it.
size_t Pattern::balanced(size_t at, size_t p) const {
  if (p + 1 >= pattern_.size()) throw Malformed{"unbalanced pattern"};
  if (at >= text_.size() || text_[at] != pattern_[p]) return kNoMatch;
  size_t open = 1;
  for (size_t next = at + 1; next < text_.size(); ++next) {
    if (--steps_ < 0) throw TooLong{};
    if (text_[next] == pattern_[p + 1]) {
      if (--open == 0) return next + 1;
    } else if (text_[next] == pattern_[p]) {
      ++open;
    }
  }
  return kNoMatch;
}

/// %1: the text of a capture again.
size_t Pattern::repeated(size_t at, char digit) {
  const auto index = static_cast<size_t>(digit - '1');
  if (digit == '0' || index >= count_ || captures_[index].kind == Capture::Kind::kOpen) {
    throw Malformed{"invalid capture index"};
  }
  const std::string_view before = text_.substr(captures_[index].at, captures_[index].length);
  steps_ -= static_cast<int64_t>(before.size());
  return text_.substr(at).starts_with(before) ? at + before.size() : kNoMatch;
}

size_t Pattern::run(size_t at, size_t p, int depth) {
  if (depth > kDeepest) throw Malformed{"pattern too complex"};
  while (p < pattern_.size()) {
    step();
    const char first = pattern_[p];
    const char second = p + 1 < pattern_.size() ? pattern_[p + 1] : '\0';
    if (first == '(') {
      return second == ')' ? open(at, p + 2, Capture::Kind::kPosition, depth + 1)
                           : open(at, p + 1, Capture::Kind::kOpen, depth + 1);
    }
    if (first == ')') return close(at, p + 1, depth + 1);
    if (first == '$' && p + 1 == pattern_.size()) return at == text_.size() ? at : kNoMatch;
    if (first == '%' && second == 'b') {
      at = balanced(at, p + 2);
      if (at == kNoMatch) return kNoMatch;
      p += 4;
      continue;
    }
    if (first == '%' && second == 'f') {  // %f: a transition from outside the set into it
      p += 2;
      if (p >= pattern_.size() || pattern_[p] != '[') throw Malformed{"missing '[' after '%f' in pattern"};
      const size_t end = item_end(p);
      const auto before = at == 0 ? '\0' : text_[at - 1];
      const auto current = at < text_.size() ? text_[at] : '\0';
      if (in_set(static_cast<unsigned char>(before), p, end) || !in_set(static_cast<unsigned char>(current), p, end)) {
        return kNoMatch;
      }
      p = end;
      continue;
    }
    if (first == '%' && is_digit(static_cast<unsigned char>(second))) {
      at = repeated(at, second);
      if (at == kNoMatch) return kNoMatch;
      p += 2;
      continue;
    }
    const size_t end = item_end(p);
    const char suffix = end < pattern_.size() ? pattern_[end] : '\0';
    if (suffix == '*') return longest(at, p, end, depth + 1);
    if (suffix == '-') return shortest(at, p, end, depth + 1);
    const bool matches = single(at, p, end);
    if (suffix == '+') return matches ? longest(at + 1, p, end, depth + 1) : kNoMatch;
    if (suffix == '?') {
      if (matches) {
        const size_t found = run(at + 1, end + 1, depth + 1);
        if (found != kNoMatch) return found;
      }
      p = end + 1;
      continue;
    }
    if (!matches) return kNoMatch;
    ++at;
    p = end;
  }
  return at;
}

}  // namespace shiplog::interpreter::lua
