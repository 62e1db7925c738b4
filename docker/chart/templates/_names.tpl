{{- define "shiplog.labels" -}}
app.kubernetes.io/name: shiplog
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "shiplog.selector" -}}
app.kubernetes.io/name: shiplog
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "shiplog.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What is the same in every pod. */}}
{{- define "shiplog.pod" -}}
serviceAccountName: {{ .Release.Name }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
terminationGracePeriodSeconds: 30
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "shiplog.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Probes of a process. An API server serves without leaders of other roles. */}}
{{- define "shiplog.probes" -}}
livenessProbe:
  httpGet: {path: /livez, port: health}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: {path: "/readyz?exclude=leaders", port: health}
  periodSeconds: 2
  timeoutSeconds: 2
startupProbe:
  httpGet: {path: /livez, port: health}
  periodSeconds: 2
  failureThreshold: 300
{{- end }}

{{/* The names in the API's certificate. */}}
{{- define "shiplog.sans" -}}
{{- $service := .Release.Name -}}
{{- $names := list $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) -}}
{{- concat $names .Values.api.names | join "," -}}
{{- end }}

{{- define "shiplog.kafka" -}}
{{- if not .Values.journal.kafka.brokers }}
{{- fail "journal.kafka.brokers: list the brokers as HOST:PORT" }}
{{- end }}
- --journal=kafka:{{ join "," .Values.journal.kafka.brokers }}/{{ .Values.journal.kafka.fleet }}
{{- if .Values.journal.kafka.optionsSecret }}
- --config=/etc/shiplog/shiplogd.yaml
{{- end }}
- --data-dir=/var/lib/shiplog/data
- --keys-dir=/var/lib/shiplog/keys
- --health-probe-bind-address=0.0.0.0:8081
- --metrics-bind-address=0.0.0.0:8080
- --logging-format=json
{{- range .Values.options }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* Keys are copied, as a process keeps its certificate beside them. Without front-proxy-ca.* a pod makes an authority of its
own, which the fleet trusts from then on: Secrets of older releases lack it. */}}
{{- define "shiplog.initKeys" -}}
- name: keys
  image: {{ include "shiplog.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [bash, -c, "umask 077; mkdir -p /keys/pki && cp /secret/fleet.key /keys/ && cp /secret/ca.* /secret/service-accounts.* /keys/pki/ && if [ -e /secret/front-proxy-ca.key ]; then cp /secret/front-proxy-ca.* /keys/pki/; fi"]
  securityContext: {{ include "shiplog.containerSecurity" . | nindent 4 }}
  volumeMounts:
    - {name: keys-secret, mountPath: /secret, readOnly: true}
    - {name: keys, mountPath: /keys}
{{- end }}

{{- define "shiplog.kafkaMounts" -}}
- {name: data, mountPath: /var/lib/shiplog/data}
- {name: keys, mountPath: /var/lib/shiplog/keys}
- {name: tmp, mountPath: /tmp}
{{- if .Values.journal.kafka.optionsSecret }}
- {name: options, mountPath: /etc/shiplog, readOnly: true}
{{- end }}
{{- end }}

{{- define "shiplog.kafkaVolumes" -}}
- {name: data, emptyDir: {}}
- {name: keys, emptyDir: {medium: Memory}}
- {name: tmp, emptyDir: {}}
- name: keys-secret
  secret: {secretName: {{ required "keysSecret: name the Secret with fleet.key, ca.*, service-accounts.* and front-proxy-ca.*" .Values.keysSecret }}, defaultMode: 0440}
{{- with .Values.journal.kafka.optionsSecret }}
- name: options
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end }}
