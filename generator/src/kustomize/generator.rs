//! ConfigMaps and Secrets that a kustomization makes.

use serde_json::Value;

/// What a generator does with an object of the same name that a base makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Behavior {
    /// No base may make such an object: kustomize refuses the build otherwise.
    #[default]
    Create,
    /// The generated data takes the place of the data that the base's object has.
    Replace,
    /// The generated keys are added to the base's; keys of one name take the new value.
    Merge,
}

/// Where the value of a key comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// It is written in the kustomization.
    Literal(String),
    /// It is the text of a file.
    File(String),
}

/// A ConfigMap or Secret that is made from files and literals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generator {
    /// Whether it makes a Secret.
    pub is_secret: bool,
    /// The name, without the hash behind it.
    pub name: String,
    /// The namespace; empty where it names none.
    pub namespace: String,
    /// What it does with one that is there.
    pub behavior: Behavior,
    /// Keys and where their values come from, in the order in which they are written.
    pub entries: Vec<(String, Content)>,
    /// Files of `KEY=value` lines, each of which is an entry.
    pub envs: Vec<String>,
    /// Whether a hash of the contents is put behind the name.
    pub has_hash: bool,
}

/// The generators of a kustomization, ConfigMaps first.
pub(super) fn read_all(kustomization: &Value) -> Vec<Generator> {
    let option = |options: Option<&Value>| {
        options.and_then(|options| options.get("disableNameSuffixHash")).and_then(Value::as_bool)
    };
    let common = option(kustomization.get("generatorOptions")).unwrap_or_default();
    let all = [("configMapGenerator", false), ("secretGenerator", true)].into_iter().flat_map(|(field, is_secret)| {
        let list = kustomization.get(field).and_then(Value::as_array);
        list.into_iter().flatten().map(move |one| (one, is_secret))
    });
    all.map(|(one, is_secret)| {
        let text = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let texts = |field: &str| super::texts(one, field);
        let mut entries: Vec<(String, Content)> = texts("files").iter().filter_map(|file| of_file(file)).collect();
        entries.extend(texts("literals").iter().filter_map(|literal| of_literal(literal)));
        let mut envs = texts("envs");
        envs.extend(Some(text("env")).filter(|file| !file.is_empty()));
        let behavior = match text("behavior").as_str() {
            "replace" => Behavior::Replace,
            "merge" => Behavior::Merge,
            _ => Behavior::Create,
        };
        // one that is switched off everywhere cannot be switched on again
        let has_hash = !common && !option(one.get("options")).unwrap_or_default();
        Generator { is_secret, name: text("name"), namespace: text("namespace"), behavior, entries, envs, has_hash }
    })
    .collect()
}

/// `key=path`, or a path whose last part is the key.
fn of_file(written: &str) -> Option<(String, Content)> {
    let (key, path) = match written.split_once('=') {
        Some((key, path)) => (key, path),
        None => (written.rsplit('/').next()?, written),
    };
    (!key.is_empty() && !path.is_empty()).then(|| (key.to_owned(), Content::File(path.to_owned())))
}

/// `key=value`; quotes around the whole value are taken off.
fn of_literal(written: &str) -> Option<(String, Content)> {
    let (key, value) = written.split_once('=').filter(|(key, _)| !key.is_empty())?;
    let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    Some((key.to_owned(), Content::Literal(quoted.unwrap_or(value).to_owned())))
}

/// The keys that the lines of an env file make.
pub fn env_keys(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split('=').next().unwrap_or(line).trim_end())
}
