//! `llsd migrate --to ogx`.

use super::input::Source;
use super::project::Project;
use super::{FINDINGS, complain};
use crate::ide::{self, Renamed, ToOgx, ToOgxOptions};
use llsd_generator::check::ReferenceKind;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// What came of the files.
pub(super) struct Outcome {
    /// The files that had a resource to migrate.
    pub(super) files: Vec<Arc<str>>,
    /// What the process ends with, as far as these files go: 0, or 1 where something is lost or left.
    pub(super) code: u8,
    /// Each resource, as it was called and is called.
    renamed: Vec<Renamed>,
    /// Objects that have to carry the label and are in none of the files.
    elsewhere: BTreeSet<(ReferenceKind, ide::ObjectKey)>,
}

/// Rewrites the resources of all named files, and gives the objects that they name their label. What is not as it was is
/// said on standard error.
pub(super) fn migrate(
    project: &mut Project,
    sources: &[Source],
    options: &ToOgxOptions,
    allow_changes: bool,
) -> Outcome {
    let has_one =
        |file: &Arc<str>| project.analysis_of(file).is_some_and(|known| !ide::documents_for_ogx(known).is_empty());
    let files: Vec<Arc<str>> = project.named().into_iter().filter(has_one).collect();
    let mut outcome = Outcome { files, code: 0, renamed: Vec::new(), elsewhere: BTreeSet::new() };
    if outcome.files.is_empty() {
        match sources {
            [one] => complain(&format!("{one} has no LlamaStackDistribution; nothing to migrate")),
            _ => complain(&"there is no LlamaStackDistribution; nothing to migrate"),
        }
    }
    let mut wanted = BTreeSet::new();
    for file in outcome.files.clone() {
        let shown = project.shown(&file);
        if project.analysis_of(&file).is_some_and(|known| known.workspace().is_bound(&file)) {
            let why = "a kustomization patches it, or it is a patch, and patches are not rewritten for another kind: migrate what \
                       `kubectl kustomize` builds";
            complain(&format!("{shown}: not migrated: {why}"));
            outcome.code = FINDINGS;
            continue;
        }
        let before = project.clone();
        match of_file(project, &file, options) {
            Ok(all) => {
                for migrated in all {
                    migrated.lines().iter().for_each(|line| complain(&format!("{shown}: {line}")));
                    if !allow_changes && !migrated.means_the_same() {
                        outcome.code = FINDINGS;
                    }
                    wanted.extend(migrated.labelled);
                    outcome.renamed.extend(migrated.renamed);
                }
            }
            Err(why) => {
                *project = before;
                complain(&format!("{shown}: not migrated: {why}"));
                outcome.code = FINDINGS;
            }
        }
    }
    outcome.elsewhere = wanted.clone();
    for file in project.named() {
        let Some(analysis) = project.analysis_of(&file) else { continue };
        let (edits, found) = ide::label_for_ogx(analysis, &wanted);
        outcome.elsewhere.retain(|object| !found.contains(object));
        project.apply(&file, &edits, &[], None);
    }
    for (kind, (_, name)) in &outcome.elsewhere {
        complain(&format!(
            "note: {} \"{name}\" is in none of these files: it needs the label ogx.io/watch: \"true\"",
            kind.name()
        ));
    }
    outcome
}

/// Migrates the documents of a file, the last one first: what stands before it keeps its place.
fn of_file(project: &mut Project, file: &Arc<str>, options: &ToOgxOptions) -> Result<Vec<ToOgx>, ide::NotMigrated> {
    let documents = project.analysis_of(file).map(ide::documents_for_ogx).unwrap_or_default();
    let mut all = Vec::new();
    for document in documents.into_iter().rev() {
        let analysis = project.analysis_of(file).ok_or(ide::NotMigrated::NoResource)?;
        let migrated = ide::to_ogx(analysis, document, options)?;
        project.apply(file, &migrated.edits, &[], None);
        all.push(migrated);
    }
    all.reverse();
    Ok(all)
}

/// The steps of the move, in their order, with the commands. They are never run here. Source: the documented way loses
/// volumes, as the new operator does not see what the old one left; these were carried out on a real API server.
pub(super) fn plan(outcome: &Outcome, same_name: bool, files: &[String]) -> String {
    let mut out = String::new();
    let mut number = 0;
    let mut step = |title: &str, commands: &[String]| {
        number += 1;
        let _ = writeln!(out, "{}# {number}. {title}", if number == 1 { "" } else { "\n" });
        commands.iter().for_each(|command| _ = writeln!(out, "{command}"));
    };
    let own = |text: &str| vec![text.to_owned()];
    step(
        "Stop the old operator. Its CRD stays: deleting it deletes every resource.",
        &own(
            "kubectl -n llama-stack-k8s-operator-system scale deployment llama-stack-k8s-operator-controller-manager --replicas=0",
        ),
    );
    let mut save = Vec::new();
    for one in &outcome.renamed {
        let ns = in_namespace(one);
        save.push(format!("kubectl{ns} get llamastackdistribution {0} -o yaml > {0}.saved.yaml", one.old));
        if one.has_volume {
            save.push(format!(
                "kubectl patch persistentvolume \"$(kubectl{ns} get pvc {}-pvc -o jsonpath={{.spec.volumeName}})\" -p '{{\"spec\":{{\"persistentVolumeReclaimPolicy\":\"Retain\"}}}}'",
                one.old
            ));
        }
    }
    step("Save what there is, and keep the volumes whatever happens.", &save);
    let mut label = Vec::new();
    for one in &outcome.renamed {
        let ns = in_namespace(one);
        let mut objects = vec![format!("deployment/{}", one.old)];
        if one.has_volume {
            objects.push(format!("pvc/{}-pvc", one.old));
        }
        objects.push(format!("service/{}-service", one.old));
        let command = "app.kubernetes.io/managed-by=ogx-operator --overwrite";
        label.push(format!("kubectl{ns} label {} {command}", objects.join(" ")));
        label.push(format!("kubectl{ns} label ingress/{}-ingress {command} || true   # only if there is one", one.old));
    }
    step("Show the new operator what the old one made.", &label);
    let watch: Vec<String> = outcome
        .elsewhere
        .iter()
        .map(|(kind, (namespace, name))| {
            let ns = if namespace.is_empty() { String::new() } else { format!(" -n {namespace}") };
            format!("kubectl{ns} label {}/{name} ogx.io/watch=true --overwrite", kind.name().to_lowercase())
        })
        .collect();
    if !watch.is_empty() {
        step("Label the Secrets and ConfigMaps that are in none of the files.", &watch);
    }
    let owned: Vec<String> = outcome.renamed.iter().filter(|one| one.is_v1alpha2).flat_map(owners).collect();
    if !same_name && !owned.is_empty() {
        step("Name the owner as the new operator knows it: it refuses children of v1alpha2.", &owned);
    }
    if same_name {
        let mut commands = Vec::new();
        for one in &outcome.renamed {
            let (ns, old) = (in_namespace(one), &one.old);
            commands.push(format!("kubectl{ns} delete llamastackdistribution {old} --cascade=orphan"));
            commands.push(format!(
                "kubectl{ns} delete --ignore-not-found deployment/{old} service/{old}-service networkpolicy/{old}-network-policy \
                 ingress/{old}-ingress hpa/{old}-hpa pdb/{old}-pdb serviceaccount/{old}-sa configmap/{old}-ca-bundle"
            ));
        }
        step("Remove the old resource and all of its children but the volume.", &commands);
    }
    let apply = files.iter().map(|file| format!("kubectl apply -f {file}")).collect::<Vec<_>>();
    step("Write the new resources (`llsd migrate --to ogx --write`), and apply them.", &apply);
    let mut wait = Vec::new();
    for one in &outcome.renamed {
        let (ns, new) = (in_namespace(one), &one.new);
        wait.push(format!("kubectl{ns} wait ogxserver/{new} --for=jsonpath={{.status.phase}}=Ready --timeout=10m"));
        if one.has_volume && !same_name {
            wait.push(format!(
                "kubectl{ns} get pvc {}-pvc -o jsonpath={{.metadata.ownerReferences}}   # must print nothing",
                one.old
            ));
        }
    }
    step("Wait, and look whether the volumes belong to nobody any more.", &wait);
    if !same_name {
        let delete: Vec<String> = outcome
            .renamed
            .iter()
            .map(|one| format!("kubectl{} delete llamastackdistribution {}", in_namespace(one), one.old))
            .collect();
        step("Delete the old resources. Not before.", &delete);
        let clients: Vec<String> = outcome
            .renamed
            .iter()
            .map(|one| format!("kubectl{} annotate ogxserver/{} ogx.io/adopt-networking-", in_namespace(one), one.new))
            .collect();
        let title =
            "Move clients to the new Services (<new name>-service); then give up the adopted ones, which deletes them.";
        step(title, &clients);
    }
    let mut back = own(
        "kubectl -n llama-stack-k8s-operator-system scale deployment llama-stack-k8s-operator-controller-manager --replicas=1",
    );
    for one in &outcome.renamed {
        let ns = in_namespace(one);
        back.insert(0, format!("kubectl{ns} delete ogxserver {}   # the volume stays", one.new));
        back.push(format!("kubectl{ns} apply -f {}.saved.yaml", one.old));
    }
    step("To go back, up to the deletion of the old resources:", &back);
    out
}

fn in_namespace(one: &Renamed) -> String {
    if one.namespace.is_empty() { String::new() } else { format!(" -n {}", one.namespace) }
}

/// Patches of the owner of what is adopted.
fn owners(one: &Renamed) -> Vec<String> {
    let patch =
        r#"-p '[{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"llamastack.io/v1alpha1"}]'"#;
    let mut objects = vec![format!("service/{}-service", one.old)];
    if one.has_volume {
        objects.insert(0, format!("pvc/{}-pvc", one.old));
    }
    let ns = in_namespace(one);
    objects.iter().map(|object| format!("kubectl{ns} patch {object} --type=json {patch}")).collect()
}
