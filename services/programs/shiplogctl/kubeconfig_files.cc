#include "services/programs/shiplogctl/kubeconfig_files.h"

#include <filesystem>

#include "events/base/yaml.h"
#include "services/http/private_file.h"

namespace shiplog::ctl {

Result<std::vector<KubeconfigFile>> read_kubeconfig_files(const std::vector<std::string>& paths) {
  std::vector<KubeconfigFile> files;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (!text && text.error().code == ErrorCode::kNotFound) continue;
    if (!text) return text.error();
    auto content = parse_yaml(text.value());
    if (!content) return content.error().context(path);
    std::error_code failed;
    const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
    if (failed) return Error{ErrorCode::kIo, path + ": " + failed.message()};
    files.push_back({absolute.lexically_normal().string(), std::move(content).value()});
  }
  return files;
}

}  // namespace shiplog::ctl
