//! What changes together with a resource that becomes an `OGXServer`: the config that it mounts, in whichever file that
//! is, and the label by which the new operator sees the Secrets and ConfigMaps that it names.

use super::NotMigrated;
use crate::ide::file_names::{folder_of, relative, way};
use crate::ide::names::{Query, Symbol, TextId};
use crate::ide::objects::ObjectKey;
use crate::ide::objects::roots;
use crate::ide::rename::FileEdits;
use crate::ide::shell::quoted;
use crate::ide::types::TextEdit;
use crate::ide::{Analysis, analyse, fix, place};
use llsd_generator::api::Kind;
use llsd_generator::check::ReferenceKind;
use llsd_generator::check::finding::FixEdit;
use llsd_generator::document::Plain;
use llsd_generator::fold::{Line, LineKind};
use llsd_generator::kustomize::Content;
use llsd_generator::ogx::WATCH_LABEL;
use llsd_generator::ogx::migrate::{Class, Mounted, Told};
use llsd_generator::path::Path;
use llsd_yaml::{Document, edit};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a migration has to say of resources and of what they name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Concerned {
    /// What to tell, the losses first.
    pub told: Vec<Told>,
    /// What was renamed or moved in configs and means the same.
    pub notes: Vec<String>,
    /// The ConfigMaps whose config was looked at, and rewritten where it had to be.
    pub configs: BTreeSet<ObjectKey>,
    /// The Secrets and ConfigMaps that have to carry the label, and are in none of the files that may be changed.
    pub elsewhere: BTreeSet<(ReferenceKind, ObjectKey)>,
}

/// The texts that change, each as it was and as it is now.
pub(super) struct Together<'q> {
    query: &'q Query<'q>,
    own: Arc<str>,
    may_change: &'q dyn Fn(&Arc<str>) -> bool,
    texts: BTreeMap<Arc<str>, (Arc<str>, Analysis)>,
}

/// What has a config as its text: a ConfigMap, or the file that one is generated from.
enum Place {
    /// In a ConfigMap that a file declares.
    Object(Arc<str>),
    /// In a file of its own, from which a kustomization makes the ConfigMap.
    Generated(Arc<str>),
}

impl<'q> Together<'q> {
    pub(super) fn new(query: &'q Query<'q>, may_change: &'q dyn Fn(&Arc<str>) -> bool) -> Result<Self, NotMigrated> {
        let TextId::File(own) = &query.place else { return Err(NotMigrated::NoResource) };
        Ok(Self { query, own: Arc::clone(own), may_change, texts: BTreeMap::new() })
    }

    /// Makes a change of the asked file.
    pub(super) fn apply_own(&mut self, edits: &[TextEdit]) {
        self.apply(&Arc::clone(&self.own), edits);
    }

    /// What a file has now.
    pub(super) fn analysis(&self, file: &Arc<str>) -> Option<Analysis> {
        if let Some((_, now)) = self.texts.get(file) {
            return Some(now.clone());
        }
        match self.query.analysis.filter(|_| *file == self.own) {
            Some(own) => Some(own.clone()),
            None => self.query.library.analysis(file).map(|found| Analysis::clone(&found)),
        }
    }

    /// The files that have changed so far, with what they have now.
    pub(super) fn changed(&self) -> impl Iterator<Item = (&Arc<str>, &Analysis)> {
        self.texts.iter().map(|(file, (_, now))| (file, now))
    }

    /// Makes a change of a file.
    pub(super) fn apply(&mut self, file: &Arc<str>, edits: &[TextEdit]) {
        let Some(analysis) = self.analysis(file).filter(|_| !edits.is_empty()) else { return };
        let text = edit::apply(&analysis.text(), edits);
        let now = analyse(text.into(), Some(&analysis), analysis.workspace());
        let before = self.texts.remove(file).map_or_else(|| analysis.text(), |(before, _)| before);
        self.texts.insert(Arc::clone(file), (before, now));
    }

    /// The edits of the asked file, and those of others.
    pub(super) fn finish(self) -> (Vec<TextEdit>, Vec<FileEdits>) {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (file, (text, now)) in self.texts {
            let edits = fix::difference(&text, &now.text());
            match file == self.own {
                true => own = edits,
                false if edits.is_empty() => {}
                false => others.push(FileEdits { file, text, edits }),
            }
        }
        (own, others)
    }

    /// The files that declare an object, the asked one alone where it does.
    fn declaring(&self, object: &Symbol) -> Vec<Arc<str>> {
        let all = self.query.named(object).into_iter().filter(|one| one.is_declaration());
        let files: BTreeSet<Arc<str>> = all
            .filter_map(|one| match one.place {
                TextId::File(file) => Some(file),
                TextId::Base(_) | TextId::Preview { .. } => None,
            })
            .collect();
        if files.contains(&self.own) { vec![Arc::clone(&self.own)] } else { files.into_iter().collect() }
    }

    /// Gives an object the label wherever it is declared. False: nobody declares it here, or not as an object.
    pub(super) fn label(&mut self, kind: ReferenceKind, object: &ObjectKey) -> bool {
        let symbol = match kind {
            ReferenceKind::Secret => Symbol::Secret(object.clone()),
            ReferenceKind::ConfigMap => Symbol::ConfigMap(object.clone()),
        };
        let mut found = false;
        for file in self.declaring(&symbol) {
            let Some(analysis) = self.analysis(&file).filter(|_| (self.may_change)(&file)) else { continue };
            let (edits, is_there) = label(&analysis, kind, object);
            found |= is_there;
            self.apply(&file, &edits);
        }
        found
    }

    /// Rewrites the config that a resource of the asked file mounts. `place`: the field that names it.
    ///
    /// # Errors
    /// It cannot be rewritten, or stands in a file that must not be changed.
    pub(super) fn config(
        &mut self,
        namespace: &str,
        mounted: &Mounted,
        place: &str,
        all: &mut Concerned,
    ) -> Result<(), NotMigrated> {
        let namespace = mounted.namespace.as_deref().unwrap_or(namespace);
        let object: ObjectKey = (namespace.to_owned(), mounted.name.clone());
        let (name, key) = (&mounted.name, &mounted.key);
        let by_hand = format!("rewrite it with `llsd migrate --to {}`", mounted.to);
        let mut unknown = |message: String| {
            all.told.push(Told { class: Class::Unknown, place: place.to_owned(), message });
        };
        let places = self.places(&object, key);
        let found = match places.as_slice() {
            [] => {
                unknown(format!(
                    "the config in ConfigMap \"{name}\", which is not in these files, is one of llama-stack: {by_hand}"
                ));
                return Ok(());
            }
            [one] => one,
            several => {
                let files: Vec<String> = several.iter().map(|one| self.shown(one.file())).collect();
                unknown(format!("{} have a ConfigMap \"{name}\": {by_hand} where it is the one", files.join(", ")));
                return Ok(());
            }
        };
        let file = Arc::clone(found.file());
        let analysis = self.analysis(&file).ok_or_else(|| NotMigrated::Unread { file: self.shown(&file) })?;
        let mut change = None;
        for located in analysis.documents() {
            let is_it = |config: &&crate::ide::config::ConfigText| match (found, config.owner()) {
                (Place::Generated(_), None) => true,
                (Place::Object(_), Some(owner)) => owner.key == *key && is_same(&owner.object, &object),
                _ => false,
            };
            for config in located.document.configs().iter().filter(is_it) {
                let made = config
                    .migrated_by(located.document.tree().text(), |value, unknown| mounted.migrated(value, unknown));
                let (migration, mut edits) = made.map_err(|why| NotMigrated::Config {
                    name: name.clone(),
                    file: self.shown(&file),
                    why: Box::new(why),
                })?;
                edits.iter_mut().for_each(|edit| edit.span = edit.span.shift(located.offset));
                change = Some((migration, edits));
            }
        }
        let Some((migration, edits)) = change else {
            unknown(format!("ConfigMap \"{name}\" has nothing under {key} that is known as a config of the server"));
            return Ok(());
        };
        if !edits.is_empty() && !(self.may_change)(&file) {
            return Err(NotMigrated::ForeignConfig { name: name.clone(), file: self.shown(&file) });
        }
        self.apply(&file, &edits);
        let whole = format!("ConfigMap \"{name}\", {key}");
        all.told.extend(migration.differences.into_iter().map(|one| Told {
            class: one.class,
            place: match one.path.to_string() {
                path if path.is_empty() => whole.clone(),
                path => format!("{whole}: {path}"),
            },
            message: one.message,
        }));
        all.notes.extend(migration.notes.into_iter().map(|note| format!("{whole}: {note}")));
        all.configs.insert(object);
        Ok(())
    }

    /// Where the text of a ConfigMap's key stands.
    fn places(&self, object: &ObjectKey, key: &str) -> Vec<Place> {
        let mut found = Vec::new();
        for file in self.declaring(&Symbol::ConfigMap(object.clone())) {
            let Some(analysis) = self.analysis(&file) else { continue };
            for located in analysis.documents() {
                let objects = located.document.objects();
                let generators = objects.kustomization.iter().flat_map(|one| &one.generators);
                let made = generators
                    .filter(|one| !one.is_secret && is_same(&(one.namespace.clone(), one.name.clone()), object))
                    .flat_map(|one| &one.entries)
                    .filter_map(|(name, content)| match content {
                        Content::File(path) if name == key => Some(relative(folder_of(&file), path)),
                        _ => None,
                    });
                let before = found.len();
                found.extend(made.map(|path| Place::Generated(path.into())));
                let declares = objects.config_maps.keys().any(|known| is_same(known, object));
                if found.len() == before && objects.kustomization.is_none() && declares {
                    found.push(Place::Object(Arc::clone(&file)));
                }
            }
        }
        // Of several those count that the user means to change.
        if found.len() > 1 && found.iter().any(|place| (self.may_change)(place.file())) {
            found.retain(|place| (self.may_change)(place.file()));
        }
        found
    }

    /// A file as seen from the asked one.
    fn shown(&self, file: &str) -> String {
        way(folder_of(&self.own), file)
    }
}

impl Place {
    fn file(&self) -> &Arc<str> {
        match self {
            Self::Object(file) | Self::Generated(file) => file,
        }
    }
}

/// Whether both are the same object; one whose manifest names no namespace may be put into any.
fn is_same(one: &ObjectKey, other: &ObjectKey) -> bool {
    one.1 == other.1 && (one.0 == other.0 || one.0.is_empty() || other.0.is_empty())
}

/// The edits of a file that give the label to an object, and whether the file has it: as a manifest, or made by a
/// generator of a kustomization. One that cannot be changed counts as none: what is missing then is told.
fn label(analysis: &Analysis, kind: ReferenceKind, object: &ObjectKey) -> (Vec<TextEdit>, bool) {
    let (mut edits, mut found, mut missed) = (Vec::new(), false, false);
    for located in analysis.documents() {
        let tree = located.document.tree();
        let plain = Plain::read(tree).value;
        let manifests = roots(&plain).into_iter().map(|root| {
            let value = root.find(&plain).unwrap_or(&Value::Null);
            let metadata = |field: &str| value["metadata"][field].as_str().unwrap_or_default().to_owned();
            let is_kind = value["kind"] == kind.name() && value["apiVersion"] == "v1";
            (root, "metadata", is_kind && is_same(&(metadata("namespace"), metadata("name")), object))
        });
        let list = match kind {
            ReferenceKind::Secret => "secretGenerator",
            ReferenceKind::ConfigMap => "configMapGenerator",
        };
        let is_kustomization = located.document.objects().kustomization.is_some();
        let generators = plain[list].as_array().into_iter().flatten().filter(|_| is_kustomization).enumerate();
        let generators = generators.map(|(position, one)| {
            let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
            let is_it = is_same(&(text("namespace"), text("name")), object);
            (Path::root().key(list).index(position), "options", is_it)
        });
        for (root, holder, _) in manifests.chain(generators).filter(|(_, _, is_it)| *is_it) {
            let change = label_of(tree, &root, &Path::root().key(holder));
            let made = change.map_or(Some(Vec::new()), |change| fix::text_edits(tree, &root, &[change]));
            found = true;
            missed |= made.is_none();
            let made = made.unwrap_or_default().into_iter();
            edits.extend(made.map(|edit| TextEdit { span: edit.span.shift(located.offset), ..edit }));
        }
    }
    (edits, found && !missed)
}

/// The change that adds the label to the labels in `holder`; `None` if it is there.
fn label_of(tree: &Document, root: &Path, holder: &Path) -> Option<FixEdit> {
    let node = |path: &Path| tree.find(&place::steps(root, path));
    let is_mapping = |path: &Path| node(path).is_some_and(|node| node.is_mapping());
    let labels = holder.key("labels");
    let path = labels.key(WATCH_LABEL);
    let value = json!({ WATCH_LABEL: "true" });
    Some(match node(&path) {
        Some(node) if node.value() == "true" => return None,
        Some(_) => FixEdit::Replace { path, value: "true".into() },
        None if !is_mapping(holder) => FixEdit::Insert { path: holder.clone(), value: json!({ "labels": value }) },
        None if !is_mapping(&labels) => FixEdit::Insert { path: labels, value },
        None => FixEdit::Insert { path, value: "true".into() },
    })
}

/// What is to be said of a `LlamaStackDistribution` of that name, which goes on reading a config that was rewritten.
#[must_use]
pub fn read_by(name: &str, (_, config_map): &ObjectKey) -> Line {
    let text = format!(
        "LlamaStackDistribution \"{name}\" reads ConfigMap \"{config_map}\", too, and is not migrated: its server cannot read \
         what the config is now"
    );
    Line { kind: LineKind::Difference(Class::Unknown), text }
}

/// What is to be said of an object that needs the new operator's label, and is in none of the files.
#[must_use]
pub fn unwatched(object: &(ReferenceKind, ObjectKey)) -> Line {
    let (kind, (_, name)) = object;
    let text =
        format!("{} \"{name}\" is in none of these files and needs the label: `{}`", kind.name(), watched(object));
    Line { kind: LineKind::Note, text }
}

/// The command that gives an object the label by which the new operator sees it.
#[must_use]
pub fn watched((kind, (namespace, name)): &(ReferenceKind, ObjectKey)) -> String {
    let namespace = if namespace.is_empty() { String::new() } else { format!(" -n {}", quoted(namespace)) };
    let object = quoted(&format!("{}/{name}", kind.name().to_lowercase()));
    format!("kubectl{namespace} label {object} {WATCH_LABEL}=true --overwrite")
}

/// The `LlamaStackDistribution`s that go on naming a ConfigMap, but for those of one document of the asked file.
pub(crate) fn old_readers(query: &Query<'_>, object: &ObjectKey, except: Option<usize>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for one in query.named(&Symbol::ConfigMap(object.clone())) {
        if one.is_declaration() || one.place == query.place && Some(one.document) == except {
            continue;
        }
        let Some(located) = one.analysis().and_then(|analysis| analysis.document(one.document)) else { continue };
        let resources = located.document.resources().iter();
        let old = resources.filter(|resource| resource.version.kind() == Kind::LlamaStackDistribution);
        names.extend(old.map(|resource| resource.name().to_owned()));
    }
    names
}
