//! What the API server says of a pod, made into folders, variables and a command.

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
}

impl Pod<'_> {
    fn namespace(&self) -> &str {
        text(&self.object["metadata"], "namespace")
    }

    /// The only container that the operator makes.
    pub(super) fn container(&self) -> &Value {
        &self.object["spec"]["containers"][0]
    }

    /// Writes all that `tests/cluster/container.sh` wants to know.
    pub(super) fn prepare(&self) -> Result<(), Waiting> {
        fs::create_dir_all(&self.folder).expect("a folder");
        let user = self.object["spec"]["securityContext"]["runAsUser"].as_u64().unwrap_or(IMAGE_USER);
        let python = fs::canonicalize(python()).expect("the Python of the venv");
        let visible = [python.parent().expect("a folder").to_owned(), venv().join("bin"), scripts().join("stubs")];
        self.write("user", &[user.to_string()]);
        self.write("visible", &visible.map(|folder| folder.display().to_string()));
        self.write("mounts", &self.mounts(user)?);
        self.write("env", &self.env()?);
        self.write("command", &self.command());
        Ok(())
    }

    fn write(&self, name: &str, entries: &[String]) {
        let text: String = entries.iter().map(|entry| format!("{entry}\0")).collect();
        fs::write(self.folder.join(name), text).expect("a file");
    }

    fn mounts(&self, user: u64) -> Result<Vec<String>, Waiting> {
        let mut mounts = Vec::new();
        for mount in items(self.container(), "volumeMounts") {
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

    fn env(&self) -> Result<Vec<String>, Waiting> {
        // What the image has: `~` is `/`, where the operator mounts the storage.
        let mut env: Vec<(String, String)> = vec![
            ("HOME".into(), "/".into()),
            ("PATH".into(), format!("{}:/usr/bin:/bin", venv().join("bin").display())),
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            ("PYTHONPATH".into(), scripts().join("stubs").display().to_string()),
            ("NO_COLOR".into(), "1".into()),
        ];
        for from in items(self.container(), "envFrom") {
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
        for variable in items(self.container(), "env") {
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

    /// `command` and `args`, or what the entry point of llama-stack's images does.
    fn command(&self) -> Vec<String> {
        let list = |field: &str| -> Vec<String> {
            items(self.container(), field).filter_map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let mut command = list("command");
        if command.is_empty() {
            command = ["llama", "stack", "run"].map(str::to_owned).to_vec();
            let set = |name: &str| items(self.container(), "env").any(|variable| variable["name"] == name);
            if set("RUN_CONFIG_PATH") {
                command = vec![
                    "sh".into(),
                    "-c".into(),
                    "exec llama stack run \"$RUN_CONFIG_PATH\" \"$@\"".into(),
                    "run".into(),
                ];
            } else {
                command.push("starter".into());
            }
        }
        command.extend(list("args"));
        command
    }

    /// The status that a kubelet would write.
    pub(super) fn status(&self, state: Value, ready: bool, restarts: u32) -> Value {
        let truth = if ready { "True" } else { "False" };
        let container = self.container();
        json!({"status": {
            "phase": if state["running"].is_object() { "Running" } else { "Pending" },
            "conditions": [
                {"type": "PodScheduled", "status": "True"},
                {"type": "Initialized", "status": "True"},
                {"type": "ContainersReady", "status": truth},
                {"type": "Ready", "status": truth},
            ],
            "containerStatuses": [{
                "name": container["name"], "image": container["image"], "imageID": "", "ready": ready,
                "started": ready, "restartCount": restarts, "state": state,
            }],
        }})
    }
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
