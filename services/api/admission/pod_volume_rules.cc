#include "services/api/admission/pod_volume_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>

#include "events/base/ascii.h"
#include "events/base/names.h"
#include "events/base/quantity.h"
#include "events/base/utf8.h"
#include "services/api/admission/container_rules.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/metadata.h"

// Source: ValidateVolumes and what it calls in pkg/apis/core/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

/// A path below a volume's root that is not one of the names a kubelet keeps for itself.
void check_file_path(const Value& path, const std::string& field, Causes& causes) {
  if (path.is_empty()) return causes.required(field);
  check_descending_path(path, field, causes);
  const std::string_view text = path.as_string();
  if (text.starts_with("..") && text != ".." && !text.starts_with("../")) {
    causes.invalid(field, path, "must not start with '..'");
  }
}

void check_file_mode(const Value& mode, const std::string& field, Causes& causes) {
  check_range(mode, field, 0, 0777, "must be a number between 0 and 0777 (octal), both inclusive", causes);
}

void check_key_files(const Value& items, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < items.size(); ++i) {
    check_filled(items[i]["key"], at(field, i) + ".key", causes);
    check_file_path(items[i]["path"], at(field, i) + ".path", causes);
    check_file_mode(items[i]["mode"], at(field, i) + ".mode", causes);
  }
}

/// Kubernetes names none of the files.
void check_downward_files(const Value& files, const std::string& field, Causes& causes) {
  for (const Value& file : files.items()) {
    check_file_path(file["path"], field + ".path", causes);
    check_file_mode(file["mode"], field + ".mode", causes);
    if (!file["fieldRef"].is_null()) {
      check_volume_field(file["fieldRef"], field + ".fieldRef", causes);
      if (!file["resourceFieldRef"].is_null()) {
        causes.invalid(field, Value{"resource"}, "fieldRef and resourceFieldRef can not be specified simultaneously");
      }
    } else if (!file["resourceFieldRef"].is_null()) {
      check_filled(file["resourceFieldRef"]["containerName"], field + ".resourceFieldRef.containerName", causes);
      check_resource_field(file["resourceFieldRef"], field + ".resourceFieldRef", causes);
    } else {
      causes.required(field, "one of fieldRef and resourceFieldRef is required");
    }
  }
}

void check_empty_dir(const Value& source, const std::string& field, Causes& causes) {
  const auto limit = parse_quantity(source["sizeLimit"].as_string());
  if (limit && limit.value().negative()) {
    causes.forbidden(field + ".sizeLimit", "SizeLimit field must be a valid resource quantity");
  }
}

void check_host_path(const Value& source, const std::string& field, Causes& causes) {
  if (source["path"].is_empty()) return;
  check_no_backsteps(source["path"], field + ".path", causes);
  const Value& type = source["type"];
  if (type.is_empty()) return;
  check_one_of(type, field + ".type",
               {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"},
               causes);
}

void check_git_repo(const Value& source, const std::string& field, Causes& causes) {
  check_descending_path(source["directory"], field + ".directory", causes);
}

void check_partition(const Value& source, const std::string& field, Causes& causes) {
  check_range(source["partition"], field + ".partition", 0, 255, "must be between 1 and 255, inclusive", causes);
}

/// A ConfigMap's or a Secret's keys as files.
void check_key_volume(const Value& source, const std::string& field, Causes& causes) {
  check_file_mode(source["defaultMode"], field + ".defaultMode", causes);
  check_key_files(source["items"], field + ".items", causes);
}

void check_nfs_source(const Value& source, const std::string& field, Causes& causes) {
  const std::string_view path = source["path"].as_string();
  if (!path.starts_with('/')) causes.invalid(field + ".path", Value{path}, "must be an absolute path");
}

void check_iscsi(const Value& source, const std::string& field, Causes& causes) {
  const Value& name = source["iqn"];
  const std::string_view text = name.as_string();
  if (!text.empty() && !text.starts_with("iqn") && !text.starts_with("eui") && !text.starts_with("naa")) {
    causes.invalid(field + ".iqn", name, "must be valid format starting with iqn, eui, or naa");
  }
  check_range(source["lun"], field + ".lun", 0, 255, "must be between 0 and 255, inclusive", causes);
  const bool authenticates = source["chapAuthDiscovery"].as_bool() || source["chapAuthSession"].as_bool();
  if (authenticates && source["secretRef"].is_null()) causes.required(field + ".secretRef");
}

void check_flocker(const Value& source, const std::string& field, Causes& causes) {
  const bool named = !source["datasetName"].is_empty();
  const bool numbered = !source["datasetUUID"].is_empty();
  if (!named && !numbered) causes.required(field, "one of datasetName and datasetUUID is required");
  if (named && numbered) {
    causes.invalid(field, Value{"resource"}, "datasetName and datasetUUID can not be specified simultaneously");
  }
}

void check_volume_secret(const Value& source, const std::string& field, Causes& causes) {
  if (!source["secretRef"].is_null()) check_filled(source["secretRef"]["name"], field + ".secretRef.name", causes);
}

void check_downward_volume(const Value& source, const std::string& field, Causes& causes) {
  check_file_mode(source["defaultMode"], field + ".defaultMode", causes);
  check_downward_files(source["items"], field, causes);
}

void check_fibre_channel(const Value& source, const std::string& field, Causes& causes) {
  const bool targets = source["targetWWNs"].size() > 0;
  const bool wide = source["wwids"].size() > 0;
  if (!targets && !wide) {
    causes.required(field + ".targetWWNs", "must specify either targetWWNs or wwids, but not both");
  } else if (targets && wide) {
    causes.invalid(field + ".targetWWNs", source["targetWWNs"],
                   "targetWWNs and wwids can not be specified simultaneously");
  }
  if (!targets) return;
  if (source["lun"].is_null()) causes.required(field + ".lun", "lun is required if targetWWNs is specified");
  check_range(source["lun"], field + ".lun", 0, 255, "must be between 0 and 255, inclusive", causes);
}

void check_csi_volume(const Value& source, const std::string& field, Causes& causes) {
  const Value& driver = source["driver"];
  if (driver.as_string().size() > 63) causes.too_long(field + ".driver", 63);
  if (!driver.is_empty()) {
    if (const auto problem = subdomain_problem(lower_case(driver.as_string()))) {
      causes.invalid(field + ".driver", driver, *problem);
    }
  }
  const Value& secret = source["nodePublishSecretRef"];
  if (secret.is_null()) return;
  if (secret["name"].is_empty()) return causes.required(field + ".nodePublishSecretRef.name");
  if (const auto problem = subdomain_problem(secret["name"].as_string())) {
    causes.invalid(field + ".name", secret["name"], *problem);
  }
}

void check_ephemeral_volume(const Value& source, const std::string& field, Causes& causes) {
  const Value& claim = source["volumeClaimTemplate"];
  if (claim.is_null()) return;
  const std::string here = field + ".volumeClaimTemplate";
  for (const auto& member : claim["metadata"].members()) {
    if (member.key() == "labels" || member.key() == "annotations" || member.value.is_empty()) continue;
    causes.forbidden(here + ".metadata." + std::string{member.key()}, "cannot be set");
  }
  check_labels(claim["metadata"]["labels"], here + ".metadata.labels", causes);
  const Value& modes = claim["spec"]["accessModes"];
  if (modes.size() == 0) causes.required(here + ".spec.accessModes", "at least 1 access mode is required");
  for (const Value& mode : modes.items()) {
    check_one_of(mode, here + ".spec.accessModes",
                 {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}, causes);
  }
  if (claim["spec"]["resources"]["requests"]["storage"].is_null()) causes.required(here + ".spec.resources[storage]");
}

void check_token(const Value& token, const std::string& volume, const std::string& field, Causes& causes) {
  const Value& seconds = token["expirationSeconds"];
  check_range(seconds, field + ".expirationSeconds", 600, std::numeric_limits<int64_t>::max(),
              "may not specify a duration less than 10 minutes", causes);
  check_range(seconds, field + ".expirationSeconds", std::numeric_limits<int64_t>::min(), int64_t{1} << 32U,
              "may not specify a duration larger than 2^32 seconds", causes);
  check_file_path(token["path"], volume + ".path", causes);  // upstream's path
}

/// "example.com/signer".
void check_signer(const Value& name, const std::string& field, Causes& causes) {
  const std::string_view text = name.as_string();
  const size_t slash = text.find('/');
  if (text.empty()) return causes.required(field);
  if (slash == std::string_view::npos || text.find('/', slash + 1) != std::string_view::npos) {
    return causes.invalid(field, name,
                          "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  const std::string_view domain = text.substr(0, slash);
  const std::string_view path = text.substr(slash + 1);
  const auto check_parts = [&](std::string_view whole, Problem (*problem_of)(std::string_view)) {
    for (size_t begin = 0; begin <= whole.size();) {
      const size_t end = std::min(whole.find('.', begin), whole.size());
      const std::string_view part = whole.substr(begin, end - begin);
      if (const auto problem = problem_of(part)) {
        return causes.invalid(field, Value{whole}, "validating label " + quoted(part) + ": " + *problem);
      }
      begin = end + 1;
    }
  };
  check_parts(domain, label_problem);
  if (domain.find('.') == std::string_view::npos) {
    causes.invalid(field, Value{domain}, "should be a domain with at least two segments separated by dots");
  }
  check_parts(path, subdomain_problem);
}

/// The name of a ClusterTrustBundle: "example.com:signer:name", or a name without a signer.
Problem bundle_name_problem(std::string_view name) {
  const size_t colon = name.rfind(':');
  return subdomain_problem(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

void check_trust_bundle(const Value& bundle, const std::string& field, Causes& causes) {
  const Value& name = bundle["name"];
  const Value& signer = bundle["signerName"];
  if (!name.is_null() && !signer.is_null()) {
    causes.invalid(field, bundle, "only one of name and signerName may be used");
  } else if (!name.is_null()) {
    if (name.is_empty()) causes.required(field + ".name", "must be a valid object name");
    if (const auto problem = bundle_name_problem(name.as_string())) {
      causes.invalid(field + ".name", name, "not a valid clustertrustbundlename: " + *problem);
    }
    if (!bundle["labelSelector"].is_null()) {
      causes.invalid(field + ".labelSelector", bundle["labelSelector"],
                     "labelSelector must be unset if name is specified");
    }
  } else if (!signer.is_null()) {
    if (signer.is_empty()) causes.required(field + ".signerName", "must be a valid signer name");
    check_signer(signer, field + ".signerName", causes);
    check_selector(bundle["labelSelector"], field + ".labelSelector", causes);
  } else {
    causes.required(field, "either name or signerName must be specified");
  }
  check_file_path(bundle["path"], field + ".path", causes);
}

constexpr const char* kCertificatePaths[] = {"credentialBundlePath", "keyPath", "certificateChainPath"};

/// A certificate that the kubelet requests for the pod.
void check_pod_certificate(const Value& source, const std::string& field, Causes& causes) {
  constexpr int64_t kLeast = 3600;
  constexpr int64_t kDay = 24 * kLeast;
  constexpr int64_t kMostDays = 91;
  const std::string_view signer = source["signerName"].as_string();
  check_signer(source["signerName"], field + ".signerName", causes);
  for (const auto& annotation : source["userAnnotations"].members()) {
    const std::string key = lower_case(annotation.key());
    if (const auto problem = qualified_name_problem(key)) {
      causes.invalid(field + ".userAnnotations", Value{key}, *problem);
    } else if (key.find('/') == std::string::npos) {
      causes.invalid(field + ".userAnnotations", Value{key}, "must be a domain-prefixed key (such as \"acme.io/foo\")");
    }
  }
  constexpr std::string_view kKeyTypes[] = {"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"};
  const std::string_view type = source["keyType"].as_string();
  if (std::ranges::find(kKeyTypes, type) == std::end(kKeyTypes)) {
    causes.not_supported(field + ".keyType", Value{type},
                         {"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"});
  }
  const std::string_view domain = signer.substr(0, std::min(signer.find('/'), signer.size()));
  const int64_t most = domain == "kubernetes.io" || domain.ends_with(".kubernetes.io") ? kDay : kMostDays * kDay;
  const Value& seconds = source["maxExpirationSeconds"];
  const std::string here = field + ".maxExpirationSeconds";
  check_range(seconds, here, kLeast, std::numeric_limits<int64_t>::max(),
              "if provided, maxExpirationSeconds must be >= " + std::to_string(kLeast), causes);
  check_range(seconds, here, std::numeric_limits<int64_t>::min(), most,
              "if provided, maxExpirationSeconds must be <= " + std::to_string(most), causes);
  bool any = false;
  for (const char* path : kCertificatePaths) {
    if (source[path].is_empty()) continue;
    any = true;
    check_file_path(source[path], field + "." + path, causes);
  }
  if (!any) {
    causes.required(field, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
  }
}

/// Files of several sources in one volume.
void check_projected_volume(const Value& source, const std::string& field, Causes& causes) {
  check_file_mode(source["defaultMode"], field + ".defaultMode", causes);
  std::set<std::string_view> paths;
  const auto add = [&](const Value& path, const Value& shown) {
    if (path.is_empty() || paths.insert(path.as_string()).second) return;
    causes.invalid(field, shown, "conflicting duplicate paths");
  };
  for (size_t i = 0; i < source["sources"].size(); ++i) {
    const Value& part = source["sources"][i];
    const std::string here = at(field + ".sources", i);
    for (const char* type : {"secret", "configMap"}) {
      const Value& keys = part[type];
      if (keys.is_null()) continue;
      check_filled(keys["name"], here + "." + type + ".name", causes);
      check_key_files(keys["items"], here + "." + type + ".items", causes);
      for (const Value& item : keys["items"].items()) add(item["path"], keys["name"]);
    }
    check_downward_files(part["downwardAPI"]["items"], here + ".downwardAPI", causes);
    for (const Value& file : part["downwardAPI"]["items"].items()) add(file["path"], file["path"]);
    if (const Value& token = part["serviceAccountToken"]; !token.is_null()) {
      check_token(token, field, here + ".serviceAccountToken", causes);
    }
    if (const Value& bundle = part["clusterTrustBundle"]; !bundle.is_null()) {
      check_trust_bundle(bundle, here + ".clusterTrustBundle", causes);
      add(bundle["path"], bundle["path"]);
    }
    if (const Value& certificate = part["podCertificate"]; !certificate.is_null()) {
      check_pod_certificate(certificate, here + ".podCertificate", causes);
      for (const char* path : kCertificatePaths) add(certificate[path], certificate[path]);
    }
    if (part.size() > 1) causes.forbidden(here, "may not specify more than 1 volume type per source");
  }
}

void check_image_volume(const Value& source, const std::string& field, Causes& causes) {
  check_one_of(source["pullPolicy"], field + ".pullPolicy", {"Always", "IfNotPresent", "Never"}, causes);
}

/// What a type of volume must have, and what else is checked of it.
struct VolumeRule {
  const char* type;
  const char* shown;  ///< how Kubernetes writes the type in front of its fields
  std::array<const char*, 3> required = {};
  void (*check)(const Value& source, const std::string& field, Causes& causes) = nullptr;
};

constexpr VolumeRule kVolumeRules[] = {
    // in the order in which Kubernetes looks at them
    {"emptyDir", "emptyDir", {}, check_empty_dir},
    {"hostPath", "hostPath", {"path"}, check_host_path},
    {"gitRepo", "gitRepo", {"repository"}, check_git_repo},
    {"gcePersistentDisk", "persistentDisk", {"pdName"}, check_partition},
    {"awsElasticBlockStore", "awsElasticBlockStore", {"volumeID"}, check_partition},
    {"secret", "secret", {"secretName"}, check_key_volume},
    {"nfs", "nfs", {"server", "path"}, check_nfs_source},
    {"iscsi", "iscsi", {"targetPortal", "iqn"}, check_iscsi},
    {"glusterfs", "glusterfs", {"endpoints", "path"}},
    {"flocker", "flocker", {}, check_flocker},
    {"persistentVolumeClaim", "persistentVolumeClaim", {"claimName"}},
    {"rbd", "rbd", {"monitors", "image"}},
    {"cinder", "cinder", {"volumeID"}, check_volume_secret},
    {"cephfs", "cephfs", {"monitors"}},
    {"quobyte", "quobyte", {"registry", "volume"}},
    {"downwardAPI", "downwardAPI", {}, check_downward_volume},
    {"fc", "fc", {}, check_fibre_channel},
    {"flexVolume", "flexVolume", {"driver"}},
    {"configMap", "configMap", {"name"}, check_key_volume},
    {"azureFile", "azureFile", {"secretName", "shareName"}},
    {"vsphereVolume", "vsphereVolume", {"volumePath"}},
    {"photonPersistentDisk", "photonPersistentDisk", {"pdID"}},
    {"portworxVolume", "portworxVolume", {"volumeID"}},
    {"azureDisk", "azureDisk", {"diskName", "diskURI"}},
    {"storageos", "storageos", {"volumeName"}, check_volume_secret},
    {"projected", "projected", {}, check_projected_volume},
    {"scaleIO", "scaleIO", {"gateway", "system", "volumeName"}},
    {"csi", "csi", {"driver"}, check_csi_volume},
    {"ephemeral", "ephemeral", {"volumeClaimTemplate"}, check_ephemeral_volume},
    {"image", "image", {}, check_image_volume},
};

void check_volume_source(const Value& volume, const std::string& field, Causes& causes) {
  bool one = false;
  for (const VolumeRule& rule : kVolumeRules) {
    const Value& source = volume[rule.type];
    if (source.is_null()) continue;
    if (one) {
      causes.forbidden(field + "." + rule.type, "may not specify more than 1 volume type");
      continue;
    }
    one = true;
    const std::string here = field + "." + rule.shown;
    for (const char* name : rule.required) {
      // An empty volumeClaimTemplate is there, unlike an empty text.
      if (name != nullptr && source[name].is_empty() && !source[name].is_object()) causes.required(here + "." + name);
    }
    if (rule.check != nullptr) rule.check(source, here, causes);
  }
}

}  // namespace

void check_no_backsteps(const Value& path, const std::string& field, Causes& causes) {
  const std::string_view text = path.as_string();
  if (text.find("..") == std::string_view::npos) return;
  if (("/" + std::string{text} + "/").find("/../") == std::string::npos) return;
  causes.invalid(field, path, "must not contain '..'");
}

void check_descending_path(const Value& path, const std::string& field, Causes& causes) {
  if (path.as_string().starts_with('/')) causes.invalid(field, path, "must be a relative path");
  check_no_backsteps(path, field, causes);
}

void check_volumes(const Value& volumes, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < volumes.size(); ++i) check_volume_source(volumes[i], at(field, i), causes);
}

}  // namespace shiplog::api
