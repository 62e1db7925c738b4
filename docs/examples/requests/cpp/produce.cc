// Creates a ConfigMap through the topics of a fleet, and waits for the result:
//   produce BROKERS FLEET NAME <token
#include <iostream>
#include <string>

#include <shiplog/client.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: produce BROKERS FLEET NAME <token\n";
    return 2;
  }
  shiplog::client::Config config;
  config.brokers = argv[1];
  config.fleet = argv[2];
  const std::string name = argv[3];
  std::string error;
  const auto client = shiplog::client::Client::open(config, true, error);
  if (client == nullptr) {
    std::cerr << "error: " << error << "\n";
    return 1;
  }

  shiplog::client::Request request;
  request.id = "example-" + name;  // the same name again is the same request
  request.verb = "create";
  request.name_space = "default";
  request.name = name;
  request.manifest = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                     R"(","namespace":"default"},"data":{"made":"by a producer"}})";
  std::getline(std::cin, request.token);
  if (!client->send(request, error) || !client->flush(std::chrono::seconds{30}, error)) {
    std::cerr << "error: " << error << "; send it again with the same id\n";
    return 1;
  }
  for (int tries = 0; tries < 60; ++tries) {
    const auto result = client->result(std::chrono::seconds{1});
    if (!result || result->id != request.id) continue;
    std::cout << result->json << "\n";
    return result->outcome == "applied" ? 0 : 1;
  }
  std::cerr << "error: no result came within a minute\n";
  return 1;
}
