//! A rule: what stands in the documentation, in `llsd explain` and in the settings under its id.

use super::context::{Report, RuleContext};
use super::finding::{Finding, Fix, Severity};
use crate::api::CrdRule;
use std::fmt;

/// A rule: what it is called, what it means to the user, and what mends its findings. Each is one `static` beside its
/// check; findings refer to it, and documentation, settings and reports are made from it.
pub struct Rule {
    /// The stable id, as findings carry it: `llsd::provider::unknown-type`.
    pub id: &'static str,
    /// How much its findings weigh; some may weigh less.
    pub severity: Severity,
    /// What it looks for, in one sentence.
    pub summary: &'static str,
    /// Why that matters: what would happen otherwise.
    pub why: &'static str,
    /// A piece of a resource that it speaks of.
    pub example: &'static str,
    /// The rules of the CRD that it says more exactly. Where one of these has spoken, this rule gives that finding its
    /// place and its fixes, and the words stay those of the API server.
    pub refines: &'static [CrdRule],
    /// Whether it knows what was meant where the schema refuses a shape. Its findings take the place of the schema's
    /// about the same value.
    pub explains_schema: bool,
    /// Fixes that need the whole object. They come behind those that a finding has already.
    pub(crate) fixes: Option<FixesOf>,
}

/// Works out fixes for a finding of a rule.
pub(crate) type FixesOf = fn(&RuleContext<'_>, &Finding) -> Vec<Fix>;

impl Rule {
    /// A rule without anything special, to fill up the others: `..Rule::PLAIN`.
    pub(crate) const PLAIN: Self = Self {
        id: "",
        severity: Severity::Error,
        summary: "",
        why: "",
        example: "",
        refines: &[],
        explains_schema: false,
        fixes: None,
    };

    /// The address of the section about the rule in the reference of findings.
    #[must_use]
    pub fn documentation(&self) -> String {
        format!("{}/blob/main/docs/findings.md#{}", env!("CARGO_PKG_REPOSITORY"), self.id.replace(':', ""))
    }

    /// The part of the id between the product's name and the rule's own: `provider`.
    #[must_use]
    pub fn family(&self) -> &'static str {
        self.id.split("::").nth(1).unwrap_or_default()
    }
}

/// Two rules are the same if they have the same id.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.id)
    }
}

/// Writes the id, as it stands in findings and settings.
impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.id)
    }
}

/// The rules of one file, which one check looks for.
pub(crate) struct Group {
    /// In the order of the documentation. Each rule belongs to exactly one group.
    pub(crate) rules: &'static [&'static Rule],
    /// The check. `None` where their findings are made elsewhere: by the schema, by generation, or from the text.
    pub(crate) check: Option<fn(&RuleContext<'_>, &mut Report)>,
}
