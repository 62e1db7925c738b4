// pipeline_report RULES LOG OUT: joins the rules with what the last ctest run found, into OUT.
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/pipeline/rules.h"

namespace {

std::string content_of(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: pipeline_report RULES LOG OUT\n";
    return 2;
  }
  const auto list = shiplog::pipeline::read_rules(content_of(arguments[1]));
  for (const std::string& mistake : list.mistakes) std::cerr << arguments[1] << ": " << mistake << '\n';
  const std::string log = content_of(arguments[2]);
  if (log.empty()) {
    std::cerr << arguments[2] << " is not there or empty: run ctest first\n";
    return 2;
  }
  const std::string text = report(list.rules, shiplog::pipeline::outcomes_in(log));
  std::ofstream out{arguments[3]};
  out << text;
  out.close();
  if (!out) {
    std::cerr << arguments[3] << " cannot be written\n";
    return 2;
  }
  std::cout << text.substr(text.rfind('\n', text.size() - 2) + 1) << "in " << arguments[3] << '\n';
  return list.mistakes.empty() ? 0 : 1;
}
