//! The image, and the base config in its labels. Source: upstream's operator (which names it knows, how it reads labels),
//! and the registries.

use crate::check::context::{Report, RuleContext};
use crate::check::finding::{Finding, Fix, Severity};
use crate::check::rule::{Group, Rule};
use crate::check::rules::distribution::UNKNOWN;
use crate::distribution::version_of_image;
use crate::nearest::nearest;
use crate::ogx::generate::Source;

pub static DEAD_REPOSITORY: Rule = Rule {
    id: "llsd::ogx::dead-repository",
    severity: Severity::Error,
    summary: "The image is one of llama-stack, or lies in its repository, which was deleted.",
    why: "The repository docker.io/llamastack was deleted in June 2026, so the image cannot be pulled; and a server of \
    llama-stack reads neither the variables nor the paths of this operator.",
    example: "kind: OGXServer\nspec:\n  distribution:\n    image: docker.io/llamastack/distribution-starter:0.4.7",
    ..Rule::PLAIN
};

pub static LABELS_UNREADABLE: Rule = Rule {
    id: "llsd::ogx::labels-unreadable",
    severity: Severity::Warning,
    summary: "A config is generated from the labels of an image that the operator cannot read.",
    why: "The operator asks the registry without a login and takes no token, which Docker Hub refuses; it also finds no \
    labels behind a tag for several architectures. The resource fails. A ConfigMap in baseConfig needs no labels.",
    example: "kind: OGXServer\nspec:\n  distribution: {name: starter}\n  disabledAPIs: [batches]",
    ..Rule::PLAIN
};

pub static REMOVED_NAME: Rule = Rule {
    id: "llsd::ogx::removed-distribution",
    severity: Severity::Warning,
    summary: "The distribution is still known by name, and no ogx package has it any more.",
    why: "Its image is not made any more. The starter distribution with a provider for vllm does the same.",
    example: "kind: OGXServer\nspec:\n  distribution: {name: remote-vllm}",
    ..Rule::PLAIN
};

pub(crate) static GROUP: Group =
    Group { rules: &[&DEAD_REPOSITORY, &LABELS_UNREADABLE, &REMOVED_NAME], check: Some(check) };

/// The names that the operator knows unless its configuration says others. Source: its `distributions.json`.
pub(crate) const NAMES: [&str; 4] = ["starter", "remote-vllm", "meta-reference-gpu", "postgres-demo"];

/// Those that its guide calls removed, and that no ogx package contains.
const REMOVED: [&str; 2] = ["remote-vllm", "meta-reference-gpu"];

/// The repositories of images, before and now.
pub(crate) const OLD_REPOSITORY: &str = "llamastack/distribution-";
pub(crate) const NEW_REPOSITORY: &str = "docker.io/ogxai/distribution-";

/// The image that a distribution's name stands for, unless the operator's configuration says another.
#[must_use]
pub fn image_of(name: &str) -> Option<String> {
    NAMES.contains(&name).then(|| format!("{NEW_REPOSITORY}{name}:latest"))
}

/// The names that the operator knows, with the image of each, unless its configuration says others.
pub fn distributions() -> impl Iterator<Item = (&'static str, String)> {
    NAMES.into_iter().filter_map(|name| Some((name, image_of(name)?)))
}

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let at = RuleContext::spec("distribution");
    let (name_at, image_at) = (at.key("name"), at.key("image"));
    if let Some(name) = context.text(&name_at) {
        if name.is_empty() {
            report.add(Finding::new(
                &UNKNOWN,
                name_at.clone(),
                "The name is empty: the operator finds no image for it",
            ));
        } else if REMOVED.contains(&name) {
            let message =
                format!("The distribution \"{name}\" is not made any more: use starter with a provider for vllm");
            report.add(
                Finding::new(&REMOVED_NAME, name_at.clone(), message).with_fix(Fix::change_to(name_at, "starter")),
            );
        } else if !NAMES.contains(&name) {
            let known = NAMES.join(", ");
            let message = format!(
                "unknown distribution \"{name}\"; available distributions: {known}, unless the operator's configuration has \
                 others"
            );
            let mut finding = Finding::new(&UNKNOWN, name_at.clone(), message).weighing(Severity::Warning);
            finding.fixes.extend(nearest(name, NAMES).map(|near| Fix::change_to(name_at, near)));
            report.add(finding);
        }
    }
    let image = context.text(&image_at);
    if let Some(image) = image.filter(|image| !image.is_empty()) {
        dead(image, &image_at, report);
    } else if image == Some("") {
        report.add(Finding::new(&UNKNOWN, image_at.clone(), "The image is empty: the operator has nothing to run"));
    }
    let by_name = context.text(&at.key("name")).is_some_and(|name| NAMES.contains(&name));
    let at_hub = image.is_some_and(is_at_docker_hub);
    if Source::of(context.value()) == Source::Generated && !context.is_present("baseConfig") && (by_name || at_hub) {
        let message = "The config is generated from the labels of an image on Docker Hub, which the operator cannot read \
                       without a login: name a ConfigMap with a base config in baseConfig";
        report.add(Finding::new(&LABELS_UNREADABLE, at, message).at_key());
    }
}

fn dead(image: &str, path: &crate::path::Path, report: &mut Report) {
    let Some((before, rest)) = image.split_once(OLD_REPOSITORY) else { return };
    if !matches!(before, "" | "docker.io/" | "index.docker.io/" | "registry-1.docker.io/") {
        return;
    }
    let name = rest.split([':', '@']).next().unwrap_or_default();
    let is_old = version_of_image(image).is_some_and(|version| version.starts_with("0."));
    let also = if is_old { ", and a llama-stack of that version does not run under this operator" } else { "" };
    let message =
        format!("The repository of this image was deleted{also}: use {NEW_REPOSITORY}{name} with a tag of ogx");
    let newest = format!("{NEW_REPOSITORY}{name}:{}", crate::ogx::versions::newest());
    report.add(Finding::new(&DEAD_REPOSITORY, path.clone(), message).with_fix(Fix::change_to(path.clone(), &newest)));
}

/// Whether a registry that is named, or is meant where none is, is Docker Hub.
fn is_at_docker_hub(image: &str) -> bool {
    match image.split_once('/') {
        None => true,
        Some((first, _)) if first.contains(['.', ':']) || first == "localhost" => first.ends_with("docker.io"),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_hub_is_meant_where_no_registry_is_named() {
        for image in ["starter", "ogxai/starter:1.5.0", "docker.io/ogxai/starter"] {
            assert!(is_at_docker_hub(image), "{image}");
        }
        for image in ["quay.io/a/b:1", "localhost:5000/a", "localhost/a"] {
            assert!(!is_at_docker_hub(image), "{image}");
        }
    }
}
