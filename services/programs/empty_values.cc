#include "services/programs/empty_values.h"

namespace shiplog {

std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  bool options = true;
  for (const std::string& word : words) {
    options = options && word != "--";
    if (options && word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      all.push_back(word.substr(0, word.size() - 1));
      all.emplace_back();
    } else {
      all.push_back(word);
    }
  }
  return all;
}

}  // namespace shiplog
