//! What a user may set: the keys below `llsd`, read leniently, with a sentence for every key that cannot be used.

use crate::cluster::Kubectl;
use crate::ide::Assumed;
use crate::project::Project;
use crate::severities::Severities;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use llsd_generator::check::finding::Severity;
use llsd_generator::check::rules;
use llsd_generator::nearest::nearest;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Keys that mean something to a client only, or to the start of the session.
const OTHERS: [&str; 5] = ["commands", "diagnostics", "markdown", "server", "trace"];
/// The keys below `llsd` that are read here. Any other, but for [`OTHERS`], is reported as unknown.
const KEYS: [&str; 8] = [
    "buildOnSave",
    "cluster",
    "diagnoseUnopened",
    "exclude",
    "inlayHints",
    "llamaStackVersion",
    "maxFileSize",
    "severity",
];
/// Files above this many bytes are not read unless they are opened.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// The settings of one folder, or of everything that is in none.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The llama-stack version to assume where the distribution does not tell it.
    pub llama_stack_version: Option<String>,
    /// The severities by rule, as the user sets them.
    pub severity: Severities,
    /// Which inlay hints are shown.
    pub inlay: Inlay,
    /// Files, relative to the folder, that are left alone.
    pub exclude: GlobSet,
    /// Files above this many bytes are not read unless they are opened.
    pub max_file_size: u64,
    /// Whether files that are not open get diagnostics.
    pub diagnose_unopened: bool,
    /// Whether what is saved is built, too.
    pub build_on_save: bool,
    /// The way to the cluster; `None`: it is left alone.
    pub cluster: Option<Kubectl>,
    /// The `llsd.toml` that decides in place of the editor's settings, for the files that it governs.
    pub project: Option<Arc<Project>>,
    /// What was written, for comparing.
    written: Value,
}

/// A switch for each kind of inlay hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inlay {
    /// Ids that are not written.
    pub ids: bool,
    /// Provider types in llama-stack's spelling.
    pub providers: bool,
    /// Hints at names of environment variables that the config reads.
    pub environment: bool,
    /// Ports that are not written.
    pub ports: bool,
    /// Hints at the image that a distribution stands for.
    pub images: bool,
    /// What the cluster says of a resource.
    pub status: bool,
    /// Rules that could not be decided. Not shown unless it is asked for.
    pub unchecked: bool,
}

impl Inlay {
    const ALL: Self = Self {
        ids: true,
        providers: true,
        environment: true,
        ports: true,
        images: true,
        status: true,
        unchecked: false,
    };
    const NONE: Self = Self {
        ids: false,
        providers: false,
        environment: false,
        ports: false,
        images: false,
        status: false,
        unchecked: false,
    };
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            llama_stack_version: None,
            severity: Severities::default(),
            inlay: Inlay::ALL,
            exclude: GlobSet::empty(),
            max_file_size: MAX_FILE_SIZE,
            diagnose_unopened: true,
            build_on_save: false,
            cluster: None,
            project: None,
            written: Value::Null,
        }
    }
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Settings {
    /// Reads the value of the section `llsd`. What is unknown or of another type keeps its default, and is told.
    #[must_use]
    pub fn read(section: &Value) -> (Self, Vec<String>) {
        let mut settings = Self { written: section.clone(), ..Self::default() };
        let mut problems = Vec::new();
        match section {
            Value::Null => {}
            Value::Object(keys) => keys.iter().for_each(|(key, value)| settings.set(key, value, &mut problems)),
            other => problems.push(wrong("llsd", "an object", other)),
        }
        (settings, problems)
    }

    /// The same for files that a project governs: it alone decides what it may decide.
    #[must_use]
    pub fn governed_by(&self, project: Arc<Project>) -> Self {
        Self {
            llama_stack_version: project.llama_stack_version.clone(),
            severity: project.severities.clone(),
            exclude: GlobSet::empty(),
            project: Some(project),
            ..self.clone()
        }
    }

    /// What is assumed of distributions that do not tell it.
    #[must_use]
    pub fn assumed(&self) -> Assumed {
        let of_project = self.project.as_ref().map(|project| project.assumed());
        let own = || Assumed::from(self.llama_stack_version.as_deref());
        of_project.unwrap_or_else(own)
    }

    /// Whether a file is left alone. `path` is relative to the folder of these settings, or absolute.
    #[must_use]
    pub fn excludes(&self, path: &Path) -> bool {
        !self.exclude.is_empty() && self.exclude.is_match(path)
    }

    fn set(&mut self, key: &str, value: &Value, problems: &mut Vec<String>) {
        let name = format!("llsd.{key}");
        // Clients send null for what is not set.
        if value.is_null() || OTHERS.contains(&key) {
            return;
        }
        match (key, value) {
            ("llamaStackVersion", Value::String(version)) => {
                self.llama_stack_version = Some(version.clone()).filter(|version| !version.is_empty());
            }
            ("llamaStackVersion", _) => problems.push(wrong(&name, "a string such as \"0.4.7\"", value)),
            ("severity", Value::Object(rules)) => self.set_severity(rules, problems),
            ("severity", _) => problems.push(wrong(&name, "an object of rules and severities", value)),
            ("inlayHints", Value::Bool(on)) => self.inlay = if *on { Inlay::ALL } else { Inlay::NONE },
            ("inlayHints", Value::Object(switches)) => self.set_inlay(switches, problems),
            ("inlayHints", _) => problems.push(wrong(&name, "true, false or an object of switches", value)),
            ("exclude", Value::Array(globs)) => self.exclude = read_globs(globs, problems),
            ("exclude", _) => problems.push(wrong(&name, "a list of glob patterns", value)),
            ("maxFileSize", _) => match value.as_u64().filter(|size| *size > 0) {
                Some(size) => self.max_file_size = size,
                None => problems.push(wrong(&name, "a whole number of bytes above 0", value)),
            },
            ("diagnoseUnopened", Value::Bool(on)) => self.diagnose_unopened = *on,
            ("diagnoseUnopened", _) => problems.push(wrong(&name, "true or false", value)),
            ("buildOnSave", Value::Bool(on)) => self.build_on_save = *on,
            ("buildOnSave", _) => problems.push(wrong(&name, "true or false", value)),
            ("cluster", Value::Object(keys)) => self.cluster = read_cluster(keys, problems),
            ("cluster", _) => problems.push(wrong(&name, "an object", value)),
            _ => problems.push(unknown(&name, KEYS.map(|known| format!("llsd.{known}")))),
        }
    }

    fn set_severity(&mut self, wanted: &Map<String, Value>, problems: &mut Vec<String>) {
        for (rule, value) in wanted.iter().filter(|(_, value)| !value.is_null()) {
            let name = format!("llsd.severity[\"{rule}\"]");
            if !rule.starts_with("llsd::") && rule != "*" {
                problems.push(format!("{name}: rules are called llsd::…; `llsd explain` lists them. It is ignored"));
                continue;
            }
            let is_meant = |known: &str| match rule.strip_suffix('*') {
                Some(start) => known.starts_with(start),
                None => known == rule,
            };
            if !rules::all().iter().any(|known| is_meant(known.id)) {
                let near = nearest(rule, rules::all().iter().map(|known| known.id));
                let hint = near.map(|near| format!(", did you mean {near}?")).unwrap_or_default();
                problems.push(format!("{name}: there is no such rule{hint}"));
            }
            let severity = match value.as_str() {
                Some("off") => None,
                Some("error") => Some(Severity::Error),
                Some("warning") => Some(Severity::Warning),
                Some("information") => Some(Severity::Information),
                Some("hint") => Some(Severity::Hint),
                _ => {
                    problems.push(wrong(&name, "error, warning, information, hint or off", value));
                    continue;
                }
            };
            self.severity.0.insert(rule.clone(), severity);
        }
    }

    fn set_inlay(&mut self, switches: &Map<String, Value>, problems: &mut Vec<String>) {
        for (key, value) in switches.iter().filter(|(_, value)| !value.is_null()) {
            let name = format!("llsd.inlayHints.{key}");
            let switch = match key.as_str() {
                "ids" => &mut self.inlay.ids,
                "providers" => &mut self.inlay.providers,
                "environment" => &mut self.inlay.environment,
                "ports" => &mut self.inlay.ports,
                "images" => &mut self.inlay.images,
                "status" => &mut self.inlay.status,
                "unchecked" => &mut self.inlay.unchecked,
                _ => {
                    let known = ["ids", "providers", "environment", "ports", "images", "status", "unchecked"];
                    problems.push(unknown(&name, known.map(|known| format!("llsd.inlayHints.{known}"))));
                    continue;
                }
            };
            match value.as_bool() {
                Some(on) => *switch = on,
                None => problems.push(wrong(&name, "true or false", value)),
            }
        }
    }
}

/// Reads the keys below `llsd.cluster`; `None` if nothing of the cluster is wanted.
fn read_cluster(keys: &Map<String, Value>, problems: &mut Vec<String>) -> Option<Kubectl> {
    let (mut enabled, mut kubectl) = (false, Kubectl::default());
    for (key, value) in keys.iter().filter(|(_, value)| !value.is_null()) {
        let name = format!("llsd.cluster.{key}");
        match (key.as_str(), value) {
            ("enabled", Value::Bool(on)) => enabled = *on,
            ("enabled", _) => problems.push(wrong(&name, "true or false", value)),
            ("context", Value::String(context)) => kubectl.context = Some(context.clone()).filter(|it| !it.is_empty()),
            ("context", _) => problems.push(wrong(&name, "the name of a context", value)),
            ("kubeconfig", Value::String(path)) if path.is_empty() => {}
            ("kubectl", Value::String(path)) if path.is_empty() => {}
            ("kubeconfig" | "kubectl", Value::String(path)) => match absolute(path) {
                Some(path) if key == "kubectl" => kubectl.program = Some(path),
                Some(path) => kubectl.kubeconfig = Some(path),
                None => problems.push(wrong(&name, "an absolute path, or one that begins with ~/", value)),
            },
            ("kubeconfig" | "kubectl", _) => problems.push(wrong(&name, "a path", value)),
            _ => {
                let known = ["enabled", "context", "kubeconfig", "kubectl"];
                problems.push(unknown(&name, known.map(|known| format!("llsd.cluster.{known}"))));
            }
        }
    }
    enabled.then_some(kubectl)
}

/// A path that means the same in every folder: a file of the workspace is never taken for `kubectl` by its name alone.
fn absolute(path: &str) -> Option<PathBuf> {
    let path = match path.strip_prefix("~/") {
        Some(rest) => std::env::home_dir()?.join(rest),
        None => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}

fn read_globs(globs: &[Value], problems: &mut Vec<String>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for (number, value) in globs.iter().enumerate() {
        let name = format!("llsd.exclude[{number}]");
        let Some(text) = value.as_str() else {
            problems.push(wrong(&name, "a glob pattern such as \"charts/**\"", value));
            continue;
        };
        match GlobBuilder::new(text).literal_separator(true).build() {
            Ok(glob) => _ = set.add(glob),
            Err(error) => problems.push(format!("{name}: {} in {text:?}; it is ignored", error.kind())),
        }
    }
    set.build().unwrap_or_else(|error| {
        problems.push(format!("llsd.exclude: {}; nothing is excluded", error.kind()));
        GlobSet::empty()
    })
}

fn wrong(name: &str, expected: &str, value: &Value) -> String {
    let mut shown = value.to_string();
    if shown.chars().count() > 40 {
        shown = shown.chars().take(40).chain(['…']).collect();
    }
    format!("{name}: expected {expected}, got {shown}; the default is used")
}

fn unknown<const N: usize>(name: &str, known: [String; N]) -> String {
    let near = nearest(name, known.iter().map(String::as_str));
    let hint = near.map_or_else(String::new, |near| format!(", did you mean {near}?"));
    format!("{name}: there is no such setting{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_set_is_the_default() {
        for section in [json!(null), json!({}), json!({"maxFileSize": null, "trace": {"server": "off"}})] {
            let (settings, problems) = Settings::read(&section);
            assert_eq!(problems, Vec::<String>::new());
            assert_eq!(settings.max_file_size, MAX_FILE_SIZE);
            assert_eq!(settings.cluster, None, "no network unless it is asked for");
            assert!(!settings.build_on_save, "no program unless it is asked for");
            assert!(settings.diagnose_unopened && settings.inlay == Inlay::ALL);
        }
    }

    #[test]
    fn everything_can_be_set() {
        let (settings, problems) = Settings::read(&json!({
            "llamaStackVersion": "0.4.7",
            "severity": {"llsd::model::*": "off", "llsd::model::unknown-provider": "hint"},
            "inlayHints": {"ports": false},
            "exclude": ["charts/**", "*.tpl.yaml"],
            "maxFileSize": 10,
            "diagnoseUnopened": false,
            "buildOnSave": true,
            "cluster": {"enabled": true, "context": "here", "kubeconfig": "/etc/kube/config"},
        }));
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(settings.llama_stack_version.as_deref(), Some("0.4.7"));
        assert_eq!(settings.severity.of("llsd::model::other", Severity::Error), None);
        assert_eq!(settings.severity.of("llsd::model::unknown-provider", Severity::Error), Some(Severity::Hint));
        assert_eq!(settings.severity.of("llsd::port::x", Severity::Error), Some(Severity::Error));
        assert!(settings.inlay.ids && !settings.inlay.ports);
        assert!(settings.excludes(Path::new("charts/a/b.yaml")));
        assert!(settings.excludes(Path::new("a.tpl.yaml")));
        assert!(!settings.excludes(Path::new("b/a.tpl.yaml")), "* ends at a slash");
        assert_eq!((settings.max_file_size, settings.diagnose_unopened), (10, false));
        assert!(settings.build_on_save);
        let kubectl = settings.cluster.unwrap();
        assert_eq!((kubectl.context.as_deref(), kubectl.program), (Some("here"), None));
        assert_eq!(kubectl.kubeconfig.as_deref(), Some(Path::new("/etc/kube/config")));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let (settings, problems) = Settings::read(&json!({
            "exlude": [],
            "maxFileSize": "big",
            "diagnoseUnopened": 1,
            "severity": {"port": "off", "llsd::env::*": "loud", "llsd::env::duplicat": "off"},
            "inlayHints": {"port": true},
            "exclude": ["[", 3],
            "llamaStackVersion": 4,
            "cluster": {"enable": true, "kubectl": "bin/kubectl"},
        }));
        assert_eq!(
            problems,
            [
                "llsd.exlude: there is no such setting, did you mean llsd.exclude?",
                "llsd.maxFileSize: expected a whole number of bytes above 0, got \"big\"; the default is used",
                "llsd.diagnoseUnopened: expected true or false, got 1; the default is used",
                "llsd.severity[\"port\"]: rules are called llsd::…; `llsd explain` lists them. It is ignored",
                "llsd.severity[\"llsd::env::*\"]: expected error, warning, information, hint or off, got \"loud\"; the \
                 default is used",
                "llsd.severity[\"llsd::env::duplicat\"]: there is no such rule, did you mean llsd::env::duplicate?",
                "llsd.inlayHints.port: there is no such setting, did you mean llsd.inlayHints.ports?",
                "llsd.exclude[0]: unclosed character class; missing ']' in \"[\"; it is ignored",
                "llsd.exclude[1]: expected a glob pattern such as \"charts/**\", got 3; the default is used",
                "llsd.llamaStackVersion: expected a string such as \"0.4.7\", got 4; the default is used",
                "llsd.cluster.enable: there is no such setting, did you mean llsd.cluster.enabled?",
                "llsd.cluster.kubectl: expected an absolute path, or one that begins with ~/, got \"bin/kubectl\"; the \
                 default is used",
            ]
        );
        assert_eq!(settings.max_file_size, MAX_FILE_SIZE);
        assert_eq!(settings.cluster, None);
        let (_, problems) = Settings::read(&json!([]));
        assert_eq!(problems, ["llsd: expected an object, got []; the default is used"]);
    }
}
