//! What the API server says of a pod, made into folders, variables and a command.

use super::image::{self, Image};
use base64::Engine as _;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::llama_stack::{python, scripts};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The user of llama-stack's images.
const IMAGE_USER: u64 = 1001;

/// Why a container cannot be made, as a kubelet says it in `state.waiting`.
pub(super) struct Waiting {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

fn config_error(message: String) -> Waiting {
    Waiting { reason: "CreateContainerConfigError", message }
}

/// Text of a field; empty if it is not there.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}

/// The contents of a ConfigMap or Secret, decoded; `None` if there is no such object.
fn contents(cluster: &Cluster, namespace: &str, plural: &str, name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let answer = cluster.send(Request::get(format!("/api/v1/namespaces/{namespace}/{plural}/{name}")));
    let data = answer.accepted().then(|| answer.body["data"].as_object().cloned().unwrap_or_default())?;
    let decode = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        if plural == "secrets" {
            base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
        } else {
            text.as_bytes().to_vec()
        }
    };
    Some(data.iter().map(|(key, value)| (key.clone(), decode(value))).collect())
}

/// One pod in a folder of its own.
pub(super) struct Pod<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) object: &'a Value,
    /// Where the pod's folders are.
    pub(super) folder: PathBuf,
    /// Where the folders of all volumes that stay are, by the name of the PersistentVolume.
    pub(super) volumes: &'a Path,
    /// Where images are unpacked, each in a folder by its name, for all pods together.
    pub(super) images: &'a Path,
}

/// What a kubelet tells of one container.
#[derive(Clone, Default, PartialEq)]
pub(super) struct State {
    /// `state`; null until it is the container's turn.
    pub(super) now: Value,
    /// `lastState`: how it ended last.
    pub(super) last: Value,
    pub(super) restarts: u32,
}

impl Pod<'_> {
    fn namespace(&self) -> &str {
        text(&self.object["metadata"], "namespace")
    }

    /// The containers in the order of their turn: the last is the server, which is the only one that the operator makes
    /// beside init containers.
    pub(super) fn containers(&self) -> Vec<&Value> {
        let spec = &self.object["spec"];
        items(spec, "initContainers").chain(items(spec, "containers").take(1)).collect()
    }

    /// Writes all that `tests/cluster/container.sh` wants to know of a container into a folder, which is returned.
    pub(super) fn prepare(&self, container: &Value) -> Result<PathBuf, Waiting> {
        let image = image::pulled(text(container, "image"), self.images)?;
        let folder = self.folder.join("containers").join(text(container, "name"));
        fs::create_dir_all(&folder).expect("a folder");
        let user = self.user(container, image.as_ref());
        let python = fs::canonicalize(python()).expect("the Python of the venv");
        let visible = [python.parent().expect("a folder").to_owned(), venv().join("bin"), scripts().join("stubs")];
        let write = |name: &str, entries: &[String]| {
            let text: String = entries.iter().map(|entry| format!("{entry}\0")).collect();
            fs::write(folder.join(name), text).expect("a file");
        };
        write("user", &[user.to_string()]);
        write("visible", &visible.map(|folder| folder.display().to_string()));
        write("image", &image.iter().map(|image| image.root.display().to_string()).collect::<Vec<_>>());
        write("mounts", &self.mounts(container, user)?);
        write("env", &self.env(container)?);
        write("command", &command(container, image.as_ref()));
        Ok(folder)
    }

    /// The number of the user that a container runs as.
    fn user(&self, container: &Value, image: Option<&Image>) -> u64 {
        let chosen = [container, &self.object["spec"]].map(|place| place["securityContext"]["runAsUser"].as_u64());
        chosen.into_iter().flatten().next().or_else(|| image?.user()).unwrap_or(IMAGE_USER)
    }

    fn mounts(&self, container: &Value, user: u64) -> Result<Vec<String>, Waiting> {
        let mut mounts = Vec::new();
        for mount in items(container, "volumeMounts") {
            let name = text(mount, "name");
            let volume = items(&self.object["spec"], "volumes").find(|volume| volume["name"] == name);
            let volume = volume.unwrap_or_else(|| panic!("the API server accepts no mount without volume {name}"));
            let source = self.volume(volume, user)?;
            let mode = if mount["readOnly"] == true { "ro" } else { "rw" };
            mounts.extend([source.display().to_string(), text(mount, "mountPath").to_owned(), mode.to_owned()]);
        }
        Ok(mounts)
    }

    /// The folder of a volume, filled.
    fn volume(&self, volume: &Value, user: u64) -> Result<PathBuf, Waiting> {
        let folder = self.folder.join("volumes").join(text(volume, "name"));
        if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
            let path = format!("/api/v1/namespaces/{}/persistentvolumeclaims/{claim}", self.namespace());
            let claim = self.cluster.send(Request::get(path)).body;
            if claim["status"]["phase"] != "Bound" {
                let message = "pod has unbound immediate PersistentVolumeClaims".to_owned();
                return Err(Waiting { reason: "ContainerCreating", message });
            }
            let folder = self.volumes.join(text(&claim["spec"], "volumeName"));
            return Ok(owned_by(folder, user));
        }
        let (plural, source) = match (&volume["configMap"], &volume["secret"]) {
            (Value::Null, Value::Null) if volume["emptyDir"].is_object() => return Ok(owned_by(folder, user)),
            (Value::Null, secret) if !secret.is_null() => ("secrets", secret),
            (map, _) if !map.is_null() => ("configmaps", map),
            _ => panic!("this kubelet knows no such volume: {volume}"),
        };
        let name = if plural == "secrets" { text(source, "secretName") } else { text(source, "name") };
        let data = match contents(self.cluster, self.namespace(), plural, name) {
            Some(data) => data,
            None if source["optional"] == true => Vec::new(),
            None => {
                let message =
                    format!("MountVolume.SetUp failed for volume {}: {plural} {name} not found", volume["name"]);
                return Err(Waiting { reason: "ContainerCreating", message });
            }
        };
        let folder = owned_by(folder, user);
        for (key, bytes) in data {
            let chosen = items(source, "items").find(|item| item["key"] == key.as_str());
            if source["items"].is_array() && chosen.is_none() {
                continue;
            }
            let path = folder.join(chosen.map_or(key.as_str(), |item| text(item, "path")));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
        Ok(folder)
    }

    fn env(&self, container: &Value) -> Result<Vec<String>, Waiting> {
        // What the image has: `~` is `/`, where the operator mounts the storage.
        let mut env: Vec<(String, String)> = vec![
            ("HOME".into(), "/".into()),
            ("PATH".into(), format!("{}:/usr/bin:/bin", venv().join("bin").display())),
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            ("NO_COLOR".into(), "1".into()),
        ];
        for from in items(container, "envFrom") {
            let (plural, source) = if from["secretRef"].is_object() {
                ("secrets", &from["secretRef"])
            } else {
                ("configmaps", &from["configMapRef"])
            };
            match contents(self.cluster, self.namespace(), plural, text(source, "name")) {
                Some(data) => env.extend(data.into_iter().map(|(key, value)| {
                    (format!("{}{key}", text(from, "prefix")), String::from_utf8_lossy(&value).into_owned())
                })),
                None if source["optional"] == true => {}
                None => return Err(config_error(format!("{plural} \"{}\" not found", text(source, "name")))),
            }
        }
        for variable in items(container, "env") {
            let name = text(variable, "name").to_owned();
            let value = match &variable["valueFrom"] {
                Value::Null => expanded(text(variable, "value"), &env),
                from => match self.value_from(from)? {
                    Some(value) => value,
                    None => continue,
                },
            };
            env.retain(|(known, _)| *known != name);
            env.push((name, value));
        }
        // Packages that the image has and the venv does not come last on the path, as the image's own do.
        let stubs = scripts().join("stubs").display().to_string();
        match env.iter_mut().find(|(name, _)| name == "PYTHONPATH") {
            Some((_, path)) => *path = format!("{path}:{stubs}"),
            None => env.push(("PYTHONPATH".into(), stubs)),
        }
        Ok(env.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
    }

    fn value_from(&self, from: &Value) -> Result<Option<String>, Waiting> {
        let (plural, source) = match (&from["secretKeyRef"], &from["configMapKeyRef"]) {
            (Value::Null, map) if !map.is_null() => ("configmaps", map),
            (secret, _) if !secret.is_null() => ("secrets", secret),
            _ => panic!("this kubelet knows no such source: {from}"),
        };
        let (name, key) = (text(source, "name"), text(source, "key"));
        let data = contents(self.cluster, self.namespace(), plural, name);
        let value = data.as_ref().and_then(|data| data.iter().find(|(known, _)| known == key));
        match (value, &data) {
            (Some((_, value)), _) => Ok(Some(String::from_utf8_lossy(value).into_owned())),
            _ if source["optional"] == true => Ok(None),
            (None, Some(_)) => {
                Err(config_error(format!("couldn't find key {key} in {plural} {}/{name}", self.namespace())))
            }
            (None, None) => Err(config_error(format!("{plural} \"{name}\" not found"))),
        }
    }

    /// The status that a kubelet would write.
    pub(super) fn status(&self, states: &[State], ready: bool) -> Value {
        let told: Vec<Value> = self
            .containers()
            .into_iter()
            .zip(states)
            .map(|(container, state)| {
                let now = if state.now.is_null() {
                    json!({"waiting": {"reason": "PodInitializing"}})
                } else {
                    state.now.clone()
                };
                let done = now["terminated"]["exitCode"] == 0;
                json!({
                    "name": container["name"], "image": container["image"], "imageID": "", "ready": ready || done,
                    "started": ready, "restartCount": state.restarts, "state": now, "lastState": state.last,
                })
            })
            .collect();
        let (server, init) = told.split_last().expect("a pod has a container");
        let truth = |holds: bool| if holds { "True" } else { "False" };
        json!({"status": {
            "phase": if server["state"]["running"].is_object() { "Running" } else { "Pending" },
            "conditions": [
                {"type": "PodScheduled", "status": "True"},
                {"type": "Initialized", "status": truth(init.iter().all(|state| state["ready"] == true))},
                {"type": "ContainersReady", "status": truth(ready)},
                {"type": "Ready", "status": truth(ready)},
            ],
            "initContainerStatuses": init,
            "containerStatuses": [server],
        }})
    }
}

/// `command` and `args`, or the entry point of the image, or what that of llama-stack's images does.
fn command(container: &Value, image: Option<&Image>) -> Vec<String> {
    let list = |field: &str| -> Vec<String> {
        items(container, field).filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let mut command = list("command");
    if command.is_empty() {
        command = image.map_or_else(|| llama_stack(container), Image::entry_point);
    }
    command.extend(list("args"));
    command
}

fn llama_stack(container: &Value) -> Vec<String> {
    let own_config = items(container, "env").any(|variable| variable["name"] == "RUN_CONFIG_PATH");
    let words: &[&str] = match own_config {
        true => &["sh", "-c", "exec llama stack run \"$RUN_CONFIG_PATH\" \"$@\"", "run"],
        false => &["llama", "stack", "run", "starter"],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The folder of the environment with llama-stack.
fn venv() -> PathBuf {
    python().ancestors().nth(2).expect("bin/python is in a folder").to_owned()
}

/// A folder that the container's user may write to, as `fsGroup` does it.
fn owned_by(folder: PathBuf, user: u64) -> PathBuf {
    fs::create_dir_all(&folder).expect("a folder");
    let user = u32::try_from(user).expect("a user's number");
    std::os::unix::fs::chown(&folder, Some(user), Some(user)).expect("these tests run as root");
    folder
}

/// `$(NAME)`, as Kubernetes expands it: with the variables before it.
fn expanded(value: &str, env: &[(String, String)]) -> String {
    env.iter().fold(value.to_owned(), |value, (name, known)| value.replace(&format!("$({name})"), known))
}
