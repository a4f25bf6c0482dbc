//! Texts that lead somewhere: images to their registry, variables to who sets or reads them, distributions to their
//! base config, rules to their description.

use super::names::{Form, Location, Query, Symbol, TextId};
use super::{Analysis, Span, definition};
use llsd_generator::check::rules;
use llsd_yaml::Node;

/// The target of a link.
#[derive(Clone, Debug)]
pub enum LinkTarget {
    /// A page of the web.
    Page(String),
    /// A place in a file or a base config.
    Location(Box<Location>),
    /// The description of a rule, by its id.
    Rule(&'static str),
}

/// A text that leads somewhere.
#[derive(Clone, Debug)]
pub struct Link {
    /// The bytes that are the link.
    pub span: Span,
    /// The target of the link.
    pub target: LinkTarget,
    /// What the editor says of it.
    pub tooltip: String,
}

/// The texts of a file that lead somewhere, in order.
#[must_use]
pub fn links(query: &Query<'_>) -> Vec<Link> {
    let (TextId::File(_), Some(analysis)) = (&query.place, query.analysis) else { return Vec::new() };
    let mut found = Vec::new();
    for located in analysis.documents() {
        let document = &located.document;
        for resource in document.resources() {
            let root = document.tree().find(&super::place::steps(&resource.base, &Default::default()));
            images(root, located.offset, &mut found);
        }
        if document.resources().is_empty() {
            continue;
        }
        for comment in document.tree().comments() {
            let text = comment.span.slice(document.tree().text());
            for rule in rules::all() {
                // the longest id wins where one starts like another
                let at = text.match_indices(rule.id).find(|(at, id)| {
                    let behind = text[at + id.len()..].chars().next();
                    !behind.is_some_and(|char| char.is_alphanumeric() || char == '-' || char == ':')
                });
                if let Some((at, id)) = at {
                    let start = located.offset + comment.span.start + at;
                    found.push(Link {
                        span: Span::new(start, start + id.len()),
                        target: LinkTarget::Rule(rule.id),
                        tooltip: rule.summary.to_owned(),
                    });
                }
            }
        }
    }
    named(query, analysis, &mut found);
    found.sort_by_key(|link| link.span.start);
    found
}

/// Adds links of names whose declaration is elsewhere: variables of base configs, and distributions.
fn named(query: &Query<'_>, analysis: &Analysis, out: &mut Vec<Link>) {
    for located in analysis.documents() {
        for one in &located.document.names().occurrences {
            let tooltip = match (&one.symbol, &one.form) {
                (Symbol::Variable(_), Form::Part) => "Show where this variable is set",
                (Symbol::Distribution(_), _) if query.generated => "Show the base config of this distribution",
                _ => continue,
            };
            let span = one.span.shift(located.offset);
            let target = definition::declared(query, span.start);
            let target = target.into_iter().find(|to| query.generated || matches!(to.place, TextId::File(_)));
            if let Some(target) = target {
                out.push(Link { span, target: LinkTarget::Location(Box::new(target)), tooltip: tooltip.to_owned() });
            }
        }
    }
}

/// The images at or below `root`.
fn images(root: Option<Node<'_>>, offset: usize, out: &mut Vec<Link>) {
    let mut open: Vec<Node<'_>> = root.into_iter().collect();
    while let Some(node) = open.pop() {
        for entry in node.entries().filter(|entry| entry.key.key_text() == "image" && entry.value.is_scalar()) {
            if let Some(page) = registry_page(&entry.value.value()) {
                let tooltip = "Open the image's page in its registry".to_owned();
                let span = entry.value.span().shift(offset);
                out.push(Link { span, target: LinkTarget::Page(page), tooltip });
            }
        }
        open.extend(node.children());
    }
}

/// The page of an image, for registries whose pages have addresses that follow from the name alone.
fn registry_page(image: &str) -> Option<String> {
    let name = image.split('@').next()?;
    let (path, tag) = match name.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (name, None),
    };
    let word = |text: &str| {
        !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.'))
    };
    let parts: Vec<&str> = path.split('/').collect();
    if !parts.iter().all(|part| word(part)) || !tag.is_none_or(word) {
        return None;
    }
    match parts[..] {
        ["docker.io", owner, name] => {
            let page = format!("https://hub.docker.com/r/{owner}/{name}");
            Some(tag.map_or(page.clone(), |tag| format!("{page}/tags?name={tag}")))
        }
        ["quay.io", owner, name] => {
            let page = format!("https://quay.io/repository/{owner}/{name}");
            Some(tag.map_or(page.clone(), |tag| format!("{page}?tab=tags&tag={tag}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::registry_page;

    #[test]
    fn pages_only_where_the_name_tells() {
        let page = |image| registry_page(image).unwrap_or_default();
        assert_eq!(
            page("docker.io/llamastack/distribution-starter:0.4.7"),
            "https://hub.docker.com/r/llamastack/distribution-starter/tags?name=0.4.7"
        );
        assert_eq!(page("quay.io/opendatahub/llama@sha256:00"), "https://quay.io/repository/opendatahub/llama");
        for unsure in [
            "starter",
            "llamastack/starter:1",
            "registry.local:5000/a/b:1",
            "ghcr.io/a/b:1",
            "quay.io/a/b/c",
            "quay.io/${X}/b:1",
            "docker.io/a/{{ .x }}",
        ] {
            assert_eq!(page(unsure), "", "{unsure}");
        }
    }
}
