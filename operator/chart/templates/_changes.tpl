{{- /* Each of these changes the object that it is given, and writes nothing. */ -}}

{{- /* What stays when the chart is uninstalled: the definition of the resource, and what guards it. */ -}}
{{- define "llsd-operator.keep" -}}
{{- $annotations := dict "helm.sh/resource-policy" "keep" -}}
{{- $_ := set .metadata "annotations" (merge $annotations (.metadata.annotations | default dict)) -}}
{{- end -}}

{{- /* A list of the context of the chart and the Deployment. */ -}}
{{- define "llsd-operator.deployment" -}}
{{- $values := (index . 0).Values -}}
{{- $deployment := index . 1 -}}
{{- $pod := $deployment.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $image := printf "%s:%s" $values.image.repository ($values.image.tag | default (index . 0).Chart.AppVersion) -}}
{{- if $values.image.digest }}{{ $image = printf "%s@%s" $values.image.repository $values.image.digest }}{{ end -}}
{{- $_ := set $deployment.spec "replicas" $values.replicas -}}
{{- $_ := set $container "image" $image -}}
{{- /* Pods of resources with external providers run it, too. */ -}}
{{- range $container.env }}{{ if eq .name "OPERATOR_IMAGE" }}{{ $_ := set . "value" $image }}{{ end }}{{ end -}}
{{- with $values.image.pullPolicy }}{{ $_ := set $container "imagePullPolicy" . }}{{ end -}}
{{- with $values.resources }}{{ $_ := set $container "resources" . }}{{ end -}}
{{- if $values.ogx.enabled }}{{ $_ := set $container "args" (append $container.args "--ogx-servers") }}{{ end -}}
{{- $_ := set $container "args" (concat $container.args $values.args) -}}
{{- $_ := set $container "env" (concat $container.env $values.env) -}}
{{- range $field := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" -}}
{{- with get $values $field }}{{ $_ := set $pod $field . }}{{ end -}}
{{- end -}}
{{- end -}}
