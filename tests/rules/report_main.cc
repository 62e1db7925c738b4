// rules_report TREE RULES LOG OUT: joins the rules with what the last ctest run found, into OUT.
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/rules/rules.h"

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::cerr << "usage: rules_report TREE RULES LOG OUT\n";
    return 2;
  }
  const std::string tree = arguments[1];
  const auto list = shiplog::rules::read_rules(content_of(arguments[2]));
  for (const std::string& mistake : list.mistakes) std::cerr << arguments[2] << ": " << mistake << '\n';
  const std::string log = content_of(arguments[3]);
  if (log.empty()) {
    std::cerr << arguments[3] << " is not there or empty: run ctest first\n";
    return 2;
  }
  const std::string text = report(list.rules, shiplog::rules::outcomes_in(log),
                                  [&](const std::string& file) { return content_of(tree + "/" + file); });
  std::ofstream out{arguments[4]};
  out << text;
  out.close();
  if (!out) {
    std::cerr << arguments[4] << " cannot be written\n";
    return 2;
  }
  std::cout << text.substr(text.rfind('\n', text.size() - 2) + 1) << "in " << arguments[4] << '\n';
  return list.mistakes.empty() ? 0 : 1;
}
