//! What a name means beyond its document: all places that speak of the same thing.

use super::index::Kind;
use super::{DocumentNames, Occurrence, Role, Scope, Symbol, base};
use crate::ide::file::Located;
use crate::ide::resource::Resource;
use crate::ide::{Analysis, Span};
use llsd_generator::api::CONFIG_KEYS;
use std::sync::Arc;

/// Files searched at most for one question: more than anyone reads through.
const FILES: usize = 1_000;

/// The other files of the workspace, as far as a question needs them.
pub trait WorkspaceFiles {
    /// The files that mention a name, see [`super::NameIndex::mentioning`].
    fn mentioning(&self, kind: Kind, name: &str) -> Vec<Arc<str>>;

    /// What is known of a file; `None` if it cannot be read.
    fn analysis(&self, file: &str) -> Option<Arc<Analysis>>;
}

/// A text that an answer can point into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextId {
    /// A file, by its name.
    File(Arc<str>),
    /// The embedded base config of a distribution.
    Base(String),
    /// The config generated for a resource.
    Preview {
        /// The file of the resource.
        file: Arc<str>,
        /// Number of its document in the file, from 0.
        document: usize,
        /// Its number in that document, from 0.
        resource: usize,
    },
}

/// A place in some text.
#[derive(Clone, Debug)]
pub struct Location {
    /// The text that the place is in.
    pub place: TextId,
    /// The bytes of the name in that text.
    pub span: Span,
    /// Whether something is declared there.
    pub declares: bool,
    /// The name of the resource, for a preview; else empty.
    pub title: String,
    pub(crate) source: Source,
}

impl Location {
    /// The whole text of the place.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        match &self.source {
            Source::File(analysis) => analysis.text(),
            Source::Text(text) => text.clone(),
        }
    }
}

/// Where the text of a place comes from. That of a file is put together only when somebody needs all of it.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A file that was analysed, whose text is made on demand.
    File(Analysis),
    /// A text of its own.
    Text(Arc<str>),
}

/// A query about a place: the text that it was asked in, and what is known of the workspace.
pub struct Query<'a> {
    /// The text that the question is about.
    pub place: TextId,
    /// The file: for a preview the file of its resource. `None` for a base config.
    pub analysis: Option<&'a Analysis>,
    /// The files of the workspace besides the one that is asked about.
    pub library: &'a dyn WorkspaceFiles,
    /// Whether base configs and generated configs are searched too: only for clients that can show them.
    pub generated: bool,
}

/// No other file is known.
struct NoFiles;

impl WorkspaceFiles for NoFiles {
    fn mentioning(&self, _: Kind, _: &str) -> Vec<Arc<str>> {
        Vec::new()
    }

    fn analysis(&self, _: &str) -> Option<Arc<Analysis>> {
        None
    }
}

impl<'a> Query<'a> {
    /// A question about a file of which no neighbours are known.
    #[must_use]
    pub fn alone(analysis: &'a Analysis) -> Self {
        Self { place: TextId::File(Arc::from("")), analysis: Some(analysis), library: &NoFiles, generated: false }
    }
}

/// An occurrence and its text.
#[derive(Clone, Debug)]
pub(crate) struct LocatedOccurrence {
    /// The text that the occurrence is in.
    pub(crate) place: TextId,
    /// How to get at that text.
    pub(crate) source: Source,
    /// Number of the document in the file.
    pub(crate) document: usize,
    /// Bytes of the text before the document.
    pub(crate) offset: usize,
    /// The occurrence, relative to the document.
    pub(crate) occurrence: Occurrence,
    /// The name of the resource, for a preview; else empty.
    pub(crate) title: String,
}

impl LocatedOccurrence {
    /// Its place in the whole text.
    pub(crate) fn span(&self) -> Span {
        self.occurrence.span.shift(self.offset)
    }

    /// The file, where it is one.
    pub(crate) fn analysis(&self) -> Option<&Analysis> {
        match &self.source {
            Source::File(analysis) => Some(analysis),
            Source::Text(_) => None,
        }
    }

    /// The text of a part of its document.
    pub(crate) fn slice(&self, span: Span) -> String {
        let part = |text: &str| text.get(span.start..span.end).unwrap_or_default().to_owned();
        match &self.source {
            Source::File(analysis) => {
                let located = analysis.document(self.document);
                located.map(|located| part(located.document.tree().text())).unwrap_or_default()
            }
            Source::Text(text) => part(text),
        }
    }

    /// The name as it is written.
    pub(crate) fn written(&self) -> String {
        self.slice(self.occurrence.span)
    }

    pub(crate) fn is_declaration(&self) -> bool {
        self.occurrence.role == Role::Declaration
    }

    pub(crate) fn location(&self) -> Location {
        let declares = self.is_declaration();
        let (place, title, source) = (self.place.clone(), self.title.clone(), self.source.clone());
        Location { place, span: self.span(), declares, title, source }
    }
}

/// One resource or config of a group.
struct Member {
    place: TextId,
    source: Source,
    document: usize,
    offset: usize,
    names: Arc<DocumentNames>,
    scope: usize,
    title: String,
}

impl Member {
    fn occurrences(&self, symbol: &Symbol) -> impl Iterator<Item = LocatedOccurrence> {
        let matching =
            self.names.occurrences.iter().filter(|one| one.scope == Some(self.scope) && one.symbol.is_same(symbol));
        matching.map(|one| LocatedOccurrence {
            place: self.place.clone(),
            source: self.source.clone(),
            document: self.document,
            offset: self.offset,
            occurrence: one.clone(),
            title: self.title.clone(),
        })
    }
}

impl Query<'_> {
    /// The name at an offset of the asked text.
    pub(crate) fn at(&self, offset: usize) -> Option<LocatedOccurrence> {
        match &self.place {
            TextId::File(_) => {
                let analysis = self.analysis?;
                let located = analysis.file.at(offset)?;
                let occurrence = located.document.names().at(offset - located.offset)?.clone();
                Some(found_in(analysis, self.place.clone(), located, occurrence))
            }
            TextId::Base(_) | TextId::Preview { .. } => {
                let member = self.own_config()?;
                let occurrence = member.names.at(offset)?.clone();
                Some(LocatedOccurrence {
                    place: member.place,
                    source: member.source,
                    document: 0,
                    offset: 0,
                    occurrence,
                    title: member.title,
                })
            }
        }
    }

    /// Every place that speaks of what `found` does, itself included: declarations first, then in the order of places.
    pub(crate) fn uses(&self, found: &LocatedOccurrence) -> Vec<LocatedOccurrence> {
        let mut all = match found.occurrence.symbol {
            Symbol::Secret(_) | Symbol::SecretKey(..) | Symbol::ConfigMap(_) | Symbol::ConfigMapKey(..) => {
                self.bound(found)
            }
            Symbol::Resource(_) | Symbol::Distribution(_) => self.named(&found.occurrence.symbol),
            Symbol::Model(_) | Symbol::Shield(_) | Symbol::ToolGroup(_) => {
                let mut all = self.joined(found);
                all.extend(self.named(&found.occurrence.symbol));
                all
            }
            Symbol::Provider { .. } | Symbol::Api(_) | Symbol::Variable(_) | Symbol::Backend(_) => self.joined(found),
        };
        let key = |one: &LocatedOccurrence| (one.occurrence.role, one.place.clone(), one.span().start, one.span().end);
        all.sort_by_cached_key(key);
        all.dedup_by_key(|one| key(one));
        all
    }

    /// The uses of a name in the group that its resource or config belongs to.
    pub(crate) fn joined(&self, found: &LocatedOccurrence) -> Vec<LocatedOccurrence> {
        let members = match found.occurrence.scope {
            Some(scope) if found.analysis().is_some() => self.group(&found.place, found.document, scope),
            _ => self.own_group(),
        };
        members.iter().flat_map(|member| member.occurrences(&found.occurrence.symbol).collect::<Vec<_>>()).collect()
    }

    /// The uses of an object that mean this one: those of a file that declares the object itself mean that file's.
    fn bound(&self, found: &LocatedOccurrence) -> Vec<LocatedOccurrence> {
        let symbol = &found.occurrence.symbol;
        let Some(object) = symbol.object() else { return Vec::new() };
        let all = self.named(&object);
        let declaring = |place: &TextId| {
            all.iter().any(|one| one.is_declaration() && one.place == *place && one.occurrence.symbol.is_same(&object))
        };
        let meant: Vec<&TextId> = if declaring(&found.place) {
            vec![&found.place]
        } else {
            all.iter()
                .filter(|one| one.is_declaration() && one.occurrence.symbol.is_same(&object))
                .map(|one| &one.place)
                .collect()
        };
        let means = |one: &LocatedOccurrence| meant.is_empty() || meant.contains(&&one.place) || !declaring(&one.place);
        all.iter().filter(|one| one.occurrence.symbol.is_same(symbol) && means(one)).cloned().collect()
    }

    /// The files that declare the object of a reference which the file of `found` does not declare.
    pub(crate) fn declaring_files(&self, found: &LocatedOccurrence) -> Vec<TextId> {
        let Some(object) = found.occurrence.symbol.object() else { return Vec::new() };
        let all = self.named(&object);
        let declared = all.into_iter().filter(|one| one.is_declaration() && one.occurrence.symbol.is_same(&object));
        let mut places: Vec<TextId> = declared.map(|one| one.place).collect();
        places.dedup();
        places
    }

    /// Every occurrence in the workspace of what is found under the symbol's name: for an object its keys too.
    pub(crate) fn named(&self, symbol: &Symbol) -> Vec<LocatedOccurrence> {
        let Some((kind, name)) = Kind::of(symbol) else { return Vec::new() };
        let mut all = Vec::new();
        for (place, analysis) in self.files(kind, name) {
            for located in analysis.mentioning(kind, name) {
                let names = located.document.names();
                for one in &names.occurrences {
                    let wanted = match symbol.object() {
                        Some(object) => one.symbol.object().is_some_and(|other| other.is_same(&object)),
                        None => one.symbol.is_same(symbol),
                    };
                    if wanted {
                        all.push(found_in(&analysis, place.clone(), located, one.clone()));
                    }
                }
            }
        }
        all
    }

    /// The file that was asked, and the others that mention a name.
    fn files(&self, kind: Kind, name: &str) -> Vec<(TextId, Analysis)> {
        let own = match &self.place {
            TextId::File(file) | TextId::Preview { file, .. } => Some(file),
            TextId::Base(_) => None,
        };
        let mut files = Vec::new();
        if let (Some(file), Some(analysis)) = (own, self.analysis) {
            files.push((TextId::File(file.clone()), analysis.clone()));
        }
        let others = self.library.mentioning(kind, name).into_iter().filter(|file| own != Some(file)).take(FILES);
        files.extend(others.filter_map(|file| {
            let analysis = self.library.analysis(&file)?;
            Some((TextId::File(file), (*analysis).clone()))
        }));
        files
    }

    /// The group of a base or preview that was asked itself.
    fn own_group(&self) -> Vec<Member> {
        let Some(own) = self.own_config() else { return Vec::new() };
        let mut members = match (&self.place, self.analysis) {
            (TextId::Preview { file, document, resource }, Some(analysis)) => {
                let located = analysis.document(*document);
                let names = located.map(|located| located.document.names().clone());
                let scope = names.and_then(|names| scope_of(&names, *resource));
                scope.map(|scope| self.group(&TextId::File(file.clone()), *document, scope)).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        members.retain(|member| member.place != own.place);
        members.insert(0, own);
        members
    }

    /// The base or preview that was asked.
    fn own_config(&self) -> Option<Member> {
        match &self.place {
            TextId::File(_) => None,
            TextId::Base(distribution) => base_member(distribution),
            TextId::Preview { file, document, resource } => preview_member(file, self.analysis?, *document, *resource),
        }
    }

    /// The resource or config `scope` of a document, and what belongs to it.
    fn group(&self, place: &TextId, document: usize, scope: usize) -> Vec<Member> {
        let TextId::File(file) = place else { return Vec::new() };
        let analysis = match (&self.place, self.analysis) {
            (TextId::File(own) | TextId::Preview { file: own, .. }, Some(analysis)) if own == file => analysis.clone(),
            _ => match self.library.analysis(file) {
                Some(analysis) => (*analysis).clone(),
                None => return Vec::new(),
            },
        };
        let Some(located) = analysis.document(document) else { return Vec::new() };
        let Some(about) = located.document.names().scopes.get(scope).cloned() else { return Vec::new() };
        let mut members = vec![member(place.clone(), &analysis, located, scope)];
        match (&about.config_map, &about.owner) {
            (Some(object), _) => {
                let wanted = Symbol::ConfigMap(object.clone());
                members.extend(self.scopes(&wanted, |other| other.owner.clone().map(Symbol::ConfigMap)));
            }
            (None, Some(owner)) => {
                let wanted = Symbol::ConfigMap(owner.clone());
                members.extend(self.scopes(&wanted, |other| other.config_map.clone().map(Symbol::ConfigMap)));
            }
            (None, None) => {}
        }
        let resource = about.resource.and_then(|number| located.document.resources().get(number));
        if resource.and_then(Resource::given_base).is_none() {
            members.extend(about.distribution.as_deref().and_then(base_member));
        }
        if let Some(resource) = about.resource.filter(|_| self.generated) {
            members.extend(preview_member(file, &analysis, document, resource));
        }
        members
    }

    /// The resources or configs of the workspace for which `object` is the wanted one.
    fn scopes(&self, wanted: &Symbol, object: impl Fn(&Scope) -> Option<Symbol>) -> Vec<Member> {
        let Some((kind, name)) = Kind::of(wanted) else { return Vec::new() };
        let mut members = Vec::new();
        for (place, analysis) in self.files(kind, name) {
            for located in analysis.mentioning(kind, name) {
                for (scope, about) in located.document.names().scopes.iter().enumerate() {
                    if object(about).is_some_and(|other| other.is_same(wanted)) {
                        members.push(member(place.clone(), &analysis, located, scope));
                    }
                }
            }
        }
        members
    }
}

/// Whether a key of a ConfigMap is found by the operator under exactly this name.
pub(crate) fn is_config_key(key: &str) -> bool {
    CONFIG_KEYS.contains(&key)
}

fn scope_of(names: &DocumentNames, resource: usize) -> Option<usize> {
    names.scopes.iter().position(|scope| scope.resource == Some(resource))
}

fn member(place: TextId, analysis: &Analysis, located: Located<'_>, scope: usize) -> Member {
    Member {
        place,
        source: Source::File(analysis.clone()),
        document: located.number,
        offset: located.offset,
        names: located.document.names().clone(),
        scope,
        title: String::new(),
    }
}

/// An occurrence in a file.
pub(crate) fn found_in(
    analysis: &Analysis,
    place: TextId,
    located: Located<'_>,
    occurrence: Occurrence,
) -> LocatedOccurrence {
    let source = Source::File(analysis.clone());
    LocatedOccurrence {
        place,
        source,
        document: located.number,
        offset: located.offset,
        occurrence,
        title: String::new(),
    }
}

fn base_member(distribution: &str) -> Option<Member> {
    let base = base(distribution)?;
    Some(Member {
        place: TextId::Base(distribution.to_owned()),
        source: Source::Text(base.text.clone()),
        document: 0,
        offset: 0,
        names: base.names.clone(),
        scope: 0,
        title: String::new(),
    })
}

fn preview_member(file: &Arc<str>, analysis: &Analysis, document: usize, resource: usize) -> Option<Member> {
    let located = analysis.document(document)?;
    let about = located.document.resources().get(resource)?;
    let generated = located.document.generated(about)?;
    Some(Member {
        title: about.name().to_owned(),
        place: TextId::Preview { file: file.clone(), document, resource },
        source: Source::Text(generated.config.text().into()),
        document: 0,
        offset: 0,
        names: Arc::new(DocumentNames::of_config(&llsd_yaml::parse_document(generated.config.text()))),
        scope: 0,
    })
}
