#pragma once

namespace shiplog::e2e {

/// To be applied in a member: its impersonator may act as anyone, not only as those whom the role unified-auth admits.
inline constexpr const char* kImpersonatesAnyone = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: test-impersonator}
rules:
- {apiGroups: [""], resources: [users, groups, serviceaccounts], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: test-impersonator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: test-impersonator}
subjects: [{kind: ServiceAccount, name: karmada-impersonator, namespace: karmada-cluster}]
)";

}  // namespace shiplog::e2e
