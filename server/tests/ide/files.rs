//! Fixtures of several files, and answers in short.

use crate::ide::support::shown;
use llsd::ide::{self, Analysis, FileEdits, Kind, Location, NameIndex, Query, TextId, Workspace, WorkspaceFiles};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files that know each other. The fixture is one text, in which `#- name` starts a file, and `$0` is the cursor.
pub(crate) struct Files {
    texts: BTreeMap<Arc<str>, String>,
    analyses: BTreeMap<Arc<str>, Arc<Analysis>>,
    index: NameIndex,
    /// The file with the mark `$0` for the cursor, and its offset in bytes.
    pub(crate) cursor: Option<(Arc<str>, usize)>,
}

impl Files {
    pub(crate) fn new(fixture: &str) -> Self {
        let mut texts: BTreeMap<Arc<str>, String> = BTreeMap::new();
        let mut name: Arc<str> = "main.yaml".into();
        for line in fixture.split_inclusive('\n') {
            match line.strip_prefix("#- ") {
                Some(next) => name = next.trim().into(),
                None => texts.entry(name.clone()).or_default().push_str(line),
            }
        }
        let mut cursor = None;
        for (name, text) in &mut texts {
            if let Some(at) = text.find("$0") {
                *text = text.replacen("$0", "", 1);
                cursor = Some((name.clone(), at));
            }
        }
        Self { cursor, ..Self::of(&texts) }
    }

    /// Files of these texts, without a cursor.
    pub(crate) fn of(texts: &BTreeMap<Arc<str>, String>) -> Self {
        let alone = |text: &String| ide::analyse(text.as_str().into(), None, &Workspace::new());
        let first: BTreeMap<_, _> = texts.iter().map(|(name, text)| (name.clone(), alone(text))).collect();
        let mut index = NameIndex::default();
        let mut analyses = BTreeMap::new();
        let mut all = Workspace::new();
        for (name, analysis) in &first {
            all.set(name, analysis.objects());
        }
        for (name, text) in texts {
            let analysis = ide::analyse(text.as_str().into(), None, &all.seen_by(name));
            index.learn(name, &analysis);
            analyses.insert(name.clone(), Arc::new(analysis));
        }
        Self { texts: texts.clone(), analyses, index, cursor: None }
    }

    /// The names of the files, in order.
    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        self.texts.keys().cloned().collect()
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        &self.texts[name]
    }

    pub(crate) fn analysis(&self, name: &str) -> &Analysis {
        &self.analyses[name]
    }

    pub(crate) fn index(&self) -> &NameIndex {
        &self.index
    }

    /// A question about a file.
    pub(crate) fn about(&self, name: &str) -> Query<'_> {
        let analysis = Some(&*self.analyses[name]);
        Query { place: TextId::File(name.into()), analysis, library: self, generated: true }
    }

    /// The question at the cursor.
    pub(crate) fn asked(&self) -> (Query<'_>, usize) {
        let (name, at) = self.cursor.as_ref().expect("a cursor in the fixture");
        (self.about(name), *at)
    }

    /// The question about the config generated for the first resource of a file.
    pub(crate) fn about_preview(&self, name: &str) -> Query<'_> {
        let place = TextId::Preview { file: name.into(), document: 0, resource: 0 };
        Query { place, ..self.about(name) }
    }

    /// The texts of all files after edits, those that were deleted left out.
    pub(crate) fn edited(&self, edits: &[FileEdits]) -> BTreeMap<Arc<str>, String> {
        let mut texts = self.texts.clone();
        for file in edits {
            let text = texts.get_mut(&file.file).expect("a file of the fixture");
            assert_eq!(**text, *file.text);
            *text = crate::ide::support::apply(text, &file.edits);
        }
        texts
    }
}

impl WorkspaceFiles for Files {
    fn mentioning(&self, kind: Kind, name: &str) -> Vec<Arc<str>> {
        self.index.mentioning(kind, name)
    }

    fn analysis(&self, file: &str) -> Option<Arc<Analysis>> {
        self.analyses.get(file).cloned()
    }
}

/// `place line:column-line:column text`, a line each; `*` behind declarations.
pub(crate) fn listed(locations: &[Location]) -> String {
    let mut lines = String::new();
    for location in locations {
        let place = match &location.place {
            TextId::File(file) => file.to_string(),
            TextId::Base(distribution) => format!("base {distribution}"),
            TextId::Preview { document, resource, .. } => format!("preview {document}.{resource}"),
        };
        let mark = if location.declares { " *" } else { "" };
        let text = shown(&location.text(), location.span);
        lines.push_str(&format!("{place} {}{mark}\n", text.replace('\n', "⏎")));
    }
    lines
}
