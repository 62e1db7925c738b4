#pragma once

#include <string>

namespace shiplog::e2e {

/// YAML of a Deployment with one container "main" and the label app=NAME, and a document separator. `pod`: more lines
/// of the pod's spec, indented by six spaces.
inline std::string deployment_manifest(const std::string& name, int replicas = 1,
                                       const std::string& image = "nginx:1.27", const std::string& pod = "") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
         "}\nspec:\n  replicas: " + std::to_string(replicas) + "\n  selector: {matchLabels: {app: " + name +
         "}}\n  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:\n" + pod +
         "      containers:\n      - {name: main, image: \"" + image + "\"}\n---\n";
}

}  // namespace shiplog::e2e
