#include "services/programs/member/shell/container_image.h"

#include <algorithm>
#include <optional>

#include "events/base/base64.h"
#include "events/base/time.h"
#include "services/programs/member/pod.h"
#include "services/programs/member/shell/commands.h"

namespace shiplog::member {
namespace {

constexpr const char* kConfigMaps = "configmaps";
constexpr const char* kSecretType = "secrets";

/// The data of a ConfigMap or Secret as bytes, by key.
std::map<std::string, std::string> data_of(const Value& object) {
  std::map<std::string, std::string> data;
  const bool secret = object["kind"].as_string() == "Secret";
  for (const auto& [key, value] : object["data"].members()) {
    data[key.str()] = secret ? base64_decode(value.as_string()).value_or("") : value.str();
  }
  for (const auto& [key, value] : object["binaryData"].members()) {
    data[key.str()] = base64_decode(value.as_string()).value_or("");
  }
  return data;
}

/// A field path of the downward API: "metadata.name", "metadata.labels['app']".
std::string field_of(const Value& pod, std::string_view path) {
  const size_t bracket = path.find("['");
  if (bracket != std::string_view::npos && path.ends_with("']")) {
    const std::string_view map = path.substr(path.find('.') + 1, bracket - path.find('.') - 1);
    return pod["metadata"][map][path.substr(bracket + 2, path.size() - bracket - 4)].str();
  }
  const Value* value = &pod;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    value = &(*value)[path.substr(0, dot)];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (!value->is_object()) return value->str();
  std::string lines;
  for (const auto& [key, text] : value->members()) {
    lines += (lines.empty() ? "" : "\n") + key.str() + "=\"" + text.str() + "\"";
  }
  return lines;
}

std::string resource_of(const Value& container, const Value& reference) {
  const std::string resource = reference["resource"].str();
  const size_t dot = std::min(resource.find('.'), resource.size());
  return container["resources"][resource.substr(0, dot)][resource.substr(std::min(dot + 1, resource.size()))].str();
}

std::string status_field(const Value& pod, const std::string& path) {
  if (path == "status.hostIP") return pod["status"]["hostIP"].str();
  return field_of(pod, path);
}

std::string value_from(const Value& pod, const Value& container, const Value& source, const FindObject& find) {
  for (const auto& [member, type] : {std::pair{"configMapKeyRef", kConfigMaps}, {"secretKeyRef", kSecretType}}) {
    const Value& reference = source[member];
    if (reference.is_null()) continue;
    const auto data = data_of(find(type, reference["name"].str()));
    const auto found = data.find(reference["key"].str());
    return found == data.end() ? std::string{} : found->second;
  }
  if (source.contains("fieldRef")) return status_field(pod, source["fieldRef"]["fieldPath"].str());
  if (source.contains("resourceFieldRef")) return resource_of(container, source["resourceFieldRef"]);
  return {};
}

/// $(NAME) of variables that were set before.
std::string with_references(std::string_view text, const std::map<std::string, std::string>& environment) {
  std::string value;
  while (!text.empty()) {
    const size_t begin = text.find("$(");
    const size_t end = begin == std::string_view::npos ? begin : text.find(')', begin);
    if (end == std::string_view::npos) break;
    const auto found = environment.find(std::string{text.substr(begin + 2, end - begin - 2)});
    value += text.substr(0, begin);
    value += found == environment.end() ? std::string{text.substr(begin, end + 1 - begin)} : found->second;
    text.remove_prefix(end + 1);
    if (value.size() > 64 * 1024) break;
  }
  return value.append(text);
}

int64_t security(const Value& pod, const Value& container, const char* field) {
  const Value& own = container["securityContext"][field];
  return own.is_int() ? own.as_int() : pod["spec"]["securityContext"][field].as_int();
}

int64_t created_at(const Value& pod) {
  const auto created = parse_rfc3339(pod["metadata"]["creationTimestamp"].as_string());
  return created ? created.value().value / 1000 : 0;
}

/// Writes what a volume holds into the tree.
class Mounter {
 public:
  Mounter(FileTree& tree, const Value& pod, const Value& container, const FindObject& find)
      : tree_{tree}, pod_{pod}, container_{container}, find_{find}, time_{created_at(pod)} {}

  void folder(const std::string& path, bool read_only = false, uint32_t mode = 0755) {
    if (path == "/") return;
    if (!tree_.contains(path)) folder(std::string{parent_path(path)});
    ContainerFile& file = tree_[path];
    file = {
        .directory = true, .read_only = read_only || file.read_only, .content = {}, .mode = mode, .modified = time_};
  }
  void file(const std::string& path, std::string content, bool read_only = false, uint32_t mode = 0644) {
    if (!tree_.contains(parent_path(path))) folder(std::string{parent_path(path)}, read_only);
    tree_[path] = {.read_only = read_only, .content = std::move(content), .mode = mode, .modified = time_};
  }

  void mount(const Value& mount) {
    const std::string path = resolved_path("/", mount["mountPath"].as_string());
    for (const Value& volume : pod_["spec"]["volumes"].items()) {
      if (volume["name"].as_string() != mount["name"].as_string()) continue;
      const auto files = files_of(volume);
      const bool kept =
          volume.contains("emptyDir") || volume.contains("hostPath") || volume.contains("persistentVolumeClaim");
      const bool read_only = !kept || mount["readOnly"].as_bool();
      const std::string part = mount["subPath"].str();
      if (!part.empty() && !kept) {
        if (const auto found = files.find(part); found != files.end()) file(path, found->second, true);
        return;
      }
      folder(path, read_only, kept ? 0777 : 0755);
      for (const auto& [name, content] : files) {
        const std::string target = resolved_path(path, name);
        if (target.starts_with(path + "/")) file(target, content, true);
      }
    }
  }

 private:
  using Files = std::map<std::string, std::string>;

  Files files_of(const Value& volume) {
    if (volume.contains("configMap"))
      return chosen(volume["configMap"], kConfigMaps, volume["configMap"]["name"].str());
    if (volume.contains("secret")) return chosen(volume["secret"], kSecretType, volume["secret"]["secretName"].str());
    if (volume.contains("downwardAPI")) return fields(volume["downwardAPI"]);
    Files all;
    for (const Value& source : volume["projected"]["sources"].items()) {
      Files files;
      if (source.contains("configMap")) {
        files = chosen(source["configMap"], kConfigMaps, source["configMap"]["name"].str());
      } else if (source.contains("secret")) {
        files = chosen(source["secret"], kSecretType, source["secret"]["name"].str());
      } else if (source.contains("downwardAPI")) {
        files = fields(source["downwardAPI"]);
      }
      all.merge(files);
    }
    return all;
  }

  Files chosen(const Value& source, const char* type, const std::string& name) {
    const Files data = data_of(find_(type, name));
    if (source["items"].size() == 0) return data;
    Files files;
    for (const Value& item : source["items"].items()) {
      const auto found = data.find(item["key"].str());
      if (found != data.end()) files[item["path"].str()] = found->second;
    }
    return files;
  }

  Files fields(const Value& source) {
    Files files;
    for (const Value& item : source["items"].items()) {
      files[item["path"].str()] = item.contains("fieldRef") ? status_field(pod_, item["fieldRef"]["fieldPath"].str())
                                                            : resource_of(container_, item["resourceFieldRef"]);
    }
    return files;
  }

  FileTree& tree_;
  const Value& pod_;
  const Value& container_;
  const FindObject& find_;
  int64_t time_;
};

std::string host_name(const Value& pod) {
  const std::string given = pod["spec"]["hostname"].str();
  const std::string name = given.empty() ? pod["metadata"]["name"].str() : given;
  return name.substr(0, 63);
}

}  // namespace

const Value& container_of(const Value& pod, std::string_view name) {
  static const Value kNone;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Value& container : pod["spec"][list].items()) {
      if (container["name"].as_string() == name) return container;
    }
  }
  return kNone;
}

ShellContainer shell_container(const Value& pod, const Value& container, const FindObject& find) {
  ShellContainer shell;
  shell.host_name = host_name(pod);
  shell.user = security(pod, container, "runAsUser");
  shell.group = security(pod, container, "runAsGroup");
  shell.directory = resolved_path("/", container["workingDir"].as_string());
  auto& environment = shell.environment;
  environment = {{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                 {"HOME", shell.user == 0 ? "/root" : "/"},
                 {"HOSTNAME", shell.host_name},
                 {"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                 {"KUBERNETES_SERVICE_PORT", "443"},
                 {"KUBERNETES_SERVICE_PORT_HTTPS", "443"}};
  for (const Value& source : container["envFrom"].items()) {
    const bool secret = source.contains("secretRef");
    const Value& reference = source[secret ? "secretRef" : "configMapRef"];
    for (auto& [key, value] : data_of(find(secret ? kSecretType : kConfigMaps, reference["name"].str()))) {
      environment[source["prefix"].str() + key] = value;
    }
  }
  for (const Value& variable : container["env"].items()) {
    const std::string name = variable["name"].str();
    environment[name] = variable.contains("valueFrom") ? value_from(pod, container, variable["valueFrom"], find)
                                                       : with_references(variable["value"].as_string(), environment);
  }
  return shell;
}

FileTree image_of(const Value& pod, const Value& container, const FindObject& find) {
  FileTree tree;
  Mounter mounter{tree, pod, container, find};
  const bool read_only = container["securityContext"]["readOnlyRootFilesystem"].as_bool();
  for (const char* path : {"/dev", "/etc", "/home", "/opt", "/proc", "/root", "/usr/bin", "/var/log", "/var/run"}) {
    mounter.folder(path, read_only);
  }
  mounter.folder("/tmp", read_only, 0777);
  for (const std::string& name : command_names()) mounter.file("/bin/" + name, "", true, 0755);
  mounter.file("/dev/null", "", false, 0666);
  const std::string host = host_name(pod);
  mounter.file("/etc/hostname", host + "\n");
  mounter.file("/etc/hosts", "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n" + pod["status"]["podIP"].str() +
                                 "\t" + host + "\n");
  mounter.file("/etc/resolv.conf", "search " + pod["metadata"]["namespace"].str() +
                                       ".svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\n");
  mounter.file("/etc/os-release",
               "NAME=\"simulated\"\nPRETTY_NAME=\"simulated container of image " + container["image"].str() + "\"\n");
  mounter.file("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
  const std::string directory = resolved_path("/", container["workingDir"].as_string());
  mounter.folder(directory, read_only);
  for (const Value& mount : container["volumeMounts"].items()) mounter.mount(mount);
  return tree;
}

}  // namespace shiplog::member
