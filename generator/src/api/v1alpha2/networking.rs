//! `spec.networking`: port, exposure outside the cluster, network policy and TLS.

use super::{DEFAULT_PORT, rule};
use crate::names::{LABEL_PATTERN, SUBDOMAIN_PATTERN};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the server is reached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Networking {
    /// Port of the server, the Service and the Ingress backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = "integer", "format" = "int32", "minimum" = 1024, "maximum" = 65535, "default" = DEFAULT_PORT))]
    pub port: Option<u16>,
    /// TLS of the server, and the certificate authorities that it trusts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Makes the server reachable from outside the cluster by an Ingress. `{}` switches it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expose: Option<Expose>,
    /// Who may connect, beside the resource's own namespace, where network policies are switched on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_from: Option<AllowedFrom>,
}

/// TLS of the server, and whom it trusts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    rule(
        "!has(self.enabled) || !self.enabled || has(self.secretName)",
        "secretName is required when tls is enabled",
    ),
    rule(
        "!has(self.secretName) || (has(self.enabled) && self.enabled)",
        "secretName is only valid when tls is enabled: set enabled to true",
    ),
]))]
pub struct Tls {
    /// Whether the server speaks HTTPS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Name of a Secret of type `kubernetes.io/tls` with the server's certificate. Required when `enabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN_PATTERN))]
    pub secret_name: Option<String>,
    /// Certificate authorities that the server trusts when it calls others. Works without `enabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle: Option<CaBundle>,
}

/// Certificate authorities in a ConfigMap.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaBundle {
    /// Name of the ConfigMap that holds PEM certificates.
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN_PATTERN))]
    pub config_map_name: String,
    /// Namespace of the ConfigMap. Left out, the resource's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = LABEL_PATTERN))]
    pub config_map_namespace: Option<String>,
    /// Keys to use, in this order. Left out, `ca-bundle.crt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 50),
        inner(length(min = 1, max = 253), regex(pattern = r"^[a-zA-Z0-9]([a-zA-Z0-9\-_.]*[a-zA-Z0-9])?$"))
    )]
    pub config_map_keys: Option<Vec<String>>,
}

/// How the server is reached from outside the cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Expose {
    /// `false` switches the Ingress off and keeps the other settings. Left out, it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Host name of the Ingress. Left out, the server answers to every name that leads to the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub hostname: Option<String>,
    /// Name of the IngressClass. Left out, the cluster's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = SUBDOMAIN_PATTERN)
    )]
    pub class_name: Option<String>,
    /// Name of a Secret of type `kubernetes.io/tls` with the certificate for `hostname`, which the ingress controller reads.
    /// Left out, the Ingress asks for no TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = SUBDOMAIN_PATTERN)
    )]
    pub tls_secret_name: Option<String>,
}

impl Expose {
    /// Whether an Ingress is wanted: present and not switched off.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.enabled != Some(false)
    }
}

/// Namespaces whose pods may connect to the server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedFrom {
    /// Namespaces by name; `*` means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), inner(length(min = 1, max = 63)))]
    pub namespaces: Option<Vec<String>>,
    /// Namespaces by label: each entry is a label key, and a namespace that has it may connect, whatever its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "label_keys")]
    pub labels: Option<Vec<String>>,
}

fn label_keys(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": 256,
        "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 317,
            "x-kubernetes-validations": [rule(
                "!self.contains('=')",
                "labels takes label keys without values: any namespace that has the label may connect, whatever its value",
            )],
        },
    })
}
