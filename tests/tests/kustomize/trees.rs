//! The trees that are migrated: name, what is built, files beside [`BASE`].

/// A name, the folders that are built, the files, each after a line `#- name`, and what becomes of it.
type Fixture = (&'static str, &'static [&'static str], &'static str, Becomes);

/// What a migration does with a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// All of it is v1alpha2 afterwards.
    Migrated,
    /// Nothing changes, and the reason has these words.
    Left(&'static str),
}

use Becomes::{Left, Migrated};

/// The files that every tree begins with; one that goes on without `#-` adds to the last of them.
pub(super) const BASE: &str = "\
#- base/kustomization.yaml
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
";

pub(super) const TREES: &[Fixture] = &[
    ("plain", &["base"], r#""#, Migrated),
    (
        "prefix",
        &["base", "ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
namePrefix: prod-
nameSuffix: -eu
"#,
        Migrated,
    ),
    (
        "namespace",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
namespace: prod
"#,
        Migrated,
    ),
    (
        "labels",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
labels: [{pairs: {team: a}, includeSelectors: true}]
commonAnnotations: {note: x}
"#,
        Migrated,
    ),
    (
        "old-bases",
        &["ov"],
        r#"#- ov/kustomization.yaml
bases: [../base]
"#,
        Migrated,
    ),
    (
        "two-documents",
        &["base"],
        r#"---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: b}
"#,
        Migrated,
    ),
    (
        "generator",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
configMapGenerator:
- name: extra
  files: [settings.yaml=s.yaml]
  literals: [a=b]
#- ov/s.yaml
a: 1
"#,
        Migrated,
    ),
    (
        "images",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
images: [{name: example.com/x, newTag: v2}]
"#,
        Migrated,
    ),
    (
        "other-kind",
        &["ov"],
        r#"#- ov/deploy.yaml
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
        Migrated,
    ),
    (
        "other-name",
        &["ov"],
        r#"#- ov/second.yaml
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
        Migrated,
    ),
    (
        "merge-env",
        &["base", "ov"],
        r#"#- ov/kustomization.yaml
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
        Migrated,
    ),
    (
        "merge-replicas",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {replicas: 5}
"#,
        Migrated,
    ),
    (
        "inline-merge",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- patch: |-
    apiVersion: llamastack.io/v1alpha1
    kind: LlamaStackDistribution
    metadata: {name: stack}
    spec: {replicas: 5}
"#,
        Migrated,
    ),
    (
        "merge-list",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patchesStrategicMerge: [p.yaml]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {replicas: 5}
"#,
        Migrated,
    ),
    (
        "operations-version",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {group: llamastack.io, version: v1alpha1, kind: LlamaStackDistribution, name: stack}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
        Migrated,
    ),
    (
        "operations-file",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  path: ops.yaml
#- ov/ops.yaml
- op: replace
  path: /spec/server/containerSpec/port
  value: 9000
"#,
        Migrated,
    ),
    (
        "operations-json",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {name: st.ck}
  path: ops.json
#- ov/ops.json
[{"op": "remove", "path": "/spec/replicas"}]
"#,
        Left("name the kind in its target"),
    ),
    (
        "operations-old",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patchesJson6902:
- target: {group: llamastack.io, version: v1alpha1, kind: LlamaStackDistribution, name: stack}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
        Migrated,
    ),
    (
        "sleeping-version",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution, version: v1alpha2}
  patch: |-
    - {op: add, path: /spec/workload, value: {replicas: 9}}
"#,
        Left("takes a patch for the other version, which does not apply now"),
    ),
    (
        "selector",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {labelSelector: tier=x}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
        Left("labels or annotations decide"),
    ),
    (
        "component",
        &["ov", "plain"],
        r#"#- ov/kustomization.yaml
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
        Migrated,
    ),
    (
        "nested",
        &["prod", "ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
namePrefix: s-
#- prod/kustomization.yaml
resources: [../ov]
patches:
- target: {kind: LlamaStackDistribution, name: s-stack}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 7}
"#,
        Migrated,
    ),
    (
        "shared-patch",
        &["ov", "two"],
        r#"#- ov/kustomization.yaml
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
        Migrated,
    ),
    (
        "deleted",
        &["ov"],
        r#"#- ov/kustomization.yaml
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
        Migrated,
    ),
    (
        "replacement",
        &["ov"],
        r#"#- ov/kustomization.yaml
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
        Left("transformers, vars or replacements"),
    ),
    (
        "env-behind",
        &["ov", "base"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    # one more
    - op: add # behind the others
      path: /spec/server/containerSpec/env/-
      value: {name: LOG_LEVEL, value: debug}
"#,
        Migrated,
    ),
    (
        "env-in-place",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: test, path: /spec/server/containerSpec/env/0/name, value: VLLM_URL}
    - {op: replace, path: /spec/server/containerSpec/env/0/value, value: "http://prod:8000/v1"}
"#,
        Migrated,
    ),
    (
        "two-overlays",
        &["one", "two", "base"],
        r#"#- one/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- one/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  server:
    # the service of production
    containerSpec:
      env: # all of them
        - name: VLLM_URL
          value: http://one:8000/v1 # not the shared one
#- two/kustomization.yaml
resources: [../base]
namePrefix: two-
patches:
- target: {kind: LlamaStackDistribution, version: v1alpha1}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 4}
"#,
        Migrated,
    ),
    (
        "object-that-is-new",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - op: add
      path: /spec/server/podOverrides
      value:
        serviceAccountName: reader
        terminationGracePeriodSeconds: 90
    - {op: add, path: /spec/server/storage, value: {size: 5Gi}}
"#,
        Migrated,
    ),
    (
        "object-as-a-whole",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - op: replace
      path: /spec/server/containerSpec
      value:
        port: 9000
        resources: {limits: {memory: 4Gi}}
"#,
        Migrated,
    ),
    (
        "object-removed",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: remove, path: /spec/server/containerSpec}
    - {op: remove, path: /spec/replicas}
"#,
        Migrated,
    ),
    (
        "not-alike",
        &["ov"],
        r#"#- ov/second.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: second}
spec:
  server:
    distribution: {name: starter}
#- ov/kustomization.yaml
resources: [../base, second.yaml]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: add, path: /spec/replicas, value: 3}
"#,
        Left("are not alike at /spec/workload/replicas"),
    ),
    (
        "two-resources",
        &["ov", "base"],
        r#"#- ov/second.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: second}
spec:
  replicas: 2
  server:
    distribution: {name: starter}
#- ov/kustomization.yaml
resources: [../base, second.yaml]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 3}
"#,
        Migrated,
    ),
    (
        "merge-storage-and-network",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  network:
    exposeRoute: true
  server:
    storage: {size: 5Gi, mountPath: /data}
    tlsConfig: {caBundle: {configMapName: ca}}
    containerSpec:
      resources: {requests: {cpu: 500m}}
"#,
        Migrated,
    ),
    (
        "merge-allowed",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  network:
    exposeRoute: false
    allowedFrom: {namespaces: [apps]}
"#,
        Migrated,
    ),
    (
        "merge-image",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  server:
    distribution:
      $patch: replace
      image: quay.io/example/stack:1
"#,
        Migrated,
    ),
    (
        "merge-config",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  server:
    userConfig: {configMapName: own}
"#,
        Migrated,
    ),
    (
        "merge-null",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  replicas: null
  server:
    containerSpec:
      port: null
      env: null
"#,
        Migrated,
    ),
    (
        "merge-target",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {group: llamastack.io, version: v1alpha1, kind: LlamaStackDistribution}
  patch: |-
    apiVersion: llamastack.io/v1alpha1
    kind: LlamaStackDistribution
    metadata: {name: any}
    spec:
      replicas: 3
"#,
        Migrated,
    ),
    (
        "port-refused",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  patch: |-
    - {op: replace, path: /spec/server/containerSpec/port, value: 80}
"#,
        Left("v1alpha2 would refuse the result: spec.networking.port"),
    ),
    (
        "field-that-is-gone",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {server: {containerSpec: {name: main}}}
"#,
        Left("v1alpha2 has no field for spec.server.containerSpec.name"),
    ),
    (
        "in-quotes",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  patch: '[{"op": "replace", "path": "/spec/replicas", "value": 3}]'
"#,
        Left("write it as a block"),
    ),
    (
        "operations-in-json",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches:
- target: {kind: LlamaStackDistribution}
  path: ops.json
#- ov/ops.json
[
  {"op": "replace", "path": "/spec/replicas", "value": 5},
  {"op": "add", "path": "/spec/server/podOverrides", "value": {"serviceAccountName": "reader"}}
]
"#,
        Migrated,
    ),
    (
        "patch-of-more",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
patches: [{path: p.yaml}]
#- ov/p.yaml
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: stack}
spec: {replicas: 3}
#- elsewhere/other.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
#- elsewhere/kustomization.yaml
resources: [other.yaml]
components: [part]
#- elsewhere/part/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
"#,
        Migrated,
    ),
    (
        "late-and-prefixed",
        &["ov"],
        r#"#- ov/kustomization.yaml
resources: [../base]
namePrefix: p-
namespace: prod
patchesJson6902:
- target: {group: llamastack.io, version: v1alpha1, kind: LlamaStackDistribution, name: stack}
  path: ops.yaml
#- ov/ops.yaml
- op: replace
  path: /spec/server/distribution
  value: {image: "quay.io/example/stack:2"}
"#,
        Migrated,
    ),
];
