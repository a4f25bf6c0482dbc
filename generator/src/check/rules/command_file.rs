//! The config file that an overridden command starts with, or that a variable names. Source: the operators, which mount
//! the ConfigMap with the config as a folder, so that its keys are the files there.

use super::super::context::{Report, RuleContext};
use super::super::finding::{Finding, Fix, FixEdit, Severity};
use super::super::mounted_files::{
    File, Mounted, Source, config_folder, config_map, files, find, mounts, naming, reference_field,
};
use super::super::rule::{Group, Rule};
use crate::api::{CONFIG_KEY, CONFIG_KEYS};
use crate::path::{Path, Segment};

pub static MISSING_FILE: Rule = Rule {
    id: "llsd::config::missing-file",
    severity: Severity::Error,
    summary: "The command, or a variable, starts the server with a file that the mounted ConfigMap does not have.",
    why: "The keys of a ConfigMap are the files in the folder that it is mounted as: for the one with the config, /etc/llama-stack or /etc/ogx. The server does not find its config, and exits.",
    example: "containerSpec:\n  command: [llama, stack, run, /etc/llama-stack/run.yaml]\nuserConfig: {configMapName: config}   # with key config.yaml",
    ..Rule::PLAIN
};

pub(super) static GROUP: Group = Group { rules: &[&MISSING_FILE], check: Some(check) };

pub(in crate::check) fn check(context: &RuleContext<'_>, report: &mut Report) {
    let named = naming(context);
    if named.is_empty() {
        return;
    }
    let Some(mounts) = mounts(context) else { return };
    for (path, text) in named {
        for file in files(text) {
            one(context, &mounts, &Named { path: &path, text, file }, report);
        }
    }
}

/// A file where it is named.
struct Named<'n> {
    path: &'n Path,
    /// The whole text at that place.
    text: &'n str,
    file: &'n str,
}

impl Named<'_> {
    /// Whether a variable names the file, which only some entry points read.
    fn by_variable(&self) -> bool {
        matches!(self.path.last(), Some(Segment::Key(key)) if key == "value")
    }

    fn finding(&self, message: String) -> Finding {
        let finding = Finding::new(&MISSING_FILE, self.path.clone(), message);
        if self.by_variable() { finding.weighing(Severity::Warning) } else { finding }
    }

    /// Names `key` of the same folder in place of the file.
    fn fix(&self, inner: &str, key: &str) -> Option<Fix> {
        let file = format!("{}{key}", self.file.strip_suffix(inner)?);
        let value = self.text.replace(self.file, &file);
        let edits = vec![FixEdit::Replace { path: self.path.clone(), value: value.into() }];
        Some(Fix { title: format!("Start with {key}"), edits, preferred: true })
    }
}

fn one(context: &RuleContext<'_>, mounts: &[Mounted<'_>], named: &Named<'_>, report: &mut Report) {
    let file = named.file;
    let (mount, inner) = match find(mounts, file) {
        File::Mounted(mount, inner) => (mount, inner),
        File::Image => {
            let folder = config_folder(context.version);
            if file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) {
                nothing_there(context, named, report);
            }
            return;
        }
    };
    match &mount.source {
        Source::Other => {}
        Source::Generated if mount.source.key(&inner).is_some() => {}
        Source::Generated => {
            let message = format!("The operator generates the config as {CONFIG_KEY}: {file} does not exist");
            report.add(with_fix(named.finding(message), named.fix(&inner, CONFIG_KEY)));
        }
        Source::ConfigMap { name, named_at, items } => {
            let Some(key) = mount.source.key(&inner) else {
                let paths: Vec<&str> = items.iter().flatten().map(|(_, path)| *path).collect();
                let message = format!(
                    "ConfigMap \"{name}\" is mounted there with these files only: {}. {file} does not exist",
                    paths.join(", ")
                );
                let fix = paths.iter().find(|path| CONFIG_KEYS.contains(path)).and_then(|path| named.fix(&inner, path));
                report.add(with_fix(named.finding(message).with_related(named_at.clone(), "The ConfigMap"), fix));
                return;
            };
            in_config_map(context, named, (name, named_at), (&key, &inner), report);
        }
    }
}

/// A file that is the text of a key. `items` of a volume and the key itself are judged as references.
fn in_config_map(
    context: &RuleContext<'_>,
    named: &Named<'_>,
    (name, named_at): (&str, &Path),
    (key, inner): (&str, &str),
    report: &mut Report,
) {
    let Some(data) = config_map(context, name) else {
        let reason = format!("ConfigMap \"{name}\" is not known");
        report.not_checked(&MISSING_FILE, named.path, &reason);
        return;
    };
    if data.contains_key(key) || key != inner {
        return;
    }
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    let file = named.file;
    let message =
        format!("ConfigMap \"{name}\" has no key \"{key}\", so {file} does not exist. Its keys: {}", keys.join(", "));
    let fix = keys.iter().find(|key| CONFIG_KEYS.contains(key)).and_then(|key| named.fix(inner, key));
    report.add(with_fix(named.finding(message).with_related(named_at.clone(), "The ConfigMap"), fix));
}

/// A file of the folder for the config, where nothing is mounted. The images of distributions have none there.
fn nothing_there(context: &RuleContext<'_>, named: &Named<'_>, report: &mut Report) {
    let nothing = format!("Nothing is mounted at {}: there is no {}", named.file, reference_field(context.version));
    report.add(match context.distribution() {
        Some(_) => named.finding(nothing),
        None => named.finding(nothing + ", so that the image has to hold it").weighing(Severity::Warning),
    });
}

fn with_fix(finding: Finding, fix: Option<Fix>) -> Finding {
    match fix {
        Some(fix) => finding.with_fix(fix),
        None => finding,
    }
}
