//! The trees that are migrated: name, what is built, files.

/// A name, the folders that are built, and the files, each after a line `#- name`.
type Fixture = (&'static str, &'static [&'static str], &'static str);

pub(super) const TREES: &[Fixture] = &[
    (
        "plain",
        &["base"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
"#,
    ),
    (
        "prefix",
        &["base", "ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
namePrefix: prod-
nameSuffix: -eu
"#,
    ),
    (
        "namespace",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
namespace: prod
"#,
    ),
    (
        "labels",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
labels: [{pairs: {team: a}, includeSelectors: true}]
commonAnnotations: {note: x}
"#,
    ),
    (
        "old-bases",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
bases: [../base]
"#,
    ),
    (
        "two-documents",
        &["base"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: b}
"#,
    ),
    (
        "generator",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
configMapGenerator:
- name: extra
  files: [settings.yaml=s.yaml]
  literals: [a=b]
#- ov/s.yaml
a: 1
"#,
    ),
    (
        "images",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
images: [{name: example.com/x, newTag: v2}]
"#,
    ),
    (
        "other-kind",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/deploy.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: proxy}
spec: {replicas: 1, template: {spec: {containers: []}}}
#- ov/kustomization.yaml
resources: [../base, deploy.yaml]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
    ),
    (
        "other-name",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/second.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: second
spec:
  server:
    distribution:
      name: starter
#- ov/kustomization.yaml
resources: [../base, second.yaml]
patches:
- target: {kind: LlamaStackDistribution, name: second}
  patch: |-
    - {op: add, path: /spec/replicas, value: 3}
"#,
    ),
    (
        "merge-env",
        &["base", "ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  server:
    containerSpec:
      env:
        - {name: VLLM_URL, value: "http://prod.models.svc:8000/v1"}
"#,
    ),
    (
        "merge-replicas",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {replicas: 5}
"#,
    ),
    (
        "inline-merge",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches:
- patch: |-
    apiVersion: llamastack.io/v1alpha1
    kind: LlamaStackDistribution
    metadata: {name: stack}
    spec: {replicas: 5}
"#,
    ),
    (
        "merge-list",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patchesStrategicMerge: [p.yaml]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {replicas: 5}
"#,
    ),
    (
        "operations-version",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {group: llamastack.io, version: v1alpha1, kind: LlamaStackDistribution, name: stack}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
    ),
    (
        "operations-file",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  path: ops.yaml
#- ov/ops.yaml
- op: replace
  path: /spec/server/containerSpec/port
  value: 9000
"#,
    ),
    (
        "operations-json",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {name: st.ck}
  path: ops.json
#- ov/ops.json
[{"op": "remove", "path": "/spec/replicas"}]
"#,
    ),
    (
        "operations-old",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patchesJson6902:
- target: {group: llamastack.io, version: v1alpha1, kind: LlamaStackDistribution, name: stack}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
    ),
    (
        "sleeping-version",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {version: v1alpha2}
  patch: |-
    - {op: add, path: /spec/workload, value: {replicas: 9}}
"#,
    ),
    (
        "selector",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
  labels: {tier: x}
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {labelSelector: tier=x}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
    ),
    (
        "component",
        &["ov", "plain"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
components: [../comp]
#- plain/kustomization.yaml
resources: [../base]
#- comp/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 4}
"#,
    ),
    (
        "nested",
        &["prod", "ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
namePrefix: s-
#- prod/kustomization.yaml
resources: [../ov]
patches:
- target: {name: s-stack}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 7}
"#,
    ),
    (
        "shared-patch",
        &["ov", "two"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base]
components: [../patches]
#- two/kustomization.yaml
resources: [../base]
components: [../patches]
#- patches/kustomization.yaml
kind: Component
apiVersion: kustomize.config.k8s.io/v1alpha1
patches: [{path: p.yaml}]
#- patches/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {replicas: 6}
"#,
    ),
    (
        "deleted",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base, other.yaml]
patches:
- patch: |-
    apiVersion: llamastack.io/v1alpha1
    kind: LlamaStackDistribution
    metadata: {name: stack}
    $patch: delete
#- ov/other.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
"#,
    ),
    (
        "replacement",
        &["ov"],
        r#"#- base/kustomization.yaml
resources: [stack.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: stack
spec:
  replicas: 2 # two
  server:
    distribution:
      name: starter
    containerSpec:
      port: 8321
      env:
        - name: VLLM_URL
          value: http://vllm.models.svc:8000/v1
#- ov/kustomization.yaml
resources: [../base, c.yaml]
replacements:
- source: {kind: ConfigMap, name: c, fieldPath: data.replicas}
  targets: [{select: {kind: LlamaStackDistribution}, fieldPaths: [spec.replicas]}]
#- ov/c.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {replicas: "3"}
"#,
    ),
];
