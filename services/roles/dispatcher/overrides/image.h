#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::dispatcher {

/// A container image: [registry/]repository[:tag or @digest].
struct Image {
  std::string registry, repository;
  std::string tag, digest;  ///< never both

  std::string str() const;
  const std::string& tag_or_digest() const { return tag.empty() ? digest : tag; }
  /// Replaces either by what `text` is shaped like; shaped like neither, nothing changes (B-20).
  void set_tag_or_digest(std::string_view text);
  bool operator==(const Image&) const = default;
};

/// With a tag and a digest, the digest is dropped, as upstream does (B-20). Error: kInvalid, no image reference.
Result<Image> parse_image(std::string_view text);

}  // namespace shiplog::dispatcher
