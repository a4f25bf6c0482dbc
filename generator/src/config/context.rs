//! What a config and the resources that mount it say of each other.

use super::environment::{self, Expression, Form};
use super::mounting::{Mount, Variable};
use super::{Memory, Verdict, check_again, local_state, providers, versions};
use crate::check::finding::{Finding, Severity, Target};
use crate::check::rules::{mounted_config as rule, server_config};
use crate::path::{Path, Segment};
use serde_json::Value;
use std::collections::BTreeSet;

/// Variables that images and the operator set, or that every process has.
const SET_ANYWAY: [&str; 8] =
    ["HOME", "HOSTNAME", "PATH", "PWD", "USER", "HF_HOME", "SSL_CERT_FILE", "KUBERNETES_SERVICE_HOST"];

/// What the operator's own variables begin with.
const OF_OPERATOR: [&str; 3] = ["LLAMA_STACK_", "LLS_", "OGX_"];

/// Keys that hold files which have to be there when the server starts, or folders.
const READ: [&str; 5] = ["tls_certfile", "tls_keyfile", "tls_cafile", "external_providers_dir", "external_apis_dir"];

/// Keys of providers and stores that hold files which have to be there when the other end is talked to.
const READ_LATER: [&str; 13] = [
    "tls_verify",
    "verify",
    "cacert",
    "client_cert",
    "client_key",
    "ca_cert_path",
    "ca_pem_path",
    "server_pem_path",
    "client_pem_path",
    "client_key_path",
    "ewallet_pem_loc",
    "tnsnames_loc",
    "oci_config_file_path",
];

/// Keys that hold files and folders which the server writes.
const WRITTEN: [&str; 4] = ["db_path", "storage_dir", "persist_directory", "dpo_output_dir"];

/// Folders that every image has, or every pod.
const EVERYWHERE: [&str; 5] = ["/etc/ssl", "/etc/pki", "/usr", "/var/run/secrets", "/run/secrets"];

/// Whether a finding about a config holds where it is only a base: which providers serve an API, what they and the
/// backends are called, and whole sections may be the resource's to say.
#[must_use]
pub fn concerns(finding: &Finding, mounts: &[&Mount]) -> bool {
    let is_base = !mounts.is_empty() && mounts.iter().all(|mount| mount.is_base);
    let completed = [&server_config::API_MISMATCH, &server_config::DANGLING].contains(&finding.rule);
    let is_section = *finding.rule == server_config::MISSING && finding.path.segments().len() < 2;
    !is_base || !(completed || is_section)
}

/// What is wrong with a config in the light of the resources that mount it. `verdict`: what was found without them;
/// `memory`: what was kept of it, see [`check_again`]. A base config is no server's whole config: what is made of it is
/// judged with the resource.
#[must_use]
pub fn findings(
    config: &Value,
    unknown: &BTreeSet<Path>,
    mounts: &[&Mount],
    verdict: &Verdict,
    memory: &Memory,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for mount in mounts.iter().filter(|mount| !mount.is_base) {
        let pair = Pair { config, unknown, mount, memory };
        let mut lost = Vec::new();
        pair.walk(config, &mut Path::root(), &mut lost, &mut found);
        found.extend(pair.lost(lost));
        pair.replicas(&mut found);
        pair.disabled(&mut found);
        pair.port(verdict, &mut found);
        pair.values(verdict, &mut found);
    }
    // Several resources may miss the same.
    let mut seen = BTreeSet::new();
    found.retain(|finding| seen.insert((finding.rule.id, finding.path.clone())));
    found
}

struct Pair<'a> {
    config: &'a Value,
    unknown: &'a BTreeSet<Path>,
    mount: &'a Mount,
    memory: &'a Memory,
}

impl Pair<'_> {
    /// Looks at every text of the config. `lost`: files that the server writes outside of volumes. As deep as plain values
    /// are.
    fn walk(&self, value: &Value, path: &mut Path, lost: &mut Vec<(Path, String)>, found: &mut Vec<Finding>) {
        if self.unknown.contains(path) {
            return;
        }
        match value {
            Value::String(text) => {
                self.variables(text, path, found);
                self.file(text, path, lost, found);
            }
            Value::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    path.push(Segment::Index(position));
                    self.walk(item, path, lost, found);
                    path.pop();
                }
            }
            Value::Object(entries) => {
                for (name, value) in entries {
                    path.push(Segment::Key(name.clone()));
                    self.walk(value, path, lost, found);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    /// Whether a variable is set to something; `None`: nobody knows.
    fn is_set(&self, name: &str) -> Option<bool> {
        match self.mount.variables.get(name) {
            Some(Variable::Value(text)) => Some(!text.is_empty()),
            Some(_) => Some(true),
            None if self.mount.is_open => None,
            None if SET_ANYWAY.contains(&name) || OF_OPERATOR.iter().any(|start| name.starts_with(start)) => None,
            None => Some(false),
        }
    }

    fn variables(&self, text: &str, path: &Path, found: &mut Vec<Finding>) {
        for Expression { form, .. } in environment::expressions(text) {
            let Form::Bare(name) = form else { continue };
            if self.is_set(name) == Some(false) {
                let resource = &self.mount.resource;
                let message = format!(
                    "Resource \"{resource}\" does not set {name}, and there is no default: unless the image sets it, the \
                     server exits. Set it there, or write ${{env.{name}:=default}}"
                );
                found.push(Finding::new(&rule::UNSET_VARIABLE, path.clone(), message));
            }
        }
    }

    /// A text with its variables put in; `None` where one is not known.
    fn substituted(&self, text: &str) -> Option<String> {
        let (mut out, mut from) = (String::new(), 0);
        for Expression { start, end, form } in environment::expressions(text) {
            out.push_str(&text[from..start]);
            from = end;
            match form {
                Form::Bare(name) => out.push_str(self.written(name)?),
                Form::Default(name, default) => match self.is_set(name)? {
                    true => out.push_str(self.written(name)?),
                    false => out.push_str(default),
                },
                Form::IfSet(name, value) => out.push_str(if self.is_set(name)? { value } else { "" }),
                Form::Refused => return None,
            }
        }
        out.push_str(&text[from..]);
        Some(out)
    }

    fn written(&self, name: &str) -> Option<&str> {
        match self.mount.variables.get(name)? {
            Variable::Value(text) => Some(text),
            _ => None,
        }
    }

    /// A file or folder that is in no volume.
    fn file(&self, text: &str, path: &Path, lost: &mut Vec<(Path, String)>, found: &mut Vec<Finding>) {
        let Some(Segment::Key(key)) = path.last() else { return };
        let is = |list: &[&str]| list.contains(&key.as_str());
        // Only vector databases have one that is called by no more than this.
        let is_written = is(&WRITTEN) || (key == "path" && path.starts_with(&Path::root().key("providers")));
        if !is_written && !is(&READ) && !is(&READ_LATER) {
            return;
        }
        let Some(folders) = self.mount.folders.as_ref() else { return };
        let Some(file) = self.substituted(text).filter(|file| file.starts_with('/')) else { return };
        if folders.iter().any(|folder| is_below(&file, folder)) {
            return;
        }
        if is_written {
            return lost.push((path.clone(), file));
        }
        if EVERYWHERE.iter().any(|folder| is_below(&file, folder)) {
            return;
        }
        let place = format!("{file} is in no volume of resource \"{}\"", self.mount.resource);
        let (severity, message) = if key.ends_with("_dir") {
            (Severity::Information, format!("{place}: the image has to hold it"))
        } else if is(&READ_LATER) {
            (Severity::Warning, format!("{place}: unless the image holds it, no connection is made with it"))
        } else {
            (Severity::Warning, format!("{place}: unless the image holds it, the server exits"))
        };
        found.push(Finding::new(&rule::UNMOUNTED_PATH, path.clone(), message).weighing(severity));
    }

    /// What is stored outside of volumes: one finding for all of it.
    fn lost(&self, files: Vec<(Path, String)>) -> Option<Finding> {
        let mut files = files.into_iter();
        let (path, file) = files.next()?;
        let message = format!(
            "{file} is in no volume of resource \"{}\": what is stored there is lost with the pod",
            self.mount.resource
        );
        let first = Finding::new(&rule::UNMOUNTED_PATH, path, message).weighing(Severity::Information);
        Some(files.fold(first, |finding, (path, file)| finding.with_related(path, format!("{file}, too"))))
    }

    /// Databases in files, and more than one pod.
    fn replicas(&self, found: &mut Vec<Finding>) {
        let (most, resource) = (self.mount.replicas, &self.mount.resource);
        if most <= 1 {
            return;
        }
        let places = local_state::places(self.config, self.unknown);
        let Some((first, others)) = places.split_first() else { return };
        let message = format!(
            "Resource \"{resource}\" runs up to {most} pods: each has a database of its own in this file, or they lock each \
             other out. Use {}, or one pod",
            local_state::instead(first)
        );
        let finding = Finding::new(&rule::LOCAL_STORAGE, first.clone(), message);
        let with_other = |finding: Finding, other: &Path| finding.with_related(other.clone(), "This one, too");
        found.push(others.iter().fold(finding, with_other));
    }

    /// APIs that the resource switches off, and that the config serves.
    fn disabled(&self, found: &mut Vec<Finding>) {
        for api in &self.mount.disabled {
            for (path, target) in self.served(api) {
                let message = format!(
                    "Resource \"{}\" disables API \"{api}\", but the server reads this config as it is and serves the API: \
                     take it out of the config, and out of the resource's list",
                    self.mount.resource
                );
                let mut finding = Finding::new(&rule::DISABLED_API, path, message);
                finding.target = target;
                found.push(finding);
            }
        }
    }

    /// Where the config says that an API is served: in the list, or without one by its providers.
    fn served(&self, api: &str) -> Vec<(Path, Target)> {
        let is_it = |name: &str| name == api || providers::successor_api(name) == Some(api);
        let is_known = |path: &Path| !self.unknown.iter().any(|one| path.starts_with(one));
        let places: Vec<(Path, Target)> = match self.config.get("apis").and_then(Value::as_array) {
            Some(apis) => {
                let place = |position| (Path::root().key("apis").index(position), Target::Value);
                let listed = apis.iter().enumerate().filter(|(_, name)| name.as_str().is_some_and(is_it));
                listed.map(|(position, _)| place(position)).collect()
            }
            None => {
                let all = self.config.get("providers").and_then(Value::as_object).into_iter().flatten();
                let some = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
                let served = all.filter(|(name, list)| is_it(name) && some(list));
                served.map(|(name, _)| (Path::root().key("providers").key(name.as_str()), Target::Key)).collect()
            }
        };
        places.into_iter().filter(|(path, _)| is_known(path)).collect()
    }

    /// A port that llama-stack does not take from here.
    fn port(&self, verdict: &Verdict, found: &mut Vec<Finding>) {
        let place = Path::parse("server.port");
        let Some(port) = self.mount.port else { return };
        let resource = &self.mount.resource;
        let written = match place.find(self.config) {
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => self.substituted(text).and_then(|text| text.parse().ok()),
            _ => None,
        };
        let ignores = verdict.versions.iter().all(|version| !versions::is_ogx(version));
        if let Some(written) = written.filter(|written| *written != port && ignores && !self.mount.has_command) {
            let message = format!(
                "Port {written} has no effect: the operator starts the server of resource \"{resource}\" on port {port}"
            );
            found.push(Finding::new(&rule::PORT, place, message));
        }
    }

    /// Values that variables have, where they do not fit.
    fn values(&self, verdict: &Verdict, found: &mut Vec<Finding>) {
        let value = |name: &str| self.written(name).filter(|text| !text.is_empty()).map(environment::converted);
        let (config, names) = environment::with_values(self.config, &value);
        if names.is_empty() {
            return;
        }
        let told: BTreeSet<(&str, &Path)> = verdict.findings.iter().map(|one| (one.rule.id, &one.path)).collect();
        let judged = check_again(&config, self.unknown, &verdict.versions, self.memory).findings.into_iter();
        let wrong = [server_config::WRONG_VALUE.id, server_config::UNKNOWN_TYPE.id];
        for finding in judged.filter(|one| wrong.contains(&one.rule.id) && !told.contains(&(one.rule.id, &one.path))) {
            let Some(name) = names.get(&finding.path) else { continue };
            let says = self.mount.says(name).unwrap_or_default();
            let message = format!("{} ({name}: {})", finding.message, says.replace('`', "\""));
            found.push(Finding::new(&rule::WRONG_VARIABLE, finding.path, message));
        }
    }
}

/// Whether a file is in a folder, or is it.
fn is_below(file: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    file.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
