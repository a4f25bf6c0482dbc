//! The rules between fields that the CRD states in CEL, by what they mean. A message may be worded anew at any time, so
//! whoever has to know which rule is broken asks here, by the rule's expression.

use super::v1alpha2::{MAX_NAME, PROVIDER_FIELDS, providers};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a rule of the CRD asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CrdRule {
    /// The name leaves room for the suffixes of the operator's objects.
    NameLength,
    /// The name is a DNS label.
    NameDots,
    /// Not both of two fields of one object.
    Exclusive(&'static str, &'static str),
    /// At least one of two fields of one object.
    OneOf(&'static str, &'static str),
    /// An API with providers is not disabled under this spelling.
    Enabled(&'static str),
    /// Where an API has several providers, each has an id.
    ExplicitIds,
    /// No two providers have one id.
    UniqueIds,
    /// No two external providers have one id.
    UniqueExternalIds,
    /// A label of `allowedFrom` is a key without a value.
    LabelKey,
    /// TLS that is switched on names a Secret.
    TlsNeedsSecret,
    /// A Secret for TLS is named only where TLS is switched on.
    SecretNeedsTls,
    /// A store of this type needs a field.
    StoreNeeds {
        /// The `type` of the store for which the rule holds, `redis` or `postgres`.
        kind: &'static str,
        /// The field that is missing.
        field: &'static str,
    },
    /// A field is for stores of this type alone.
    StoreTakes {
        /// The only `type` of store that takes the field, `redis` or `postgres`.
        kind: &'static str,
        /// The field that has no place there.
        field: &'static str,
    },
    /// `maxReplicas` is not below `minReplicas`.
    ReplicaRange,
}

impl CrdRule {
    /// The rule with this expression. `None` for one that the CRD does not have.
    #[must_use]
    pub fn of(expression: &str) -> Option<Self> {
        static BY_EXPRESSION: LazyLock<HashMap<String, CrdRule>> = LazyLock::new(|| table().into_iter().collect());
        BY_EXPRESSION.get(expression).copied()
    }

    /// Whether it is a rule about each item of a list, so that it can be broken at several places.
    #[must_use]
    pub fn is_about_items(self) -> bool {
        self == Self::LabelKey
    }

    /// The rule that an API with providers breaks that is disabled as `written`.
    #[must_use]
    pub fn enabled(written: &str) -> Option<Self> {
        let spellings = PROVIDER_FIELDS.into_iter().flat_map(|(api, field)| [api, field]);
        spellings.into_iter().find(|spelling| *spelling == written).map(Self::Enabled)
    }
}

/// Every expression of the CRD, with what it means.
fn table() -> Vec<(String, CrdRule)> {
    use CrdRule::{
        Exclusive, ExplicitIds, LabelKey, NameDots, NameLength, OneOf, ReplicaRange, SecretNeedsTls, StoreNeeds,
        StoreTakes, TlsNeedsSecret, UniqueExternalIds, UniqueIds,
    };
    let fixed = [
        ("oldSelf.hasValue() || !self.metadata.name.contains('.')", NameDots),
        ("!(has(self.name) && has(self.image))", Exclusive("name", "image")),
        ("has(self.name) || has(self.image)", OneOf("name", "image")),
        ("!(has(self.minAvailable) && has(self.maxUnavailable))", Exclusive("minAvailable", "maxUnavailable")),
        ("has(self.minAvailable) || has(self.maxUnavailable)", OneOf("minAvailable", "maxUnavailable")),
        ("self.size() <= 1 || self.all(p, has(p.id))", ExplicitIds),
        ("!self.contains('=')", LabelKey),
        ("!has(self.enabled) || !self.enabled || has(self.secretName)", TlsNeedsSecret),
        ("!has(self.secretName) || (has(self.enabled) && self.enabled)", SecretNeedsTls),
        ("self.type != 'redis' || has(self.endpoint)", StoreNeeds { kind: "redis", field: "endpoint" }),
        ("self.type == 'redis' || !has(self.endpoint)", StoreTakes { kind: "redis", field: "endpoint" }),
        ("self.type == 'redis' || !has(self.password)", StoreTakes { kind: "redis", field: "password" }),
        (
            "self.type != 'postgres' || has(self.connectionString)",
            StoreNeeds { kind: "postgres", field: "connectionString" },
        ),
        (
            "self.type == 'postgres' || !has(self.connectionString)",
            StoreTakes { kind: "postgres", field: "connectionString" },
        ),
        ("!has(self.minReplicas) || self.maxReplicas >= self.minReplicas", ReplicaRange),
    ];
    let mut table: Vec<(String, CrdRule)> = fixed.map(|(expression, rule)| (expression.to_owned(), rule)).into();
    table.push((format!("oldSelf.hasValue() || self.metadata.name.size() <= {MAX_NAME}"), NameLength));
    for field in ["providers", "resources", "storage", "disabled"] {
        table.push((format!("!(has(self.{field}) && has(self.overrideConfig))"), Exclusive(field, "overrideConfig")));
    }
    for (api, field) in PROVIDER_FIELDS {
        for written in [api, field] {
            let expression = format!(
                "!(has(self.disabled) && has(self.providers) && has(self.providers.{field}) && '{written}' in \
                 self.disabled)"
            );
            table.push((expression, CrdRule::Enabled(written)));
        }
    }
    for (rule, meaning) in [(providers::unique_ids(), UniqueIds), (providers::unique_external_ids(), UniqueExternalIds)]
    {
        table.push((rule["rule"].as_str().unwrap_or_default().to_owned(), meaning));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn expressions<'v>(value: &'v Value, found: &mut BTreeSet<&'v str>) {
        match value {
            Value::Object(fields) => {
                let rules = fields.get("x-kubernetes-validations").and_then(Value::as_array);
                found.extend(rules.into_iter().flatten().filter_map(|rule| rule["rule"].as_str()));
                fields.values().for_each(|value| expressions(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
            _ => {}
        }
    }

    #[test]
    fn the_table_has_the_rules_of_the_definition_and_no_others() {
        let mut stated = BTreeSet::new();
        expressions(super::super::crd::crd(), &mut stated);
        let table = table();
        let known: BTreeSet<&str> = table.iter().map(|(expression, _)| expression.as_str()).collect();
        assert_eq!(known, stated);
    }
}
