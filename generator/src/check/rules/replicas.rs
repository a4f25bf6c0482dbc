//! Several pods of a server that keeps its state in files: with the config that the image brings, or the one that is
//! generated. Of a config that is mounted, `config::context` says the same.

use super::super::context::{Report, RuleContext};
use super::super::finding::Finding;
use super::super::rule::Group;
use super::env::runs_base;
use super::mounted_config::LOCAL_STORAGE;
use crate::api::ApiVersion;
use crate::config::local_state;
use crate::generate::Tracked;
use crate::path::Path;
use serde_json::Value;
use std::collections::BTreeSet;

pub(in crate::check) static GROUP: Group = Group { rules: &[], check: Some(check) };

/// Sections from which a config is generated: it is judged by [`generated`].
const SECTIONS: [&str; 5] = ["providers", "resources", "storage", "disabled", "externalProviders"];

fn check(context: &RuleContext<'_>, report: &mut Report) {
    let Some((place, most)) = pods(context) else { return };
    // What ogx's images bring is not known.
    let generates = context.version != ApiVersion::V1Alpha1 && SECTIONS.iter().any(|one| context.is_present(one));
    if generates || context.version == ApiVersion::OgxV1Beta1 || !runs_base(context) {
        return;
    }
    if let Some(base) = context.base() {
        judge(&base, "The config of the distribution", place, most, report);
    }
}

/// The same for the config that comes out of a resource.
pub(in crate::check) fn generated(context: &RuleContext<'_>, config: &Tracked, report: &mut Report) {
    if let Some((place, most)) = pods(context) {
        judge(config, "The generated config", place, most, report);
    }
}

/// The field that asks for more than one pod, and how many it asks for at most: where the number of pods follows the load,
/// its bound.
fn pods(context: &RuleContext<'_>) -> Option<(Path, i64)> {
    let (replicas, autoscaling) = match context.version {
        ApiVersion::V1Alpha1 => ("replicas", "server.autoscaling"),
        ApiVersion::V1Alpha2 | ApiVersion::OgxV1Beta1 => ("workload.replicas", "workload.autoscaling"),
    };
    let place = match context.is_present(autoscaling) {
        true => RuleContext::spec(autoscaling).key("maxReplicas"),
        false => RuleContext::spec(replicas),
    };
    let number = context.get(&place).and_then(Value::as_i64).filter(|number| *number > 1)?;
    Some((place, number))
}

fn judge(config: &Tracked, whose: &str, place: Path, most: i64, report: &mut Report) {
    // Vector databases inside the server are in every base config, whether somebody uses them or not.
    let stores = Path::parse("storage.backends");
    let files = local_state::places(&config.to_json(), &BTreeSet::new());
    let Some(first) = files.iter().find(|place| place.starts_with(&stores)) else { return };
    let message = format!(
        "{whose} keeps its state in a file of the pod ({first}): of {most} pods each has one of its own, or they lock each \
         other out. Use {}, or one pod",
        local_state::instead(first)
    );
    report.add(Finding::new(&LOCAL_STORAGE, place, message));
}
