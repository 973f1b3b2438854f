{{- define "queueing.labels" -}}
app.kubernetes.io/name: kueue
app.kubernetes.io/component: controller
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
control-plane: controller-manager
{{- end }}

{{- define "queueing.selector" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
control-plane: controller-manager
{{- end }}

{{/* Objects that stand ready-made in files/, put into the release's namespace. */}}
{{- define "queueing.file" -}}
{{- $namespace := .root.Release.Namespace -}}
{{- $text := .root.Files.Get .name -}}
{{- required (printf "%s is missing: build the chart with `make chart`" .name) $text | replace "kueue-system" $namespace -}}
{{- end }}
