//! Our verdict on an object beside the API server's.

use crd_validator::{Fault, Verdict};
use llsd_generator::check::finding::{Finding, Severity};
use llsd_tests::cluster::{Answer, Cause};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// How our verdict on an object relates to that of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    /// Same verdict, same places, same texts.
    Same,
    /// Same verdict and places, and same texts of CEL rules; a structural text that we give as the server's is not.
    Wording,
    /// What we give as the server's words is what the server says. Rules of our own find something beyond that.
    More,
    /// Refused by both, but places, or texts of rules, are not the same.
    Differs,
    /// We say that the server refuses what it accepts.
    Stricter,
    /// We accept what the server refuses.
    Laxer,
    /// The server refuses because of a rule that we said we cannot check.
    NotChecked,
}

/// One object and what both said.
pub(crate) struct Pair {
    pub(crate) what: String,
    pub(crate) relation: Relation,
    theirs: Vec<Cause>,
    ours: Vec<Cause>,
    own: Vec<Finding>,
    object: Value,
}

impl Pair {
    /// The verdict of the schema and its rules alone.
    pub(crate) fn of_faults(what: String, object: &Value, answer: &Answer, verdict: &Verdict) -> Self {
        let cause = |fault: &Fault| Cause { field: fault.server_field.clone(), message: fault.server_message.clone() };
        let ours = verdict.faults.iter().map(cause).collect();
        Self::new(what, object, answer, ours, Vec::new(), !verdict.not_checked.is_empty())
    }

    /// The whole verdict. `unchecked`: whether we said of a rule that we cannot check it.
    pub(crate) fn of_findings(
        what: String,
        object: &Value,
        answer: &Answer,
        findings: &[Finding],
        unchecked: bool,
    ) -> Self {
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let (claimed, own): (Vec<_>, Vec<_>) =
            errors.cloned().partition(|finding| finding.api_server_message.is_some());
        Self::new(what, object, answer, claimed.iter().map(cause_of).collect(), own, unchecked)
    }

    fn new(
        what: String,
        object: &Value,
        answer: &Answer,
        ours: Vec<Cause>,
        own: Vec<Finding>,
        unchecked: bool,
    ) -> Self {
        let theirs = said_by_server(answer);
        let relation = relate(answer.accepted(), &theirs, &ours, !own.is_empty(), unchecked);
        Self { what, relation, theirs, ours, own, object: object.clone() }
    }

    /// Whether the two agree on everything that the server judges.
    pub(crate) fn agrees(&self) -> bool {
        matches!(self.relation, Relation::Same | Relation::Wording | Relation::More)
    }

    /// Places and texts that only one side has: the key under which differences are explained.
    pub(crate) fn difference(&self) -> Vec<String> {
        let only = |these: &[Cause], others: &[Cause], side: &str| -> Vec<String> {
            let missing = these.iter().filter(|cause| !others.iter().any(|other| covers(cause, other)));
            missing.map(|cause| format!("{side} {}: {}", cause.field, cause.message)).collect()
        };
        [only(&self.theirs, &self.ours, "server"), only(&self.ours, &self.theirs, "llsd")].concat()
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:?}: {}", self.relation, self.what)?;
        for (side, causes) in [("server", &self.theirs), ("llsd  ", &self.ours)] {
            for cause in causes {
                writeln!(out, "  {side} {}: {}", cause.field, shortened(&cause.message))?;
            }
        }
        for finding in &self.own {
            writeln!(out, "  own    {}: {} [{}]", finding.path, shortened(&finding.message), finding.rule)?;
        }
        write!(out, "  object {}", shortened(&self.object["spec"].to_string()))
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The server's reasons. A request that fails strict decoding has no causes, only a sentence that lists the fields.
fn said_by_server(answer: &Answer) -> Vec<Cause> {
    if answer.accepted() {
        return Vec::new();
    }
    if let Some((_, list)) = answer.message().split_once("strict decoding error: ") {
        return list.split(", ").map(decoding_error).collect();
    }
    if let Some((_, place)) = answer.message().split_once("json: cannot unmarshal ") {
        return vec![undecodable(place)];
    }
    let causes: Vec<_> = answer.causes().into_iter().filter(|cause| !is_remark(cause)).collect();
    if causes.is_empty() {
        return vec![Cause { field: String::new(), message: answer.message().to_owned() }];
    }
    causes
}

/// Reads the cause out of an error of strict decoding: `unknown field "spec.zz"`.
fn decoding_error(text: &str) -> Cause {
    let field = text.split('"').nth(1).unwrap_or_default().to_owned();
    Cause { field, message: text.to_owned() }
}

/// `number into Go struct field ObjectMeta.labels of type string`: the server names no place, only a field of Go's.
fn undecodable(text: &str) -> Cause {
    let field = text.split_once("ObjectMeta.").map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
    let field = field.map_or_else(|| "metadata".to_owned(), |field| format!("metadata.{field}"));
    Cause { field, message: UNDECODABLE.to_owned() }
}

const UNDECODABLE: &str = "cannot be decoded";

/// Whether this is the server's remark that rules were left out, which is no fault by itself.
fn is_remark(cause: &Cause) -> bool {
    cause.message.contains("some validation rules were not checked")
}

fn cause_of(finding: &Finding) -> Cause {
    Cause {
        field: finding.api_server_path.clone().unwrap_or_else(|| finding.path.to_string()),
        message: finding.api_server_message.clone().unwrap_or_else(|| finding.message.clone()),
    }
}

/// Whether `ours` says what `theirs` says: same place; and for a CEL rule, same words.
fn covers(theirs: &Cause, ours: &Cause) -> bool {
    if theirs.message == UNDECODABLE {
        return ours.field.starts_with(&theirs.field);
    }
    theirs.field == ours.field && (theirs.message == ours.message || is_structural(theirs))
}

/// Whether the server's words come from the schema or the metadata rules. Ours may be clearer there; what a CEL rule says
/// is the same everywhere.
fn is_structural(cause: &Cause) -> bool {
    const BEGINNINGS: [&str; 5] = ["Unsupported value: ", "Too long: ", "Too many: ", "Too few: ", "Duplicate value: "];
    const PARTS: [&str; 9] = [
        " in body must be of type ",
        " in body should ",
        " must validate ",
        " must not validate the schema",
        "Checked value must be of type ",
        "regex used for validation",
        "must be no more than",
        "must not be empty",
        "name or generateName is required",
    ];
    cause.message == "Required value"
        || BEGINNINGS.iter().any(|words| cause.message.starts_with(words))
        || PARTS.iter().any(|words| cause.message.contains(words))
}

fn relate(accepted: bool, theirs: &[Cause], ours: &[Cause], own: bool, unchecked: bool) -> Relation {
    let agreed = if own { Relation::More } else { Relation::Same };
    match (accepted, ours.is_empty()) {
        (true, true) => agreed,
        (true, false) => Relation::Stricter,
        (false, true) if unchecked => Relation::NotChecked,
        (false, true) if own => Relation::Differs,
        (false, true) => Relation::Laxer,
        (false, false) => {
            // What cannot be decoded is not looked at any further by the server; we go on.
            let stopped = theirs.iter().all(is_decoding);
            let comparable: Vec<_> = ours.iter().filter(|cause| !stopped || is_decoding(cause)).collect();
            let both = |same: fn(&Cause, &Cause) -> bool| {
                theirs.iter().all(|this| ours.iter().any(|that| same(this, that)))
                    && comparable.iter().all(|that| theirs.iter().any(|this| same(this, that)))
            };
            match (both(covers), both(says_the_same)) {
                (false, _) => Relation::Differs,
                (true, _) if comparable.len() < ours.len() => Relation::More,
                (true, false) if !own => Relation::Wording,
                (true, _) => agreed,
            }
        }
    }
}

/// Whether the request could not be decoded, strictly.
fn is_decoding(cause: &Cause) -> bool {
    cause.message.starts_with("unknown field ") || cause.message == UNDECODABLE
}

fn says_the_same(theirs: &Cause, ours: &Cause) -> bool {
    covers(theirs, ours) && (theirs.message == ours.message || theirs.message == UNDECODABLE)
}

/// How many pairs there are of each relation, as a line.
pub(crate) fn summary(pairs: &[Pair]) -> String {
    let mut counts: BTreeMap<Relation, usize> = BTreeMap::new();
    for pair in pairs {
        *counts.entry(pair.relation).or_default() += 1;
    }
    let same = pairs.iter().filter(|pair| pair.agrees()).count();
    #[expect(clippy::cast_precision_loss, reason = "a share of some hundreds")]
    let share = 100.0 * same as f64 / pairs.len().max(1) as f64;
    format!("{} objects, {share:.1} % agree: {counts:?}", pairs.len())
}
