//! What concerns the pod: its number, volume, variables and command.

use super::{Class, Draft};
use crate::api::ApiVersion;
use crate::ogx::rules::pod::renamed;
use crate::path::Path;
use serde_json::{Value, json};

/// Where the volume was mounted, and where it is now.
pub(super) const OLD_MOUNT: &str = "/.llama";
pub(super) const NEW_MOUNT: &str = "/.ogx";

/// Old and new places of what stays as it is.
const OLDER: [(&str, &str); 10] = [
    ("spec.replicas", "workload.replicas"),
    ("spec.server.workers", "workload.workers"),
    ("spec.server.containerSpec.resources", "workload.resources"),
    ("spec.server.podOverrides.serviceAccountName", "workload.overrides.serviceAccountName"),
    ("spec.server.podOverrides.volumes", "workload.overrides.volumes"),
    ("spec.server.podOverrides.volumeMounts", "workload.overrides.volumeMounts"),
    ("spec.server.podDisruptionBudget", "workload.podDisruptionBudget"),
    ("spec.server.topologySpreadConstraints", "workload.topologySpreadConstraints"),
    ("spec.server.autoscaling", "workload.autoscaling"),
    ("spec.server.storage", "workload.storage"),
];
const NEWER: [(&str, &str); 10] = [
    ("spec.workload.replicas", "workload.replicas"),
    ("spec.workload.workers", "workload.workers"),
    ("spec.workload.resources", "workload.resources"),
    ("spec.workload.overrides.serviceAccountName", "workload.overrides.serviceAccountName"),
    ("spec.workload.overrides.volumes", "workload.overrides.volumes"),
    ("spec.workload.overrides.volumeMounts", "workload.overrides.volumeMounts"),
    ("spec.workload.podDisruptionBudget", "workload.podDisruptionBudget"),
    ("spec.workload.topologySpreadConstraints", "workload.topologySpreadConstraints"),
    ("spec.workload.autoscaling", "workload.autoscaling"),
    ("spec.workload.storage", "workload.storage"),
];

/// Fields that the new resource does not have.
const GONE: [(&str, &str); 5] = [
    ("spec.server.podOverrides.terminationGracePeriodSeconds", "there is no such field: pods get 30 seconds"),
    ("spec.workload.overrides.terminationGracePeriodSeconds", "there is no such field: pods get 30 seconds"),
    ("spec.workload.overrides.podSecurityContext", "there is no such field"),
    ("spec.workload.overrides.securityContext", "there is no such field"),
    (
        "spec.externalProviders",
        "there is no such field: build an image with the providers, or name them with `module` in overrideConfig",
    ),
];

pub(super) fn workload(draft: &mut Draft<'_>) {
    let fields = match draft.from {
        ApiVersion::V1Alpha1 => &OLDER,
        _ => &NEWER,
    };
    for (from, to) in fields {
        // The new API server refuses empty lists.
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty) || value == "";
        if draft.get(from).is_some_and(|value| !is_empty(value)) {
            draft.carry(from, to);
        }
    }
    for (place, why) in GONE {
        if let Some(value) = draft.get(place) {
            let shown =
                if value.is_string() || value.is_number() { format!("{value} is gone: ") } else { String::new() };
            draft.tell(Class::Loss, place, format!("{shown}{why}"));
        }
    }
    let name = "spec.server.containerSpec.name";
    if let Some(old) = draft.get(name) {
        draft.tell(Class::Change, name, format!("the container is called \"ogx\", not {old}"));
    }
    unknown_fields(draft);
    variables(draft, &format!("{}.env", container(draft)));
    command(draft);
    mounts(draft);
    let moves_data = !is_own_mount(draft);
    if let Some(config) = &mut draft.config {
        config.moves_data = moves_data;
    }
}

/// Fields of overrides that the new schema does not have: they come with later versions of the old one.
fn unknown_fields(draft: &mut Draft<'_>) {
    let at = match draft.from {
        ApiVersion::V1Alpha1 => "spec.server.podOverrides",
        _ => "spec.workload.overrides",
    };
    const KNOWN: [&str; 8] = [
        "serviceAccountName",
        "env",
        "command",
        "args",
        "volumes",
        "volumeMounts",
        "terminationGracePeriodSeconds",
        "podSecurityContext",
    ];
    let fields: Vec<String> =
        draft.get(at).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()).collect();
    for field in fields.iter().filter(|field| !KNOWN.contains(&field.as_str()) && *field != "securityContext") {
        draft.tell(Class::Loss, format!("{at}.{field}"), "there is no such field");
    }
}

fn variables(draft: &mut Draft<'_>, at: &str) {
    let Some(list) = draft.get(at).and_then(Value::as_array) else { return };
    let moves_data = !is_own_mount(draft);
    let mut kept = Vec::new();
    for (number, entry) in list.iter().enumerate() {
        let name = entry["name"].as_str().unwrap_or_default();
        let place = || format!("{at}[{number}]");
        match name {
            "LLS_PORT" | "LLAMA_STACK_PORT" | "LLAMA_STACK_CONFIG" => {
                draft.tell(
                    Class::Change,
                    place(),
                    format!("{name} is dropped: the operator sets what ogx reads in its place"),
                );
                continue;
            }
            "LLS_WORKERS" => {
                let count =
                    entry["value"].as_str().and_then(|text| text.parse::<i64>().ok()).filter(|count| *count > 0);
                match count {
                    Some(count) if draft.spec["workload"]["workers"].is_null() => {
                        draft.set("workload.workers", count.into());
                        draft.tell(Class::Change, place(), "LLS_WORKERS becomes workload.workers");
                    }
                    _ => draft.tell(Class::Loss, place(), "LLS_WORKERS is dropped: use workload.workers"),
                }
                continue;
            }
            "OGX_PORT" => {
                draft.tell(Class::Change, place(), "OGX_PORT is dropped: the operator sets it to network.port");
                continue;
            }
            _ => {}
        }
        let mut entry = entry.clone();
        if let Some(new) = new_name(name, draft.options.version) {
            draft.tell(Class::Change, place(), format!("{name} becomes {new}"));
            entry["name"] = new.into();
        } else if ["TGI_URL", "SAFETY_MODEL", "CODE_SCANNER_MODEL"].contains(&name) {
            draft.tell(Class::Loss, place(), format!("ogx has nothing that reads {name}: it stays, without effect"));
        }
        if let Some(value) = entry["value"].as_str().filter(|value| moves_data && is_inside(value, OLD_MOUNT)) {
            let new = value.replacen(OLD_MOUNT, NEW_MOUNT, 1);
            draft.tell(Class::Change, place(), format!("{value} becomes {new}, where the volume is mounted now"));
            entry["value"] = new.into();
        }
        let to = format!("workload.overrides.env[{}]", kept.len());
        draft.note_move(&format!("{at}[{number}]"), &to);
        kept.push(entry);
    }
    if !kept.is_empty() {
        draft.set("workload.overrides.env", kept.into());
        draft.note_move(at, "workload.overrides.env");
    }
}

/// The name that ogx reads a variable by, where that is another one.
fn new_name(name: &str, version: &str) -> Option<String> {
    if name == "AWS_BEARER_TOKEN_BEDROCK" && crate::ogx::versions::is_from(version, &[1, 2]) {
        return Some("AWS_BEDROCK_BEARER_TOKEN".to_owned());
    }
    renamed(name)
}

fn is_inside(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether the resource says itself where its volume is mounted.
fn is_own_mount(draft: &Draft<'_>) -> bool {
    let path = draft.spec["workload"]["storage"]["mountPath"].as_str();
    path.is_some_and(|path| path != OLD_MOUNT)
}

/// The fields of the container.
fn container(draft: &Draft<'_>) -> &'static str {
    match draft.from {
        ApiVersion::V1Alpha1 => "spec.server.containerSpec",
        _ => "spec.workload.overrides",
    }
}

/// The words of `command` or `args`.
fn words(draft: &Draft<'_>, field: &str) -> Vec<String> {
    let list = draft.get(&format!("{}.{field}", container(draft))).and_then(Value::as_array);
    let words = list.into_iter().flatten().filter_map(Value::as_str).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// All words that the container is started with, those of a shell's script too.
pub(super) fn words_of_command(draft: &Draft<'_>) -> Vec<String> {
    let all = [words(draft, "command"), words(draft, "args")].concat();
    all.iter().flat_map(|word| word.split_whitespace()).map(str::to_owned).collect()
}

/// A command of llama-stack is dropped: the image's entrypoint starts what the operator mounts.
fn command(draft: &mut Draft<'_>) {
    let pod = container(draft);
    let (command, args) = (words(draft, "command"), words(draft, "args"));
    let all = [command.clone(), args.clone()].concat().join(" ");
    if all.is_empty() {
        return;
    }
    let of_llama_stack = all.contains("llama stack run") || all.contains("llama_stack");
    if of_llama_stack {
        let message = format!(
            "`{all}` is dropped: the image's entrypoint starts ogx with the config that the operator mounts. What else the \
             command did has to be done in the image"
        );
        return draft.tell(Class::Loss, format!("{pod}.command"), message);
    }
    for (field, words) in [("command", command), ("args", args)] {
        if !words.is_empty() {
            draft.set(&format!("workload.overrides.{field}"), words.into());
            draft.note_move(&format!("{pod}.{field}"), &format!("workload.overrides.{field}"));
        }
    }
    let message = "is kept: it has to start ogx, with --insecure or TLS, and the config at /etc/ogx/config.yaml";
    draft.tell(Class::Unknown, format!("{pod}.command"), message);
}

/// Paths below the old folder follow the volume, which is mounted at the new one.
fn mounts(draft: &mut Draft<'_>) {
    if draft.spec["workload"]["storage"]["mountPath"] == OLD_MOUNT {
        // It said the default, and says the default.
        if let Some(storage) = draft.spec["workload"]["storage"].as_object_mut() {
            storage.shift_remove("mountPath");
        }
        draft.tell(
            Class::Change,
            "storage.mountPath",
            "/.llama becomes /.ogx, the default; the files of the volume are found there",
        );
    }
    if is_own_mount(draft) {
        return;
    }
    let at = Path::parse("workload.overrides.volumeMounts");
    let mut told = Vec::new();
    for mount in at.find(&draft.spec).and_then(Value::as_array).cloned().into_iter().flatten().enumerate() {
        let (number, mount) = mount;
        if let Some(path) = mount["mountPath"].as_str().filter(|path| is_inside(path, OLD_MOUNT)) {
            let new = path.replacen(OLD_MOUNT, NEW_MOUNT, 1);
            told.push((number, path.to_owned(), new));
        }
    }
    for (number, old, new) in told {
        draft.spec["workload"]["overrides"]["volumeMounts"][number]["mountPath"] = json!(new);
        draft.tell(Class::Change, format!("volumeMounts[{number}].mountPath"), format!("{old} becomes {new}"));
    }
}
