//! Configs of the server in a document: the document itself, texts in a ConfigMap, or values that become one.

mod embedding;
mod values;

pub(crate) use embedding::Embedding;
pub(crate) use values::{PossibleConfig, possible, put};

use super::objects::ObjectKey;
use super::types::{Diagnostic, TextEdit};
use super::{NotMigrated, diagnostics, fix, place};
use llsd_generator::check::facts::Facts;
use llsd_generator::config::context;
use llsd_generator::config::language::Language;
use llsd_generator::config::mounting::Mount;
use llsd_generator::config::{self, ConfigMigration, Memory, Verdict, named_range};
use llsd_generator::document::Plain;
use llsd_generator::path::Path;
use llsd_yaml::{Document, Node, SkippedKind, edit, parse_document};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Configs that are looked at in one ConfigMap. Nobody keeps more.
const MOST_TEXTS: usize = 16;

/// A config and its place.
#[derive(Debug)]
pub(crate) struct ConfigText {
    embedding: Embedding,
    owner: Option<Owner>,
    tree: Arc<Document>,
    plain: Arc<Plain>,
    /// Shared with the texts that it had before.
    memory: Arc<Memory>,
    /// The last verdict, and the versions that it was asked for.
    verdict: Mutex<Option<(Vec<&'static str>, Arc<Verdict>)>>,
}

/// The ConfigMap that a config stands in, or that is made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Namespace and name.
    pub(crate) object: ObjectKey,
    /// The key of the text.
    pub(crate) key: String,
}

/// The configs of a document with this value.
pub(crate) fn of_document(tree: &Arc<Document>, plain: &Arc<Plain>) -> Vec<ConfigText> {
    if config::is_config(&plain.value) {
        return vec![ConfigText::new(Embedding::Document, None, tree.clone(), plain.clone())];
    }
    super::objects::roots(&plain.value).iter().flat_map(|root| in_config_map(tree, plain, root)).collect()
}

fn in_config_map(tree: &Arc<Document>, plain: &Plain, root: &Path) -> Vec<ConfigText> {
    let Some(object) = root.find(&plain.value) else { return Vec::new() };
    let is = |field: &str, text: &str| object.get(field).and_then(Value::as_str) == Some(text);
    if !is("kind", "ConfigMap") || !is("apiVersion", "v1") {
        return Vec::new();
    }
    let metadata = |field: &str| {
        let text = object.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let owner = (metadata("namespace"), metadata("name"));
    let data = object.get("data").and_then(Value::as_object).into_iter().flatten();
    let texts = data.filter(|(_, text)| text.as_str().is_some_and(may_be));
    texts
        .take(MOST_TEXTS)
        .filter_map(|(key, _)| {
            let node = tree.find(&place::steps(root, &Path::root().key("data").key(key.as_str())))?;
            inside(node, Some(Owner { object: owner.clone(), key: key.clone() }))
        })
        .collect()
}

/// Whether a text may be a config: each has one of these words, so that most texts need not be parsed.
fn may_be(text: &str) -> bool {
    ["provider_type", "providers", "apis"].iter().any(|word| text.contains(word))
}

fn inside(node: Node<'_>, owner: Option<Owner>) -> Option<ConfigText> {
    let tree = Arc::new(parse_document(&node.value()));
    let plain = Plain::read(&tree);
    let is_config = config::is_config(&plain.value);
    is_config.then(|| ConfigText::new(Embedding::of(node), owner, tree, Arc::new(plain)))
}

impl ConfigText {
    fn new(embedding: Embedding, owner: Option<Owner>, tree: Arc<Document>, plain: Arc<Plain>) -> Self {
        Self { embedding, owner, tree, plain, memory: Arc::default(), verdict: Mutex::default() }
    }

    /// The same text as a config of a ConfigMap that is made of it.
    fn in_config_map(&self, owner: Owner) -> Self {
        let (tree, plain) = (Arc::clone(&self.tree), Arc::clone(&self.plain));
        Self { memory: Arc::clone(&self.memory), ..Self::new(self.embedding.clone(), Some(owner), tree, plain) }
    }

    /// Takes over what is known of the entries of the same config in the text before.
    pub(crate) fn remember(&mut self, before: &Self) {
        self.memory = Arc::clone(&before.memory);
    }

    /// How it stands in its document.
    pub(crate) fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// The ConfigMap that it stands in, or that is made of it; `None` for a document of its own.
    pub(crate) fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// Its tree, with places of its own text.
    pub(crate) fn tree(&self) -> &Arc<Document> {
        &self.tree
    }

    /// The config as plain data, variables as they are written.
    pub(crate) fn value(&self) -> &Value {
        &self.plain.value
    }

    /// The resources around that mount it.
    pub(crate) fn mounts<'f>(&self, facts: &'f Facts) -> impl Iterator<Item = &'f Mount> {
        let all = facts.mounts.iter().map(AsRef::as_ref);
        all.filter(|mount| self.owner.as_ref().is_none_or(|owner| mount.names(&owner.object)))
    }

    /// What the server would say of it.
    pub(crate) fn verdict(&self, facts: &Facts) -> Arc<Verdict> {
        self.judged(self.target(facts).0)
    }

    fn judged(&self, versions: Vec<&'static str>) -> Arc<Verdict> {
        let mut kept = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, verdict)) = kept.as_ref().filter(|(of, _)| *of == versions) {
            return Arc::clone(verdict);
        }
        let Plain { value, unknown, .. } = &*self.plain;
        let verdict = Arc::new(config::check_again(value, unknown, &versions, &self.memory));
        *kept = Some((versions, Arc::clone(&verdict)));
        verdict
    }

    /// The versions that it is judged by, oldest first. Where they are told, nothing has to be judged to know them.
    pub(crate) fn versions(&self, facts: &Facts) -> Vec<&'static str> {
        let (versions, _) = self.target(facts);
        if versions.is_empty() { self.judged(versions).versions.clone() } else { versions }
    }

    /// The versions of the server that will read it, oldest first, and what tells them; none where nothing does.
    fn target(&self, facts: &Facts) -> (Vec<&'static str>, String) {
        let told = self.told(facts, false);
        if !told.0.is_empty() {
            return told;
        }
        let settings = facts.llama_stack_version.as_deref();
        if let Some(catalog) = settings.and_then(llsd_generator::catalog::Catalog::for_version) {
            return (vec![catalog.version()], "the version that the settings name".to_owned());
        }
        let assumed = self.told(facts, true);
        if !assumed.0.is_empty() {
            return assumed;
        }
        let why = "no resource around mounts it, or none tells its version; these know its keys and types";
        (Vec::new(), why.to_owned())
    }

    /// The versions that the resources around tell, or those that are assumed of them.
    fn told(&self, facts: &Facts, assumed: bool) -> (Vec<&'static str>, String) {
        let mounts = self.mounts(facts).filter(|mount| mount.is_assumed == assumed);
        let told = mounts.filter_map(|mount| Some((mount.known_version()?, mount)));
        let (mut versions, mut words) = (BTreeSet::new(), Vec::new());
        for (version, mount) in told {
            versions.insert(version);
            let exact = mount.version.as_deref() == Some(version);
            let nearest = if exact { "" } else { ", whose version is nearest to that" };
            words.push(match assumed {
                true => format!("resource \"{}\": {}", mount.resource, mount.told_by),
                false => format!("{} of resource \"{}\"{nearest}", mount.told_by, mount.resource),
            });
        }
        // As old as the list of catalogs has them.
        let all = llsd_generator::catalog::Catalog::versions().iter().map(String::as_str);
        (all.filter(|version| versions.contains(version)).collect(), words.join("; "))
    }

    /// The versions that it is judged by, and why by these, in words.
    pub(crate) fn judged_by(&self, facts: &Facts) -> (String, String) {
        (named_range(&self.versions(facts)), self.target(facts).1)
    }

    /// The variables that the resources around set, each with where it is taken from, in words.
    pub(crate) fn set_variables(&self, facts: &Facts) -> Vec<(String, String)> {
        let of = |mount: &Mount| -> Vec<(String, String)> {
            let names = mount.variables.keys();
            names.filter_map(|name| Some((name.clone(), mount.says(name)?))).collect()
        };
        self.mounts(facts).flat_map(of).collect()
    }

    /// What the versions read that it is judged by, oldest first.
    pub(crate) fn languages(&self, facts: &Facts) -> Vec<(&'static str, Language)> {
        self.versions(facts).into_iter().filter_map(|version| Some((version, Language::of(version)?))).collect()
    }

    /// Everything wrong with it, with spans of the document around it.
    pub(crate) fn diagnostics(&self, outer: &str, facts: &Facts) -> Vec<Diagnostic> {
        let syntax = diagnostics::syntax(&self.tree);
        let verdict = self.verdict(facts);
        let mounts: Vec<&Mount> = self.mounts(facts).collect();
        let Plain { value, unknown, .. } = &*self.plain;
        let beside = context::findings(value, unknown, &mounts, &verdict, &self.memory);
        let findings = verdict.findings.iter().filter(|finding| context::concerns(finding, &mounts)).chain(&beside);
        let findings = findings.filter(|_| syntax.is_empty());
        let found = findings.map(|finding| diagnostics::at(&self.tree, &Path::root(), finding));
        // The syntax of a whole document is told with it.
        let syntax = syntax.iter().filter(|_| !self.embedding.is_document()).cloned();
        found.chain(syntax).map(|one| self.outside(one, outer)).collect()
    }

    /// What it becomes for version `to`, which has a catalog, and the edits of the document around it. `from`: the version
    /// that reads it now, where that is known.
    ///
    /// # Errors
    /// It is not well-formed, has lines of a template, or cannot be changed where it stands.
    pub(crate) fn migrated(
        &self,
        outer: &str,
        from: Option<&str>,
        to: &str,
    ) -> Result<(ConfigMigration, Vec<TextEdit>), NotMigrated> {
        self.migrated_by(outer, |value, unknown| config::migrate(value, unknown, from, to))
    }

    /// What `migrate` makes of the config and of the places in it that a template fills in, and the edits of the document
    /// around it.
    ///
    /// # Errors
    /// It is not well-formed, has lines of a template, or cannot be changed where it stands.
    pub(crate) fn migrated_by(
        &self,
        outer: &str,
        migrate: impl FnOnce(&Value, &BTreeSet<Path>) -> Option<ConfigMigration>,
    ) -> Result<(ConfigMigration, Vec<TextEdit>), NotMigrated> {
        let text = self.tree.text();
        if let Some(skipped) = self.tree.skipped().iter().find(|skipped| skipped.kind == SkippedKind::Template) {
            let line = text[..skipped.span.start].matches('\n').count() + 1;
            return Err(NotMigrated::Template { line });
        }
        if let Some(error) = self.tree.strict_error() {
            return Err(NotMigrated::NotWellFormed { message: error.message.clone() });
        }
        let migration = migrate(&self.plain.value, &self.plain.unknown).ok_or(NotMigrated::NoResource)?;
        if migration.edits.is_empty() {
            return Ok((migration, Vec::new()));
        }
        let edits = fix::text_edits(&self.tree, &Path::root(), &migration.edits).ok_or(NotMigrated::Unreachable)?;
        let edits = self.edits_outside(edits, outer).ok_or(NotMigrated::Unreachable)?;
        Ok((migration, edits))
    }

    /// Edits of the config as edits of the document around it. `None`: they cannot be made there.
    fn edits_outside(&self, edits: Vec<TextEdit>, outer: &str) -> Option<Vec<TextEdit>> {
        if self.embedding.is_document() {
            return Some(edits);
        }
        let edits: Vec<_> = edits.into_iter().map(|one| edit::TextEdit::new(one.span, one.new_text)).collect();
        let text = edit::apply(self.tree.text(), &edits);
        if let Some((span, new_text)) = self.embedding.block_with(&text, outer) {
            let mut whole = outer.to_owned();
            whole.replace_range(span.start..span.end, &new_text);
            return Some(fix::difference(outer, &whole));
        }
        // A text in JSON's quotes is one in YAML's double quotes.
        let span = self.embedding.quoted()?;
        Some(vec![TextEdit { span, new_text: Value::from(text).to_string() }])
    }

    fn outside(&self, mut diagnostic: Diagnostic, outer: &str) -> Diagnostic {
        if self.embedding.is_document() {
            return diagnostic;
        }
        if !self.embedding.is_exact() {
            if !diagnostic.path.is_empty() {
                diagnostic.message = format!("{}: {}", diagnostic.path, diagnostic.message);
            }
            diagnostic.related.clear();
        }
        diagnostic.span = self.embedding.span(diagnostic.span);
        for (span, _) in &mut diagnostic.related {
            *span = self.embedding.span(*span);
        }
        diagnostic.fixes.retain_mut(|fix| {
            fix.edits.iter_mut().all(|edit| {
                let written = self.embedding.edit(edit, outer);
                written.map(|written| *edit = written).is_some()
            })
        });
        diagnostic
    }
}
