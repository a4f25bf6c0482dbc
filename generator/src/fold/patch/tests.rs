#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::document::Plain;
use llsd_yaml::parse_document;

fn read(text: &str) -> Value {
    Plain::read(&parse_document(text)).value
}

fn moved(spec: &str) -> Result<Value, Unmoved> {
    let patch = read(&format!("apiVersion: llamastack.io/v1alpha1\nkind: K\nspec: {spec}\n"));
    merge_patch(&patch).map(|(value, _)| {
        assert_eq!(value["apiVersion"], "llamastack.io/v1alpha2");
        value["spec"].clone()
    })
}

#[test]
fn fields_of_a_merge_patch_move_with_their_directives() {
    for (old, new) in [
        ("{replicas: 3}", "{workload: {replicas: 3}}"),
        ("{replicas: null}", "{workload: {replicas: null}}"),
        (
            "{server: {containerSpec: {env: [{name: A, value: b}], port: 9000}}}",
            "{networking: {port: 9000}, workload: {overrides: {env: [{name: A, value: b}]}}}",
        ),
        ("{server: {storage: {$patch: delete}}}", "{workload: {storage: {$patch: delete}}}"),
        ("{server: {distribution: {$patch: replace, image: x}}}", "{distribution: {$patch: replace, image: x}}"),
        (
            "{server: {podOverrides: null}}",
            "{workload: {overrides: {serviceAccountName: null, terminationGracePeriodSeconds: null, volumes: null, \
          volumeMounts: null}}}",
        ),
        ("{network: {exposeRoute: true}}", "{networking: {expose: {}}}"),
        ("{network: {exposeRoute: false}}", "{networking: {expose: {enabled: false}}}"),
        ("{server: {}}", "{}"),
    ] {
        assert_eq!(moved(old).unwrap(), read(new), "{old}");
    }
}

#[test]
fn what_has_no_place_of_its_own_is_named() {
    for (old, why) in [
        ("{server: {containerSpec: {name: x}}}", "v1alpha2 has no field for spec.server.containerSpec.name"),
        (
            "{server: {containerSpec: {$patch: replace, port: 1}}}",
            "it treats spec.server.containerSpec.$patch as a whole, and v1alpha2 has its fields at several places",
        ),
        ("{network: {}}", "it treats spec.network as a whole, and v1alpha2 has its fields at several places"),
        ("{network: null}", "it treats spec.network as a whole, and v1alpha2 has its fields at several places"),
    ] {
        assert_eq!(moved(old).unwrap_err().to_string(), why, "{old}");
    }
}

/// What an operation becomes for resources with these specs, in v1alpha1 and v1alpha2.
fn operated(written: &str, specs: &[(&str, &str)]) -> Result<Value, Unmoved> {
    let met = |(old, new): &(&str, &str)| Met {
        old: json!({"metadata": {}, "spec": read(old)}),
        new: json!({"metadata": {}, "spec": read(new)}),
    };
    let mut met: Vec<Met> = specs.iter().map(met).collect();
    operation(0, &read(written), &mut met).map(Value::Array)
}

#[test]
fn operations_move_and_make_what_is_not_there() {
    let with = ("{replicas: 2}", "{workload: {replicas: 2}}");
    let without = ("{server: {}}", "{distribution: {}}");
    for (old, met, new) in [
        (
            "{op: replace, path: /spec/replicas, value: 3}",
            with,
            "[{op: replace, path: /spec/workload/replicas, value: 3}]",
        ),
        (
            "{op: add, path: /spec/replicas, value: 3}",
            without,
            "[{op: add, path: /spec/workload, value: {replicas: 3}}]",
        ),
        ("{op: remove, path: /spec/replicas}", with, "[{op: remove, path: /spec/workload/replicas}]"),
        ("{op: test, path: /spec/replicas, value: 2}", with, "[{op: test, path: /spec/workload/replicas, value: 2}]"),
        (
            "{op: add, path: /spec/server/podOverrides, value: {serviceAccountName: a}}",
            without,
            "[{op: add, path: /spec/workload, value: {overrides: {serviceAccountName: a}}}]",
        ),
        (
            "{op: add, path: /metadata/labels, value: {a: b}}",
            with,
            "[{op: add, path: /metadata/labels, value: {a: b}}]",
        ),
    ] {
        assert_eq!(operated(old, &[met]).unwrap(), read(new), "{old}");
    }
    let list = (
        "{server: {containerSpec: {env: [{name: A}], port: 1}}}",
        "{networking: {port: 1}, workload: {overrides: {env: [{name: A}]}}}",
    );
    for (old, new) in [
        (
            "{op: add, path: /spec/server/containerSpec/env/-, value: {name: B}}",
            "[{op: add, path: /spec/workload/overrides/env/-, value: {name: B}}]",
        ),
        (
            "{op: replace, path: /spec/server/containerSpec/env/0/name, value: B}",
            "[{op: replace, path: /spec/workload/overrides/env/0/name, value: B}]",
        ),
        (
            "{op: replace, path: /spec/server/containerSpec, value: {port: 2}}",
            "[{op: remove, path: /spec/workload/overrides/env}, {op: add, path: /spec/networking/port, value: 2}]",
        ),
    ] {
        assert_eq!(operated(old, &[list]).unwrap(), read(new), "{old}");
    }
}

#[test]
fn operations_that_would_do_other_things_to_others_are_left() {
    let (with, without) = (("{replicas: 2}", "{workload: {replicas: 2}}"), ("{server: {}}", "{distribution: {}}"));
    let add = "{op: add, path: /spec/replicas, value: 3}";
    assert_eq!(
        operated(add, &[with, without]).unwrap_err().to_string(),
        "the resources that it meets are not alike at /spec/workload/replicas, and would need one patch each"
    );
    for (old, why) in [
        ("{op: remove, path: /spec/nope}", "v1alpha2 has no field for spec.nope"),
        ("{op: replace, path: /apiVersion, value: x}", "v1alpha2 has no field for apiVersion"),
        (
            "{op: test, path: /spec/server, value: {}}",
            "it treats spec.server as a whole, and v1alpha2 has its fields at several places",
        ),
        ("{op: set, path: /spec/replicas}", "kustomize does not apply its operation 1"),
    ] {
        assert_eq!(operated(old, &[with]).unwrap_err().to_string(), why, "{old}");
    }
}

#[test]
fn what_is_not_said_any_more_is_found_in_both_directions() {
    let before = json!({"apiVersion": "llamastack.io/v1alpha1", "kind": "LlamaStackDistribution", "metadata": {},
        "spec": {"replicas": 2, "server": {"distribution": {"name": "starter"}, "containerSpec": {"env": [{"name": "A", "value": "1"}]}}}});
    let after = |spec: &str| json!({"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "metadata": {}, "spec": read(spec)});
    let shown = |spec: &str| differences(&before, &after(spec)).iter().map(ToString::to_string).collect::<Vec<_>>();
    let same = "{distribution: {name: starter}, workload: {replicas: 2, storage: null, overrides: {env: [{name: A, value: '1'}]}}}";
    assert_eq!(shown(same), Vec::<String>::new());
    let other = "{distribution: {name: starter}, workload: {replicas: 3, overrides: {env: [{name: B, value: x}]}}}";
    assert_eq!(
        shown(other),
        [
            "environment variable A: its value is gone",
            "environment variable B: its value is new",
            "spec.replicas: 2 becomes 3"
        ]
    );
}
