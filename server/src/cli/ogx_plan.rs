//! `llsd migrate --to ogx --plan`: the steps of the move, in their order, with the commands. They are never run here.
//!
//! Source: the documented way loses volumes, as the new operator does not see what the old one left. These steps are
//! carried out on a real API server by `tests/tests/operator_manifests/to_ogx.rs`.

use super::project::Project;
use super::to_ogx::Outcome;
use crate::ide::{self, Renamed, quoted};
use llsd_generator::names::ObjectName;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// Takes out of a saved object what only the API server writes, so that it can be applied again.
const PLAIN: &str = r"sed '/^  \(creationTimestamp\|generation\|resourceVersion\|uid\): /d'";

/// The end of the files in which objects are saved: not one of manifests, which a migration beside them would read.
const SAVED: &str = "yaml.saved";

/// The file with what came from standard input, or a cluster.
const SAME: &str = "resources.yaml";

/// The Deployment of the old operator.
const OLD_OPERATOR: &str =
    "kubectl -n llama-stack-k8s-operator-system scale deployment llama-stack-k8s-operator-controller-manager";

/// The text of a plan.
#[derive(Default)]
struct Plan {
    text: String,
    steps: usize,
}

impl Plan {
    fn step(&mut self, title: &str, commands: impl IntoIterator<Item = String>) {
        self.steps += 1;
        let _ = writeln!(self.text, "{}# {}. {title}", if self.steps == 1 { "" } else { "\n" }, self.steps);
        commands.into_iter().for_each(|command| _ = writeln!(self.text, "{command}"));
    }
}

/// Where `kubectl apply` gets the new resources from, ordered as the plan lists them.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Applied {
    /// A file that no kustomization takes, as the user named it.
    File(String),
    /// A folder with a kustomization.
    Built(String),
    /// What the plan was made of came from standard input or a cluster: what `kubectl get` prints.
    Piped,
}

/// What is applied to have the changed files in the cluster: of a kustomization the folder that is built in the end.
pub(super) fn applied(project: &Project) -> BTreeSet<Applied> {
    let of = |file: &Arc<str>| -> Vec<Applied> {
        let analysis = project.analysis_of(file);
        let built = analysis.map(|known| known.workspace().tops(file)).unwrap_or_default();
        if project.is_piped(file) {
            return vec![Applied::Piped];
        }
        if built.is_empty() {
            return vec![Applied::File(project.shown(file))];
        }
        let folder = |file: String| match file.rsplit_once('/') {
            Some((folder, _)) => folder.to_owned(),
            None => ".".to_owned(),
        };
        built.iter().map(|kustomization| Applied::Built(folder(project.shown(kustomization)))).collect()
    };
    project.changed().iter().flat_map(of).collect()
}

/// What to do, with names that are kept or not. `read`: the commands that print what the plan was made of, where it was made
/// of a cluster.
pub(super) fn plan(outcome: &Outcome, same_name: bool, applied: &BTreeSet<Applied>, read: &[String]) -> String {
    let mut plan = Plan::default();
    let all = &outcome.renamed;
    let stop = format!("{OLD_OPERATOR} --replicas=0");
    plan.step("Stop the old operator. Its CRD stays: deleting it deletes every resource.", [stop]);
    let configs = configs_of(outcome).map(|(namespace, name)| {
        format!("kubectl{} get configmap {name} -o yaml | {PLAIN} > {name}.{SAVED}", in_namespace(namespace))
    });
    let read = read.iter().enumerate().map(|(at, command)| match at {
        0 => format!("{command} > {SAME}"),
        _ => format!("(echo ---; {command}) >> {SAME}"),
    });
    let save = read.chain(all.iter().flat_map(saved)).chain(configs);
    plan.step("Save what there is, and keep the volumes whatever happens.", save);
    plan.step("Show the new operator what the old one made.", all.iter().flat_map(shown));
    let watch: Vec<String> = outcome.elsewhere.iter().map(ide::watched).collect();
    if !watch.is_empty() {
        plan.step("Label the Secrets and ConfigMaps that are in none of the files.", watch);
    }
    if same_name {
        let title = "Remove the old resource and all of its children but the volume.";
        plan.step(title, all.iter().flat_map(removed));
    } else {
        let title = "Name the owner as the new operator knows it: it refuses children of v1alpha2.";
        plan.step(title, all.iter().flat_map(owned));
    }
    let keep = if same_name { " --same-name" } else { "" };
    let apply = applied.iter().map(|applied| match applied {
        Applied::File(file) => format!("kubectl apply -f {}", quoted(file)),
        Applied::Built(folder) => format!("kubectl apply -k {}", quoted(folder)),
        Applied::Piped => format!("llsd migrate --to ogx{keep} --allow-changes - < {SAME} | kubectl apply -f -"),
    });
    let title = match applied.contains(&Applied::Piped) {
        true => format!("Apply the new resources. {SAME}: what this plan was made of."),
        false => "Write the new resources (`llsd migrate --to ogx --write`), and apply them.".to_owned(),
    };
    plan.step(&title, apply);
    let wait = all.iter().flat_map(|one| awaited(one, same_name));
    plan.step("Wait, and look whether the volumes belong to nobody any more.", wait);
    if !same_name {
        let delete = all.iter().map(|one| format!("kubectl{} delete llamastackdistribution {}", of(one), one.old));
        plan.step("Delete the old resources. Not before.", delete);
        let title =
            "Move clients to the new Services (<new name>-service); then give up the adopted ones, which deletes them.";
        let clients =
            all.iter().map(|one| format!("kubectl{} annotate ogxserver/{} ogx.io/adopt-networking-", of(one), one.new));
        plan.step(title, clients);
    }
    let configs = configs_of(outcome).map(|(_, name)| format!("kubectl apply -f {name}.{SAVED}"));
    let back = all.iter().flat_map(|one| back(one, same_name)).chain(configs);
    let back = back.chain([format!("{OLD_OPERATOR} --replicas=1")]);
    plan.step("To go back, up to the deletion of the old resources:", back);
    plan.text
}

/// The ConfigMaps whose config is another one from now on. Under a name that no object can have, a cluster has none.
fn configs_of(outcome: &Outcome) -> impl Iterator<Item = &ide::ObjectKey> {
    outcome.configs.iter().filter(|(_, name)| ObjectName::parse(name).is_ok())
}

// The names of resources are no words to be quoted: a migration refuses what cannot be the name of an object, and the
// `${PARAMETER}` of a Template is to be filled in.
fn saved(one: &Renamed) -> Vec<String> {
    let (ns, old) = (of(one), &one.old);
    let mut all = vec![format!("kubectl{ns} get llamastackdistribution {old} -o yaml | {PLAIN} > {old}.{SAVED}")];
    if one.has_volume {
        all.push(format!(
            "kubectl patch persistentvolume \"$(kubectl{ns} get pvc {old}-pvc -o jsonpath={{.spec.volumeName}})\" -p \
             '{{\"spec\":{{\"persistentVolumeReclaimPolicy\":\"Retain\"}}}}'"
        ));
    }
    all
}

/// Labels by which the new operator sees what the old one made.
fn shown(one: &Renamed) -> Vec<String> {
    let (ns, old) = (of(one), &one.old);
    let command = "app.kubernetes.io/managed-by=ogx-operator --overwrite";
    vec![
        format!("kubectl{ns} label {} {command}", adopted(one)),
        format!("kubectl{ns} label ingress/{old}-ingress {command} || true   # only if there is one"),
    ]
}

fn adopted(one: &Renamed) -> String {
    let old = &one.old;
    let volume = if one.has_volume { format!("pvc/{old}-pvc ") } else { String::new() };
    format!("deployment/{old} {volume}service/{old}-service")
}

/// Patches of the owner of what is adopted. What an operator made last tells its version, whatever the file says.
fn owned(one: &Renamed) -> Vec<String> {
    let patch =
        r#"-p '[{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"llamastack.io/v1alpha1"}]'"#;
    let (ns, old) = (of(one), &one.old);
    let mut objects = vec![format!("service/{old}-service"), format!("ingress/{old}-ingress")];
    if one.has_volume {
        objects.insert(0, format!("pvc/{old}-pvc"));
    }
    let command =
        |object: &String| format!("kubectl{ns} patch {object} --type=json {patch} || true   # only if it has an owner");
    objects.iter().map(command).collect()
}

fn removed(one: &Renamed) -> Vec<String> {
    let (ns, old) = (of(one), &one.old);
    vec![
        format!("kubectl{ns} delete llamastackdistribution {old} --cascade=orphan"),
        format!(
            "kubectl{ns} delete --ignore-not-found deployment/{old} service/{old}-service \
             networkpolicy/{old}-network-policy ingress/{old}-ingress hpa/{old}-hpa pdb/{old}-pdb \
             serviceaccount/{old}-sa rolebinding/{old}-rb configmap/{old}-ca-bundle"
        ),
    ]
}

fn awaited(one: &Renamed, same_name: bool) -> Vec<String> {
    let (ns, new) = (of(one), &one.new);
    let mut all =
        vec![format!("kubectl{ns} wait ogxserver/{new} --for=jsonpath={{.status.phase}}=Ready --timeout=10m")];
    if one.has_volume && !same_name {
        all.push(format!(
            "kubectl{ns} get pvc {}-pvc -o jsonpath={{.metadata.ownerReferences}}   # must print nothing",
            one.old
        ));
    }
    all
}

fn back(one: &Renamed, same_name: bool) -> Vec<String> {
    let (ns, old, new) = (of(one), &one.old, &one.new);
    let mut all = vec![format!("kubectl{ns} delete ogxserver {new}   # the volume stays")];
    if same_name {
        all.push(format!("kubectl{ns} apply -f {old}.{SAVED}"));
    }
    if one.has_volume {
        all.push(format!(
            "kubectl{ns} label pvc/{old}-pvc app.kubernetes.io/managed-by=llama-stack-operator \
             app.kubernetes.io/instance={old} ogx.io/adopted-from- --overwrite"
        ));
    }
    if !same_name {
        all.push(format!(
            "kubectl{ns} label deployment/{old} app.kubernetes.io/managed-by=llama-stack-operator --overwrite"
        ));
    }
    all
}

fn of(one: &Renamed) -> String {
    in_namespace(&one.namespace)
}

fn in_namespace(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" -n {}", quoted(name)) }
}
