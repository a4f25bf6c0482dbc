//! `llsd schema`: prints the JSON schema of a version of the resource.

use super::{CLEAN, FAILURE, complain, reference};
use crate::project;
use clap::{Args, ValueEnum};
use llsd_generator::api::{ApiVersion, crd};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Print the JSON Schema of a version, for other editors and validators
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The version of a resource, or the settings of a repository
    #[arg(value_enum, default_value_t = Version::V1alpha2)]
    version: Version,
    /// Print the CustomResourceDefinition with both versions, as YAML
    #[arg(long, conflicts_with = "version")]
    crd: bool,
    /// Print a page about the fields of a version, as Markdown
    #[arg(long, conflicts_with = "crd")]
    markdown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Version {
    V1alpha1,
    V1alpha2,
    /// OGXServer, the successor of LlamaStackDistribution
    V1beta1,
    /// llsd.toml, the settings of a repository
    #[value(name = "llsd.toml")]
    Project,
}

/// Prints the schema on standard output.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let mut out = io::stdout().lock();
    if arguments.crd {
        out.write_all(crd::crd_yaml().as_bytes())?;
        return Ok(CLEAN);
    }
    let version = match arguments.version {
        Version::V1alpha1 => Some(ApiVersion::V1Alpha1),
        Version::V1alpha2 => Some(ApiVersion::V1Alpha2),
        Version::V1beta1 => Some(ApiVersion::OgxV1Beta1),
        Version::Project => None,
    };
    if arguments.markdown {
        let Some(version) = version else {
            complain(&"--markdown is for versions of a resource; docs/configuration.md is about llsd.toml");
            return Ok(FAILURE);
        };
        out.write_all(reference::page(version).as_bytes())?;
        return Ok(CLEAN);
    }
    let schema = version.map_or_else(project::schema, json_schema);
    serde_json::to_writer_pretty(&mut out, &schema)?;
    writeln!(out)?;
    Ok(CLEAN)
}

/// The CRD's schema in the dialect of JSON Schema: it says which documents it is for, and what the API server does
/// unasked (refuse fields that are not declared) is written out. CEL rules stay in `x-kubernetes-validations`.
fn json_schema(version: ApiVersion) -> Value {
    let mut schema = crd::schema(version).clone();
    let kind = version.kind().name();
    close(&mut schema);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!(format!("{kind} {}", version.name()));
    schema["properties"]["apiVersion"]["enum"] = json!([version.api_version()]);
    schema["properties"]["kind"]["enum"] = json!([kind]);
    schema["properties"]["metadata"] = json!({"type": "object"});
    schema["required"] = json!(["apiVersion", "kind", "metadata", "spec"]);
    schema
}

/// Refuses undeclared fields wherever fields are declared.
fn close(schema: &mut Value) {
    // The schema is embedded, a dozen levels deep.
    match schema {
        Value::Object(fields) => {
            let open = fields.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
            if fields.get("properties").is_some_and(Value::is_object) && !open {
                fields.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_describes_itself() {
        for version in ApiVersion::ALL {
            let schema = json_schema(version);
            assert_eq!(schema["properties"]["apiVersion"]["enum"][0], version.api_version());
            assert_eq!(schema["properties"]["spec"]["additionalProperties"], false);
        }
    }
}
