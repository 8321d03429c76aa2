{{/* The name of the objects: RELEASE-CHART, or RELEASE if it contains the name of the chart. */}}
{{- define "muster.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "muster.serviceAccount" -}}
{{- default (include "muster.fullname" .) .Values.serviceAccount.name -}}
{{- end }}

{{- define "muster.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "muster.labels" -}}
{{ include "muster.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* registry/repository:tag, or …@digest, from a dict with image and tag. */}}
{{- define "muster.image" -}}
{{- $name := .image.repository -}}
{{- if .image.registry -}}{{- $name = printf "%s/%s" (trimSuffix "/" .image.registry) $name -}}{{- end -}}
{{- if .image.digest -}}{{ $name }}@{{ .image.digest }}{{- else -}}{{ $name }}:{{ .tag }}{{- end -}}
{{- end }}

{{/* The version of the cluster as in Kubernetes releases: "v1.33.4" for "v1.33.4-gke.1036000". */}}
{{- define "muster.schedulerTag" -}}
{{- default (regexFind "^v[0-9]+\\.[0-9]+\\.[0-9]+" .Capabilities.KubeVersion.Version) .Values.scheduler.image.tag -}}
{{- end }}

{{/* kube-scheduler 1.32 and newer have /livez and /readyz. Older versions have only /healthz. A tag begins with the
version, and may have a suffix, such as "v1.30.4-eks-1-30-12". */}}
{{- define "muster.schedulerProbe" -}}
{{- $version := include "muster.schedulerTag" .root | regexFind "^v?[0-9]+\\.[0-9]+(\\.[0-9]+)?" -}}
{{- $older := false -}}
{{- if $version -}}
{{- $older = semverCompare "<1.32.0" (trimPrefix "v" $version) -}}
{{- end -}}
{{- ternary "/healthz" .path $older -}}
{{- end }}

{{/* The address of the extender port, which the kube-scheduler in the same pod calls. */}}
{{- define "muster.listen" -}}
{{- default "127.0.0.1:9910" .Values.config.listen -}}
{{- end }}

{{- define "muster.opsListen" -}}
{{- default "0.0.0.0:9911" .Values.config.opsListen -}}
{{- end }}

{{- define "muster.opsPort" -}}
{{- include "muster.opsListen" . | splitList ":" | last -}}
{{- end }}

{{/* muster's configuration file. */}}
{{- define "muster.config" -}}
{{- if hasKey .Values.config "kubeconfig" -}}
{{- fail "config.kubeconfig: muster uses the service account of its pod; remove config.kubeconfig" -}}
{{- end -}}
{{- if hasKey .Values.config "gates" -}}
{{- fail "config.gates is written by the chart from the value gates; remove config.gates and set gates" -}}
{{- end -}}
{{- $gates := pick (.Values.gates | default dict) "enabled" "showToAutoscaler" -}}
{{- $here := dict "gates" $gates "listen" (include "muster.listen" .) "opsListen" (include "muster.opsListen" .) "kubeSchedulerConfig" "/etc/muster/scheduler.yaml" "schedulerNames" .Values.scheduler.profiles "podGroupSchedulers" .Values.scheduler.profiles -}}
{{- toYaml (mergeOverwrite $here (deepCopy .Values.config)) -}}
{{- end }}

{{/* The output of `muster scheduler-config` for these settings and profiles, and then scheduler.config. */}}
{{- define "muster.kubeSchedulerConfig" -}}
{{- if has "default-scheduler" .Values.scheduler.profiles -}}
{{- fail "scheduler.profiles: default-scheduler is the name of the cluster's own scheduler, and two schedulers would bind the same pods; remove it, or see docs/install.md for how to run muster with the cluster's own scheduler" -}}
{{- end -}}
{{- range list "apiVersion" "kind" "extenders" "profiles" "leaderElection" -}}
{{- if hasKey $.Values.scheduler.config . -}}
{{- fail (printf "scheduler.config.%s is written by the chart (scheduler.profiles, scheduler.leaderElect); remove it" .) -}}
{{- end -}}
{{- end -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: http://{{ include "muster.listen" . }}/scheduler
  filterVerb: filter
  prioritizeVerb: prioritize
  preemptVerb: preempt
  bindVerb: bind
  weight: 10
  nodeCacheCapable: true
  ignorable: false
  httpTimeout: {{ default 30 .Values.config.httpTimeoutSeconds }}s
profiles:
{{- range .Values.scheduler.profiles }}
- schedulerName: {{ . | quote }}
{{- end }}
{{- with .Values.scheduler.config }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The security context of both containers. */}}
{{- define "muster.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The keys that link a pod to its PodGroup, as in workload/podgroup_wanted.c. A test compares the lists. */}}
{{- define "muster.links.annotations" -}}
- pod-group-name
- scheduling.run.ai/pod-group
- scheduling.k8s.io/group-name
- scheduling.volcano.sh/group-name
- gang.scheduling.koordinator.sh/name
{{- end }}

{{- define "muster.links.labels" -}}
- scheduling.x-k8s.io/pod-group
- pod-group.scheduling.sigs.k8s.io
- pod-group.scheduling.sigs.k8s.io/name
{{- end }}

{{/* A CEL expression from the settings: whether muster creates a PodGroup for the pod, as far as the pod alone
shows it (docs/workloads.md). muster removes the gate again if the pod does not need it. */}}
{{- define "muster.asksForPodGroup" -}}
{{- $inOurs := list -}}
{{- with dig "podGroupNamespaces" list . -}}
{{- $inOurs = append $inOurs (printf "request.namespace in %s" (toJson .)) -}}
{{- end -}}
{{- with dig "podGroupExcludedNamespaces" (list "kube-system") . -}}
{{- $inOurs = append $inOurs (printf "!(request.namespace in %s)" (toJson .)) -}}
{{- end -}}
{{- range $inOurs }}
{{ . }} &&
{{- end }}
!object.metadata.?ownerReferences.orValue([]).exists(o, o.kind in ["DaemonSet", "Node"]) &&
object.metadata.?annotations[?"muster.dev/create-podgroup"].orValue("") != "false" &&
object.metadata.?annotations[?"scheduling.run.ai/gang-scheduling"].orValue("") != "false" &&
object.metadata.?annotations[?"kai.scheduler/skip-podgrouper"].orValue("") != "true" &&
!has(object.spec.schedulingGroup) &&
({{ with .podGroupSchedulers }}object.spec.schedulerName in {{ toJson . }} || {{ end -}}
["muster.dev/gang", "muster.dev/create-podgroup", "scheduling.run.ai/gang-scheduling"].exists(k, object.metadata.?annotations[?k].orValue("") != ""))
{{- end }}
