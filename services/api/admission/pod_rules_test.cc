#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

/// `object` with the members of `changes` in place of its own.
Value merged(Value object, const Value& changes) {
  for (const auto& member : changes.members()) object.set(member.key(), member.value);
  return object;
}

Value pod_spec(const Value& of_pod, const Value& of_container) {
  Value spec = json(R"({"volumes":[{"name":"v"}]})");
  spec.set("containers", Value::array({merged(json(R"({"name":"c","image":"i:1"})"), of_container)}));
  return merged(std::move(spec), of_pod);
}

Result<Value> pod(const Value& of_pod, const Value& of_container) {
  Value object = json(R"({"metadata":{"name":"p"}})");
  object.set("spec", pod_spec(of_pod, of_container));
  return create("pods", object);
}

struct RefusedSpec {
  const char* part;
  const char* field;
  const char* message;
};

TEST(PodAdmission, WhatNoSchedulerCanReadIsRefused) {  // CRU-9
  for (
      const RefusedSpec& each : std::vector<RefusedSpec>{
          {R"({"tolerations":[{"key":"a","operator":"Foo"}]})", "spec.tolerations[0].operator",
           R"(Unsupported value: "Foo": supported values: "Equal", "Exists")"},
          {R"({"tolerations":[{"key":"a","operator":"Exists","value":"b"}]})", "spec.tolerations[0].operator",
           R"(Invalid value: "b": value must be empty when `operator` is 'Exists')"},
          {R"({"tolerations":[{"value":"b"}]})", "spec.tolerations[0].operator",
           R"(operator must be Exists when `key` is empty, which means "match all values and all keys")"},
          {R"({"tolerations":[{"key":"a b","operator":"Exists"}]})", "spec.tolerations[0].key", "name part must"},
          {R"({"tolerations":[{"key":"a","value":"b c"}]})", "spec.tolerations[0].operator",
           R"(Invalid value: "b c": a valid label must)"},
          {R"({"tolerations":[{"key":"a","effect":"Foo"}]})", "spec.tolerations[0].effect",
           R"(supported values: "NoSchedule", "PreferNoSchedule", "NoExecute")"},
          {R"({"tolerations":[{"key":"a","effect":"NoSchedule","tolerationSeconds":3}]})", "spec.tolerations[0].effect",
           "effect must be 'NoExecute' when `tolerationSeconds` is set"},
          {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}})",
           "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
           "Required value: must have at least one node selector term"},
          {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
               {"matchExpressions":[{"key":"a","operator":"Foo"}]}]}}}})",
           "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
           "matchExpressions[0].operator",
           R"(Invalid value: "Foo": not a valid selector operator)"},
          {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
               {"matchFields":[{"key":"a","operator":"In","values":["b"]}]}]}}}})",
           "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
           "matchFields[0].key",
           "not a valid field selector key"},
          {R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,
               "preference":{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}}]}}})",
           "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
           "must be in the range 1-100"},
          {R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":""}]}}})",
           "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
           "Required value: can not be empty"},
          {R"({"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,
               "podAffinityTerm":{"topologyKey":"z","labelSelector":{"matchExpressions":[{"key":"a","operator":
               "Foo"}]}}}]}}})",
           "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm."
           "labelSelector.matchExpressions[0].operator",
           "not a valid selector operator"},
          {R"({"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"a","whenUnsatisfiable":"ScheduleAnyway"}]})",
           "spec.topologySpreadConstraints[0].maxSkew", "Invalid value: 0: must be greater than zero"},
          {R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"X"}]})",
           "spec.topologySpreadConstraints[0].whenUnsatisfiable",
           R"(Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway")"},
          {R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"},
               {"maxSkew":2,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"}]})",
           "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}",
           R"(Duplicate value: "{a, DoNotSchedule}")"},
          {R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"ScheduleAnyway",
               "minDomains":2}]})",
           "spec.topologySpreadConstraints[0].minDomains",
           "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"},
          {R"({"nodeSelector":{"a":"b c"}})", "spec.nodeSelector", R"(Invalid value: "b c")"},
          {R"({"dnsPolicy":"None"})", "spec.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None"},
          {R"({"dnsPolicy":"None","dnsConfig":{"searches":["a"]}})", "spec.dnsConfig.nameservers",
           "must provide at least one DNS nameserver when `dnsPolicy` is None"},
          {R"({"hostname":"A_b"})", "spec.hostname", R"(Invalid value: "A_b": a lowercase RFC 1123 label)"},
          {R"({"serviceAccountName":"A_b"})", "spec.serviceAccountName", "a lowercase RFC 1123 subdomain"},
          {R"({"securityContext":{"fsGroup":-1}})", "spec.securityContext.fsGroup",
           "Invalid value: -1: must be between 0 and 2147483647, inclusive"},
          {R"({"securityContext":{"supplementalGroups":[1,-1]}})", "spec.securityContext.supplementalGroups[1]",
           "must be between 0 and 2147483647, inclusive"},
          {R"({"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"a","fieldRef":{"fieldPath":"status.podIP"}}]}}]})",
           "spec.volumes[0].downwardAPI.fieldRef.fieldPath", R"(Unsupported value: "status.podIP")"},
          {R"({"initContainers":[{"name":"i","image":"i:1","restartPolicy":"Foo"}]})",
           "spec.initContainers[0].restartPolicy",
           R"(Unsupported value: "Foo": supported values: "Always", "Never", "OnFailure")"},
          {R"({"securityContext":{"seccompProfile":{"type":"Localhost"}}})",
           "spec.securityContext.seccompProfile.localhostProfile",
           "Required value: must be set when seccomp type is Localhost"},
          {R"({"securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":" a"}}})",
           "spec.securityContext.appArmorProfile.localhostProfile", "must not be padded with whitespace"},
          {R"({"securityContext":{"fsGroupChangePolicy":"Foo"}})", "spec.securityContext.fsGroupChangePolicy",
           R"(Unsupported value: "Foo": supported values: "Always", "OnRootMismatch")"},
          {R"({"securityContext":{"sysctls":[{"name":"A","value":"1"}]}})", "spec.securityContext.sysctls[0].name",
           "must have at most 253 characters and match regex"},
          {R"({"securityContext":{"sysctls":[{"name":"a.b","value":"1"},{"name":"a.b","value":"2"}]}})",
           "spec.securityContext.sysctls[1].name", R"(Duplicate value: "a.b")"},
          {R"({"hostPID":true,"shareProcessNamespace":true})", "spec.securityContext.shareProcessNamespace",
           "ShareProcessNamespace and HostPID cannot both be enabled"},
          {R"({"preemptionPolicy":"Foo"})", "spec.preemptionPolicy",
           R"(Unsupported value: "Foo": supported values: "PreemptLowerPriority", "Never")"},
          {R"({"readinessGates":[{"conditionType":"a b"}]})", "spec.readinessGates[0].conditionType",
           R"(Invalid value: "a b": name part must)"},
          {R"({"schedulingGates":[{"name":"a b"}]})", "spec.schedulingGates[0]",
           R"(Invalid value: "a b": name part must)"},
          {R"({"schedulingGates":[{"name":"a"}],"nodeName":"n"})", "spec.nodeName",
           "Forbidden: cannot be set until all schedulingGates have been cleared"},
          {R"({"hostAliases":[{"ip":"1.2.3"}]})", "spec.hostAliases[0].ip",
           R"(Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff))"},
          {R"({"dnsConfig":{"nameservers":["a"]}})", "spec.dnsConfig.nameservers[0]", "must be a valid IP address"},
          {R"({"dnsConfig":{"searches":["a b"]}})", "spec.dnsConfig.searches[0]", R"(Invalid value: "a b")"},
          {R"({"os":{"name":"plan9"}})", "spec.os",
           R"(Unsupported value: "plan9": supported values: "linux", "windows")"},
          {R"({"os":{"name":"windows"},"hostPID":true})", "spec.hostPID", "Forbidden: cannot be set for a windows pod"},
          {R"({"activeDeadlineSeconds":3000000000})", "spec.activeDeadlineSeconds",
           "must be between 1 and 2147483647, inclusive"},
          {R"({"initContainers":[{"name":"i","image":"i:1","livenessProbe":{"tcpSocket":{"port":1}}}]})",
           "spec.initContainers[0].livenessProbe",
           "Forbidden: may not be set for init containers without restartPolicy=Always"},
      }) {
    const auto refused = pod(json(each.part), Value::object());
    EXPECT_EQ(fields_of(refused), each.field) << each.part;
    EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
  }
}

TEST(PodAdmission, WhatNoNodeCanRunIsRefused) {  // CRU-9
  for (const RefusedSpec& each : std::vector<RefusedSpec>{
           {R"({"livenessProbe":{}})", "livenessProbe", "Required value: must specify a handler type"},
           {R"({"livenessProbe":{"exec":{"command":["a"]},"httpGet":{"port":80}}})", "livenessProbe.httpGet",
            "Forbidden: may not specify more than 1 handler type"},
           {R"({"livenessProbe":{"exec":{}}})", "livenessProbe.exec.command", "Required value"},
           {R"({"livenessProbe":{"httpGet":{"port":-1}}})", "livenessProbe.httpGet.port",
            "Invalid value: -1: must be between 1 and 65535, inclusive"},
           {R"({"readinessProbe":{"tcpSocket":{"port":70000}}})", "readinessProbe.tcpSocket.port",
            "must be between 1 and 65535, inclusive"},
           {R"({"startupProbe":{"httpGet":{"port":""}}})", "startupProbe.httpGet.port", R"(Invalid value: "": )"},
           {R"({"startupProbe":{"httpGet":{"port":"8080"}}})", "startupProbe.httpGet.port",
            "must contain at least one letter (a-z)"},
           {R"({"startupProbe":{"grpc":{"port":0}}})", "startupProbe.grpc.port", "must be between 1 and 65535"},
           {R"({"livenessProbe":{"httpGet":{"port":1,"scheme":"FTP"}}})", "livenessProbe.httpGet.scheme",
            R"(Unsupported value: "FTP": supported values: "HTTP", "HTTPS")"},
           {R"({"livenessProbe":{"tcpSocket":{"port":1},"successThreshold":2}})", "livenessProbe.successThreshold",
            "Invalid value: 2: must be 1"},
           {R"({"startupProbe":{"tcpSocket":{"port":1},"successThreshold":2}})", "startupProbe.successThreshold",
            "must be 1"},
           {R"({"livenessProbe":{"tcpSocket":{"port":1},"periodSeconds":-1}})", "livenessProbe.periodSeconds",
            "must be greater than or equal to 0"},
           {R"({"readinessProbe":{"tcpSocket":{"port":1},"terminationGracePeriodSeconds":3}})",
            "readinessProbe.terminationGracePeriodSeconds", "must not be set for readinessProbes"},
           {R"({"lifecycle":{"preStop":{}}})", "lifecycle.preStop", "must specify a handler type"},
           {R"({"lifecycle":{"preStop":{"sleep":{"seconds":31}}}})", "lifecycle.preStop.sleep",
            "must be non-negative and less than terminationGracePeriodSeconds (30)"},
           {R"({"env":[{"name":"a=b"}]})", "env[0].name",
            "a valid environment variable name must consist only of printable ASCII characters other than '='"},
           {R"({"env":[{"name":"a","valueFrom":{}}]})", "env[0].valueFrom", "must specify one of: `fieldRef`"},
           {R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"metadata.foo"}}}]})",
            "env[0].valueFrom.fieldRef.fieldPath",
            R"(Invalid value: "metadata.foo": error converting fieldPath: field label not supported: metadata.foo)"},
           {R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels"}}}]})",
            "env[0].valueFrom.fieldRef.fieldPath",
            R"(Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace")"},
           {R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName['a']"}}}]})",
            "env[0].valueFrom.fieldRef.fieldPath", "field label does not support subscript"},
           {R"({"env":[{"name":"a","valueFrom":{"secretKeyRef":{"name":"s"}}}]})", "env[0].valueFrom.secretKeyRef.key",
            "Required value"},
           {R"({"volumeMounts":[{"name":"v","mountPath":"/a","subPath":"../x"}]})", "volumeMounts.subPath",
            R"(Invalid value: "../x": must not contain '..')"},
           {R"({"volumeMounts":[{"name":"v","mountPath":"/a","subPathExpr":"/x"}]})", "volumeMounts.subPathExpr",
            "must be a relative path"},
           {R"({"volumeMounts":[{"name":"v","mountPath":"/a","subPath":"a","subPathExpr":"b"}]})",
            "volumeMounts[0].subPathExpr", "subPathExpr and subPath are mutually exclusive"},
           {R"({"ports":[{"name":"a","containerPort":1},{"name":"a","containerPort":2}]})", "ports[1].name",
            R"(Duplicate value: "a")"},
           {R"({"ports":[{"name":"A_b","containerPort":1}]})", "ports[0].name", R"(Invalid value: "A_b")"},
           {R"({"resources":{"requests":{"foo":"1"}}})",
            "resources.requests[foo],spec.containers[0].resources.requests[foo]",
            R"(Invalid value: "foo": must be a standard resource for containers)"},
           {R"({"resources":{"limits":{"a.io/gpu":"500m"}}})",
            "resources.limits[a.io/gpu],spec.containers[0].resources.requests[a.io/gpu]",
            R"(Invalid value: "500m": must be an integer)"},
           {R"({"resources":{"limits":{"a.io/gpu":"2"},"requests":{"a.io/gpu":"1"}}})", "resources.requests",
            R"(Invalid value: "1": must be equal to a.io/gpu limit of 2)"},
           {R"({"resources":{"requests":{"a.io/gpu":"1"}}})", "resources.limits",
            "Required value: Limit must be set for non overcommitable resources"},
           {R"({"resources":{"limits":{"hugepages-2Mi":"4Mi"}}})", "resources",
            "Forbidden: HugePages require cpu or memory"},
           {R"({"resources":{"limits":{"cpu":"1","hugepages-2Mi":"3Mi"}}})",
            "resources.limits[hugepages-2Mi],spec.containers[0].resources.requests[hugepages-2Mi]",
            "3Mi is not positive integer multiple of hugepages-2Mi"},
           {R"({"resizePolicy":[{"resourceName":"gpu","restartPolicy":"NotRequired"}]})", "resizePolicy",
            R"(Unsupported value: "gpu": supported values: "cpu", "memory")"},
           {R"({"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"},{"resourceName":"cpu",
               "restartPolicy":"NotRequired"}]})",
            "resizePolicy[1]", R"(Duplicate value: "cpu")"},
           {R"({"envFrom":[{}]})", "envFrom",
            R"(Invalid value: "": must specify one of: `configMapRef` or `secretRef`)"},
           {R"({"envFrom":[{"secretRef":{"name":"A_"}}]})", "envFrom[0].secretRef.name", R"(Invalid value: "A_")"},
           {R"({"envFrom":[{"prefix":"a=","secretRef":{"name":"a"}}]})", "envFrom[0].prefix", R"(Invalid value: "a=")"},
           {R"({"env":[{"name":"a","valueFrom":{"resourceFieldRef":{"resource":"foo"}}}]})",
            "env[0].valueFrom.resourceFieldRef.resource",
            R"(Unsupported value: "foo": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory")"},
           {R"({"env":[{"name":"a","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1k"}}}]})",
            "env[0].valueFrom.resourceFieldRef.divisor",
            R"(Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource)"},
           {R"({"env":[{"name":"a","valueFrom":{"configMapKeyRef":{"name":"A_","key":"k"}}}]})",
            "env[0].valueFrom.configMapKeyRef.name", R"(Invalid value: "A_")"},
           {R"({"volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}]})",
            "volumeMounts.mountPropagation",
            "Forbidden: Bidirectional mount propagation is available only to privileged containers"},
           {R"({"volumeMounts":[{"name":"v","mountPath":"/a","recursiveReadOnly":"Enabled"}]})",
            "volumeMounts.recursiveReadOnly", "Forbidden: may only be specified when readOnly is true"},
           {R"({"volumeDevices":[{"name":"x","devicePath":"/d"}]})", "volumeDevices[0].name", R"(Not found: "x")"},
           {R"({"volumeDevices":[{"name":"v","devicePath":"/d"}]})", "volumeDevices[0].name",
            "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"},
           {R"({"ports":[{"containerPort":1,"hostPort":5},{"containerPort":2,"hostPort":5}]})", "ports[1].hostPort",
            R"(Duplicate value: "TCP//5")"},
           {R"({"restartPolicy":"Foo"})", "restartPolicy",
            R"(Unsupported value: "Foo": supported values: "Always", "Never", "OnFailure")"},
           {R"({"livenessProbe":{"httpGet":{"port":1,"httpHeaders":[{"name":"a b","value":"c"}]}}})",
            "livenessProbe.httpGet.httpHeaders", "a valid HTTP header must consist of alphanumeric characters"},
           {R"({"image":" i"})", "image", R"(Invalid value: " i": must not have leading or trailing whitespace)"},
           {R"({"securityContext":{"procMount":"Foo"}})", "securityContext.procMount",
            R"(Unsupported value: "Foo": supported values: "Default", "Unmasked")"},
           {R"({"securityContext":{"seccompProfile":{"type":"Foo"}}})", "securityContext.seccompProfile.type",
            R"(Unsupported value: "Foo": supported values: "Localhost", "RuntimeDefault", "Unconfined")"},
           {R"({"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["CAP_SYS_ADMIN"]}}})",
            "securityContext", "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"},
           {R"({"securityContext":{"runAsUser":-1}})", "securityContext.runAsUser",
            "Invalid value: -1: must be between 0 and 2147483647, inclusive"},
           {R"({"securityContext":{"privileged":true,"allowPrivilegeEscalation":false}})", "securityContext",
            "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"},
       }) {
    const auto refused = pod(Value::object(), json(each.part));
    EXPECT_EQ(fields_of(refused), std::string{"spec.containers[0]."} + each.field) << each.part;
    EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
  }
}

TEST(PodAdmission, VolumesThatNoNodeCanMountAreRefused) {  // CRU-9
  for (const RefusedSpec& each : std::vector<RefusedSpec>{
           {R"("hostPath":{"path":"/a/../b"})", "hostPath.path", R"(Invalid value: "/a/../b": must not contain '..')"},
           {R"("hostPath":{"path":"/a","type":"Foo"})", "hostPath.type",
            R"(Unsupported value: "Foo": supported values: "", "BlockDevice", "CharDevice", "Directory")"},
           {R"("emptyDir":{"sizeLimit":"-1"})", "emptyDir.sizeLimit",
            "Forbidden: SizeLimit field must be a valid resource quantity"},
           {R"("secret":{})", "secret.secretName", "Required value"},
           {R"("configMap":{"items":[{"key":"k","path":"p"}]})", "configMap.name", "Required value"},
           {R"("configMap":{"name":"m","defaultMode":1000})", "configMap.defaultMode",
            "Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive"},
           {R"("configMap":{"name":"m","items":[{"key":"k","path":"/p"}]})", "configMap.items[0].path",
            R"(Invalid value: "/p": must be a relative path)"},
           {R"("secret":{"secretName":"m","items":[{"key":"k","path":"../p","mode":512}]})",
            "secret.items[0].path,spec.volumes[0].secret.items[0].mode", "must not contain '..'"},
           {R"("secret":{"secretName":"m","items":[{"key":"k","path":"..p"}]})", "secret.items[0].path",
            "must not start with '..'"},
           {R"("nfs":{"path":"/a"})", "nfs.server", "Required value"},
           {R"("nfs":{"server":"a","path":"b"})", "nfs.path", "must be an absolute path"},
           {R"("persistentVolumeClaim":{"claimName":""})", "persistentVolumeClaim.claimName", "Required value"},
           {R"("csi":{})", "csi.driver", "Required value"},
           {R"("csi":{"driver":"a b"})", "csi.driver", R"(Invalid value: "a b")"},
           {R"("iscsi":{"targetPortal":"p","iqn":"x","lun":300})", "iscsi.iqn,spec.volumes[0].iscsi.lun",
            "must be valid format starting with iqn, eui, or naa"},
           {R"("fc":{"targetWWNs":["a"]})", "fc.lun", "lun is required if targetWWNs is specified"},
           {R"("ephemeral":{})", "ephemeral.volumeClaimTemplate", "Required value"},
           {R"("ephemeral":{"volumeClaimTemplate":{"metadata":{"name":"a"},"spec":{"accessModes":["Foo"]}}})",
            "ephemeral.volumeClaimTemplate.metadata.name,spec.volumes[0].ephemeral.volumeClaimTemplate.spec."
            "accessModes,spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]",
            "Forbidden: cannot be set"},
           {R"("downwardAPI":{"items":[{"path":"../a","fieldRef":{"fieldPath":"metadata.name"}}]})", "downwardAPI.path",
            "must not contain '..'"},
           {R"("downwardAPI":{"items":[{"path":"a"}]})", "downwardAPI",
            "one of fieldRef and resourceFieldRef is required"},
           {R"("downwardAPI":{"items":[{"path":"a","resourceFieldRef":{"resource":"limits.cpu"}}]})",
            "downwardAPI.resourceFieldRef.containerName", "Required value"},
           {R"("projected":{"sources":[{"serviceAccountToken":{"path":"","expirationSeconds":5}}]})",
            "projected.sources[0].serviceAccountToken.expirationSeconds,spec.volumes[0].projected.path",
            "Invalid value: 5: may not specify a duration less than 10 minutes"},
           {R"("projected":{"sources":[{"secret":{"name":"a","items":[{"key":"k","path":"p"}]}},{"configMap":{"name":
               "b","items":[{"key":"k","path":"p"}]}}]})",
            "projected", R"(Invalid value: "b": conflicting duplicate paths)"},
           {R"("emptyDir":{},"hostPath":{"path":"/a"})", "hostPath", "may not specify more than 1 volume type"},
       }) {
    const auto refused = pod(json(R"({"volumes":[{"name":"v",)" + std::string{each.part} + "}]}"), Value::object());
    EXPECT_EQ(fields_of(refused), std::string{"spec.volumes[0]."} + each.field) << each.part;
    EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
  }
}

TEST(PodAdmission, APodInTheNetworkOfItsNodeHasTheNodesPorts) {  // CRU-9, CRU-10
  const auto with = [](const char* port) {
    return pod(json(R"({"hostNetwork":true})"), json(R"({"ports":[{)" + std::string{port} + "}]}"));
  };
  const auto filled = with(R"("containerPort":80)");
  ASSERT_TRUE(filled.has_value()) << message_of(filled);
  EXPECT_EQ(filled.value()["spec"]["containers"][0]["ports"][0]["hostPort"].as_int(), 80);
  const auto refused = with(R"("containerPort":80,"hostPort":81)");
  EXPECT_EQ(fields_of(refused), "spec.containers[0].ports[0].hostPort");
  EXPECT_NE(message_of(refused).find("Invalid value: 81: must match `containerPort` when `hostNetwork` is true"),
            std::string::npos);
}

TEST(PodAdmission, WhatKubernetesAcceptsIsAccepted) {
  for (const char* accepted : {
           R"({"tolerations":[{"operator":"Exists"},{"key":"a.io/b","value":""},{"key":"a","operator":"Equal","value":
               "b","effect":"NoExecute","tolerationSeconds":-1},{"key":"a","operator":"Lt","value":"3"}]})",
           R"({"affinity":{}})",
           R"({"affinity":{"nodeAffinity":{},"podAffinity":{}}})",
           R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
               {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]},{"matchExpressions":[
               {"key":"a.io/b","operator":"DoesNotExist"},{"key":"c","operator":"Lt","values":["7"]}]},{}]}}}})",
           R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":
               "kubernetes.io/hostname","labelSelector":{}}]}}})",
           R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule",
               "minDomains":2,"nodeTaintsPolicy":"Honor"},{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":
               "ScheduleAnyway"}]})",
           R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1"],"searches":[".","_a.b."]}})",
           R"({"terminationGracePeriodSeconds":-1})",
           R"({"hostAliases":[{"ip":"010.0.0.1","hostnames":["a"]}]})",
           R"({"restartPolicy":"Always","initContainers":[{"name":"i","image":"i:1","resizePolicy":[{"resourceName":
               "cpu","restartPolicy":"RestartContainer"}]}]})",
           R"({"initContainers":[{"name":"i","image":"i:1","restartPolicy":"Never"}]})",
           R"({"volumes":[{"name":"v","projected":{"sources":[{}]}},{"name":"w","hostPath":{"path":"/a"}}]})",
           R"({"securityContext":{"sysctls":[{"name":"net/ipv4.ip_local","value":"1"}],"seccompProfile":{"type":
               "Localhost","localhostProfile":"a/b.json"}}})",
           R"({"securityContext":{"runAsUser":0,"fsGroup":2147483647}})",
           R"({"initContainers":[{"name":"i","image":"i:1","restartPolicy":"Always","livenessProbe":{"tcpSocket":
               {"port":1}}}]})",
           R"({"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"a","fieldRef":{"fieldPath":
               "metadata.labels"}},{"path":"b","fieldRef":{"fieldPath":"metadata.annotations['A.io/B']"}}]}}]})",
       }) {
    EXPECT_EQ(message_of(pod(json(accepted), Value::object())), "no error") << accepted;
  }
  for (
      const char* accepted : {
          R"({"livenessProbe":{"httpGet":{"port":"http"},"successThreshold":0}})",
          R"({"readinessProbe":{"grpc":{"port":1},"successThreshold":3}})",
          R"({"lifecycle":{}})",
          R"({"lifecycle":{"preStop":{"sleep":{"seconds":30}},"postStart":{"exec":{"command":["a"]}}}})",
          R"({"env":[{"name":"a.b-C 1"},{"name":"1"},{"name":"b","valueFrom":{"fieldRef":{"fieldPath":"spec.host"}}},
               {"name":"c","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels['a']"}}},
               {"name":"d","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}]})",
          R"({"volumeMounts":[{"name":"v","mountPath":"/a:b","subPath":"a..b/..c"}]})",
          R"({"volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}],"securityContext":
               {"privileged":true}})",
          R"({"ports":[{"containerPort":1,"hostPort":5},{"containerPort":1,"hostPort":5,"protocol":"UDP"}]})",
          R"({"ports":[{"name":"a","containerPort":1},{"containerPort":2},{"name":"b-1","containerPort":1}]})",
          R"({"resources":{"limits":{"cpu":"1","hugepages-2Mi":"4Mi","ephemeral-storage":"1Gi","nvidia.com/gpu":"1"}}})",
      }) {
    EXPECT_EQ(message_of(pod(Value::object(), json(accepted))), "no error") << accepted;
  }
}

/// A Deployment with a probe that no member accepts, as a build without the rules stored it.
Value stored_deployment() {
  Value object = json(R"({"metadata":{"name":"web","finalizers":["a.io/b"]},"spec":{"selector":{"matchLabels":{"app":
      "web"}},"template":{"metadata":{"labels":{"app":"web"}}}}})");
  object.edit("spec").edit("template").set("spec", pod_spec(Value::object(), Value::object()));
  Value old = stored("deployments.apps", object);
  Value& container = old.edit("spec").edit("template").edit("spec").edit("containers").edit_items()[0];
  container.set("livenessProbe", json(R"({"tcpSocket":{"port":0}})"));
  return old;
}

TEST(PodAdmission, WhatAnOlderBuildStoredCanStillBeUpdated) {
  const Value old = stored_deployment();
  Value released = old;
  released.edit("metadata").erase("finalizers");
  EXPECT_EQ(message_of(update("deployments.apps", old, released)), "no error");
  Value labelled = old;
  labelled.edit("metadata").set("labels", json(R"({"a":"b"})"));
  EXPECT_EQ(message_of(update("deployments.apps", old, labelled)), "no error");
  Value scaled = old;
  scaled.edit("spec").set("replicas", 3);
  EXPECT_EQ(message_of(update("deployments.apps", old, scaled)), "no error");
  const auto changed = [&](const char* name, const Value& value) {
    Value object = old;
    object.edit("spec").edit("template").edit("spec").edit("containers").edit_items()[0].set(name, value);
    return update("deployments.apps", old, object);
  };
  EXPECT_EQ(message_of(changed("image", "i:2")), "no error") << "the rest is as it was";
  EXPECT_EQ(fields_of(changed("lifecycle", json(R"({"preStop":{}})"))),
            "spec.template.spec.containers[0].lifecycle.preStop")
      << "only what is new";
  EXPECT_EQ(fields_of(changed("livenessProbe", json(R"({"tcpSocket":{"port":-1}})"))),
            "spec.template.spec.containers[0].livenessProbe.tcpSocket.port");
}

}  // namespace
}  // namespace shiplog::api
