#include "services/roles/dispatcher/overrides/image.h"

#include <algorithm>

#include "events/base/utf8.h"

// The grammar is that of docker's image references:
//   reference  = [domain "/"] component {"/" component} [":" tag] ["@" digest]
//   component  = lower-case letters and digits, joined by ".", "_", "__" or dashes

namespace shiplog::dispatcher {
namespace {

constexpr size_t kLongestName = 255;
constexpr size_t kLongestTag = 128;
constexpr size_t kShortestDigest = 32;  // hexadecimal digits

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool letter(char c) { return lower(c) || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool hexadecimal(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_tag(std::string_view text) {
  const auto word = [](char c) { return letter(c) || digit(c) || c == '_'; };
  return !text.empty() && text.size() <= kLongestTag && word(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return word(c) || c == '.' || c == '-'; });
}

bool is_digest(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.size() - colon - 1 < kShortestDigest) return false;
  bool begins = true;  // each part of the algorithm's name begins with a letter
  for (const char c : text.substr(0, colon)) {
    const bool joint = c == '-' || c == '_' || c == '+' || c == '.';
    if (begins ? !letter(c) : !(letter(c) || digit(c) || joint)) return false;
    begins = joint;
  }
  return !begins && std::ranges::all_of(text.substr(colon + 1), hexadecimal);
}

bool is_component(std::string_view text) {
  const auto word = [](char c) { return lower(c) || digit(c); };
  if (text.empty() || !word(text.front()) || !word(text.back())) return false;
  for (size_t i = 0; i < text.size();) {
    if (word(text[i])) {
      ++i;
      continue;
    }
    const size_t end = text.find_first_of("abcdefghijklmnopqrstuvwxyz0123456789", i);
    const std::string_view joint = text.substr(i, end - i);
    const bool dashes = std::ranges::all_of(joint, [](char c) { return c == '-'; });
    if (joint != "." && joint != "_" && joint != "__" && !dashes) return false;
    i = end;
  }
  return true;
}

bool is_domain(std::string_view text) {
  const size_t colon = text.front() == '[' ? text.find(':', text.find(']')) : text.find(':');
  const std::string_view host = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || !std::ranges::all_of(port, digit)) return false;
  }
  if (host.front() == '[') {
    return host.back() == ']' && host.size() > 2 &&
           std::ranges::all_of(host.substr(1, host.size() - 2), [](char c) { return hexadecimal(c) || c == ':'; });
  }
  const auto edge = [](char c) { return letter(c) || digit(c); };
  for (size_t begin = 0; begin <= host.size();) {
    const size_t dot = std::min(host.find('.', begin), host.size());
    const std::string_view label = host.substr(begin, dot - begin);
    if (label.empty() || !edge(label.front()) || !edge(label.back())) return false;
    if (!std::ranges::all_of(label, [&](char c) { return edge(c) || c == '-'; })) return false;
    begin = dot + 1;
  }
  return true;
}

Error malformed(std::string_view text) {
  return {ErrorCode::kInvalid, "failed to parse image value(" + printable(text, 256) + "): invalid reference format"};
}

bool is_name(std::string_view name) {
  bool first = true;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t slash = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, slash - begin);
    const bool domain_allowed = first && slash < name.size();
    if (!is_component(part) && !(domain_allowed && !part.empty() && is_domain(part))) return false;
    first = false;
    begin = slash + 1;
  }
  return true;
}

}  // namespace

std::string Image::str() const {
  std::string text = registry.empty() ? repository : registry + "/" + repository;
  if (!tag.empty()) return text + ":" + tag;
  return digest.empty() ? text : text + "@" + digest;
}

void Image::set_tag_or_digest(std::string_view text) {
  if (is_tag(text)) {
    tag = text;
    digest.clear();
  } else if (is_digest(text)) {
    digest = text;
    tag.clear();
  }
}

Result<Image> parse_image(std::string_view text) {
  Image image;
  std::string_view name = text;
  if (const size_t position = name.find('@'); position != std::string_view::npos) {
    image.digest = name.substr(position + 1);
    if (!is_digest(image.digest)) return malformed(text);
    name = name.substr(0, position);
  }
  // A colon before the last slash belongs to the registry's port.
  const size_t last_slash = name.rfind('/');
  const size_t colon = name.find(':', last_slash == std::string_view::npos ? 0 : last_slash);
  if (colon != std::string_view::npos) {
    image.tag = name.substr(colon + 1);
    if (!is_tag(image.tag)) return malformed(text);
    image.digest.clear();
    name = name.substr(0, colon);
  }
  if (name.empty() || name.size() > kLongestName || !is_name(name)) return malformed(text);

  const size_t slash = name.find('/');
  const std::string_view first = name.substr(0, slash);
  if (slash != std::string_view::npos &&
      (first == "localhost" || first.find_first_of(".:") != std::string_view::npos)) {
    image.registry = first;
    image.repository = name.substr(slash + 1);
  } else {
    image.repository = name;
  }
  return image;
}

}  // namespace shiplog::dispatcher
