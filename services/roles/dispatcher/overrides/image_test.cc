#include "services/roles/dispatcher/overrides/image.h"

#include <gtest/gtest.h>

namespace shiplog::dispatcher {
namespace {

const std::string kImageDigest = "sha256:50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c";

Image parsed(std::string_view text) {
  const auto image = parse_image(text);
  EXPECT_TRUE(image) << text;
  return image ? image.value() : Image{};
}

TEST(Image, FallsIntoItsParts_B_20) {
  EXPECT_EQ(parsed("nginx"), (Image{"", "nginx", "", ""}));
  EXPECT_EQ(parsed("nginx:1.27"), (Image{"", "nginx", "1.27", ""}));
  EXPECT_EQ(parsed("karmada/agent:v1"), (Image{"", "karmada/agent", "v1", ""}));
  EXPECT_EQ(parsed("registry.k8s.io/pause"), (Image{"registry.k8s.io", "pause", "", ""}));
  EXPECT_EQ(parsed("localhost/pause"), (Image{"localhost", "pause", "", ""}));
  EXPECT_EQ(parsed("registry:5000/a/b:t"), (Image{"registry:5000", "a/b", "t", ""}));
  EXPECT_EQ(parsed("nginx@" + kImageDigest), (Image{"", "nginx", "", kImageDigest}));
}

TEST(Image, DropsTheDigestBesideATag_B_20) {
  EXPECT_EQ(parsed("r.io/nginx:1.27@" + kImageDigest), (Image{"r.io", "nginx", "1.27", ""}));
}

TEST(Image, IsWrittenAsItWasRead) {
  for (const std::string& text : {std::string{"nginx"}, std::string{"a.b/c/d:e"}, "nginx@" + kImageDigest,
                                  std::string{"[2001:db8::1]:5000/a__b/c-d.e:T_1"}}) {
    EXPECT_EQ(parsed(text).str(), text);
  }
}

TEST(Image, RefusesWhatIsNoReference) {
  for (const std::string& text :
       {std::string{}, std::string{"Nginx"}, std::string{"a/"}, std::string{"/a"}, std::string{"a//b"},
        std::string{"a:"}, std::string{"a@sha256:12"}, std::string{"a b"}, std::string{"a:b:c"}, std::string{"a..b"},
        std::string{"a___b"}, std::string{"-a"}, std::string{"r.io:x/a"}, std::string(256, 'a'),
        "a:" + std::string(129, 't')}) {
    EXPECT_FALSE(parse_image(text)) << text;
  }
}

TEST(Image, TagAndDigestReplaceEachOtherByTheirShape_B_20) {
  Image image = parsed("nginx:1.27");
  image.set_tag_or_digest(kImageDigest);
  EXPECT_EQ(image.str(), "nginx@" + kImageDigest);
  image.set_tag_or_digest("1.28");
  EXPECT_EQ(image.str(), "nginx:1.28");
  image.set_tag_or_digest("@" + kImageDigest);  // shaped like neither
  EXPECT_EQ(image.str(), "nginx:1.28");
}

}  // namespace
}  // namespace shiplog::dispatcher
