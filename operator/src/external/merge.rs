//! `llsd-operator merge-config`: the last init container of a pod with external providers.
//!
//! Everything is read before anything is written, and the configuration is put in place whole: a pod either starts
//! with all of its providers or not at all, with a message that names the one that is at fault.

use super::{CONFIG, EXTRA, METADATA, PACKAGE_FILE, Wanted, package};
use llsd_generator::generate::{ConfigError, External, merge_external};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of any file that is read. A config fits into a ConfigMap of 1 MiB; images are not trusted to keep to that.
const LARGEST: u64 = 8 << 20;

/// What went into the configuration, for the log of the container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Ids of the providers, in their order.
    pub providers: Vec<String>,
    /// What happened that the user may not have meant.
    pub warnings: Vec<String>,
}

/// Why the pod must not start.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The list of providers is not one.
    #[error("the list of external providers cannot be read: {0}")]
    Wanted(#[from] serde_json::Error),
    /// Two providers have one id.
    #[error("external provider id {id:?} is used twice: by {one} and by {other}. Give one of them another providerId")]
    Twice {
        /// The number of the second in the list.
        number: usize,
        /// The id that both have.
        id: String,
        /// The image of the first.
        one: String,
        /// The image of the second.
        other: String,
    },
    /// The image brought no description.
    #[error(
        "external provider {id:?}: image {image} has no usable /lls-provider/{PACKAGE_FILE} ({reason}). Use an image \
         that is built as a provider package"
    )]
    Metadata {
        /// Its number in the list.
        number: usize,
        /// The id of the provider, as the resource has it.
        id: String,
        /// The image reference, as the resource has it.
        image: String,
        /// Why its description cannot be used, as a clause.
        reason: String,
    },
    /// The image is for another API.
    #[error(
        "external provider {id:?}: image {image} serves the API {serves}, but is listed under {listed}. Move it there in \
         spec.externalProviders"
    )]
    Api {
        /// Its number in the list.
        number: usize,
        /// The id of the provider, as the resource has it.
        id: String,
        /// The image reference, as the resource has it.
        image: String,
        /// The API that it serves.
        serves: String,
        /// The API that it is listed under.
        listed: String,
    },
    /// The configuration to start from is not one.
    #[error("the configuration {} cannot be used: {source}", path.display())]
    Base {
        /// The file that holds the configuration.
        path: PathBuf,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file that cannot be read or written.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl MergeError {
    /// What the container ends with. It tells the operator which provider is at fault; the text is for people.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Twice { number, .. } | Self::Metadata { number, .. } | Self::Api { number, .. } => {
                super::exit_code(*number)
            }
            Self::Wanted(_) | Self::Base { .. } | Self::File { .. } => 1,
        }
    }
}

/// Merges the providers `wanted` (JSON), whose descriptions are below `root`, into the configuration at `base`, and
/// writes the result below `root`.
///
/// # Errors
/// The first thing that is wrong; nothing is written then.
pub fn merge(base: &Path, root: &Path, wanted: &str) -> Result<Report, MergeError> {
    let wanted: Vec<Wanted> = serde_json::from_str(wanted)?;
    let mut images: HashMap<&str, &str> = HashMap::new();
    for (number, provider) in wanted.iter().enumerate() {
        if let Some(one) = images.insert(&provider.provider_id, &provider.image) {
            let (id, other) = (provider.provider_id.clone(), provider.image.clone());
            return Err(MergeError::Twice { number, id, one: one.to_owned(), other });
        }
    }
    let external = wanted
        .iter()
        .enumerate()
        .map(|(number, provider)| described(number, provider, root))
        .collect::<Result<Vec<_>, _>>()?;
    let text = read(base).map_err(|source| MergeError::File { path: base.to_owned(), source })?;
    let merged =
        merge_external(&text, &external).map_err(|source| MergeError::Base { path: base.to_owned(), source })?;

    write(&root.join(EXTRA), &extra(&external))?;
    write(&root.join(CONFIG), &merged.text)?;
    let warning = |(api, id): (String, String)| {
        format!("provider {id:?} of the API {api} is replaced by the external provider of the same id")
    };
    Ok(Report {
        providers: wanted.into_iter().map(|provider| provider.provider_id).collect(),
        warnings: merged.replaced.into_iter().map(warning).collect(),
    })
}

fn described(number: usize, provider: &Wanted, root: &Path) -> Result<External, MergeError> {
    let (id, image) = (provider.provider_id.clone(), provider.image.clone());
    let path = root.join(METADATA).join(provider.folder()).join(PACKAGE_FILE);
    let package = read(&path).map_err(|error| error.to_string()).and_then(|text| package::read(&text));
    let package = match package {
        Ok(package) => package,
        Err(reason) => return Err(MergeError::Metadata { number, id, image, reason }),
    };
    if package.api != provider.api {
        return Err(MergeError::Api { number, id, image, serves: package.api, listed: provider.api.clone() });
    }
    Ok(External {
        api: provider.api.clone(),
        id,
        provider_type: package.provider_type,
        module: package.module,
        config: provider.config.clone(),
    })
}

/// The providers as a document of their own, by API.
fn extra(external: &[External]) -> String {
    let mut lists: Map<String, Value> = Map::new();
    for provider in external {
        let list = lists.entry(provider.api.clone()).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(json!({
                "provider_id": provider.id,
                "provider_type": provider.provider_type,
                "module": provider.module,
                "config": provider.config,
            }));
        }
    }
    let document = json!({
        "apiVersion": "llamastack.io/v1alpha1",
        "kind": "ExternalProviders",
        "providers": lists,
    });
    serde_yaml::to_string(&document).unwrap_or_default()
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    if read as u64 > LARGEST {
        return Err(io::Error::other(format!("the file is larger than {LARGEST} bytes")));
    }
    Ok(text)
}

/// Replaces a file as a whole: one that is half written is never there.
fn write(path: &Path, text: &str) -> Result<(), MergeError> {
    let failed = |source| MergeError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let beside = path.with_extension("new");
    std::fs::write(&beside, text).map_err(failed)?;
    std::fs::rename(&beside, path).map_err(failed)
}

/// `llsd-operator merge-config`, as the pod's init container runs it.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The configuration to start from
    #[arg(long, default_value = "/etc/llama-stack/config.yaml", value_name = "FILE")]
    base: PathBuf,
    /// The folder that the pod's containers share
    #[arg(long, default_value = super::ROOT, value_name = "FOLDER")]
    folder: PathBuf,
}

impl Arguments {
    /// Merges the providers that the variable `LLSD_EXTERNAL_PROVIDERS` lists.
    ///
    /// # Errors
    /// As [`merge`].
    pub fn run(&self) -> Result<Report, MergeError> {
        let wanted = std::env::var(super::WANTED_VARIABLE).unwrap_or_default();
        merge(&self.base, &self.folder, &wanted)
    }
}
