//! The distributions that a resource can name, and the base configs that belong to them.

use std::sync::OnceLock;

use include_dir::{Dir, include_dir};
use indexmap::IndexMap;
use serde::Deserialize;

static CONFIGS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../configs");

/// A distribution: a name that stands for an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distribution {
    /// The name, as in `spec.distribution.name`.
    pub name: String,
    /// The image, with a pinned tag.
    pub image: String,
    /// The llama-stack version inside of the image, such as `0.4.7`.
    pub llama_stack_version: String,
}

/// A name that no distribution has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("Unknown distribution \"{name}\". Available distributions: {}", available.join(", "))]
pub struct UnknownDistribution {
    /// The name that was asked for.
    pub name: String,
    /// The names of all distributions, in the order of `configs/distributions.json`.
    pub available: Vec<String>,
}

/// Distributions by name: image and llama-stack version of each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distributions {
    all: Vec<Distribution>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    image: String,
    llama_stack_version: String,
}

impl Distributions {
    /// The distributions that are built in, from `configs/distributions.json`.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: OnceLock<Distributions> = OnceLock::new();
        EMBEDDED.get_or_init(|| {
            let text = CONFIGS.get_file("distributions.json").and_then(include_dir::File::contents_utf8);
            text.and_then(|text| Self::parse(text).ok()).unwrap_or_default()
        })
    }

    /// Reads the form of `configs/distributions.json`: name ⇒ `image`, `llama_stack_version`.
    ///
    /// # Errors
    /// The text is not that.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let entries: IndexMap<String, Entry> = serde_json::from_str(text)?;
        let all = entries.into_iter().map(|(name, entry)| Distribution {
            name,
            image: entry.image,
            llama_stack_version: entry.llama_stack_version,
        });
        Ok(Self { all: all.collect() })
    }

    /// The distribution of this name.
    ///
    /// # Errors
    /// There is none; the error lists those that exist.
    pub fn get(&self, name: &str) -> Result<&Distribution, UnknownDistribution> {
        self.all.iter().find(|found| found.name == name).ok_or_else(|| UnknownDistribution {
            name: name.to_owned(),
            available: self.all.iter().map(|found| found.name.clone()).collect(),
        })
    }

    /// All distributions, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Distribution> {
        self.all.iter()
    }
}

/// A base config that the program carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BaseConfig {
    /// The distribution that it is of.
    pub distribution: &'static str,
    /// The version of llama-stack, or of ogx from 1.0 on, that reads it.
    pub version: &'static str,
    /// The config.yaml.
    pub text: &'static str,
}

impl BaseConfig {
    /// All of them: for each distribution that of the pinned version, then those of others.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<BaseConfig>> = OnceLock::new();
        ALL.get_or_init(|| {
            let of = |found: &'static Distribution| {
                let files = CONFIGS.get_dir(&found.name).into_iter().flat_map(include_dir::Dir::files);
                let mut all: Vec<Self> = files
                    .filter_map(|file| {
                        let version = match file.path().file_stem()?.to_str()? {
                            "config" => found.llama_stack_version.as_str(),
                            version => version,
                        };
                        Some(Self { distribution: &found.name, version, text: file.contents_utf8()? })
                    })
                    .collect();
                all.sort_by_key(|one| (one.version != found.llama_stack_version, one.version));
                all
            };
            Distributions::embedded().iter().flat_map(of).collect()
        })
    }

    /// The config.yaml of the distribution `name`, for the version that its image is pinned to. `None` when the program
    /// carries none for it.
    pub fn embedded(name: &str) -> Option<&'static str> {
        Self::all().iter().find(|one| one.distribution == name).map(|one| one.text)
    }

    /// That of a distribution in exactly this version. `None` when the program carries none.
    pub fn of_version(name: &str, version: &str) -> Option<&'static Self> {
        Self::all().iter().find(|one| one.distribution == name && one.version == version)
    }

    /// What a server starts from that runs a distribution by name, from an image, or both: a distribution of which the
    /// operator was told another image. The version is that of the image's tag. Where there is none for it, a name stands
    /// for its pinned version. An image alone has one only if it comes from the repository of a distribution, such as
    /// `docker.io/llamastack/distribution-starter`: any other may hold anything.
    pub fn of(name: Option<&str>, image: Option<&str>) -> Option<&'static Self> {
        let distribution = name.or_else(|| distribution_of_image(image?))?;
        let told = image.and_then(version_of_image);
        let exact = told.and_then(|version| Self::of_version(distribution, &version));
        exact.or_else(|| Self::all().iter().find(|one| Some(one.distribution) == name))
    }
}

/// The distribution whose repository an image comes from, also by way of a mirror: `starter` of
/// `mirror:5000/llamastack/distribution-starter:0.4.7`. Source: the repositories of llama-stack and of ogx.
fn distribution_of_image(image: &str) -> Option<&str> {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    let mut parts = name.rsplit('/');
    let last = parts.next()?;
    let last = last.split_once(':').map_or(last, |(name, _)| name);
    ["llamastack", "ogxai"].contains(&parts.next()?).then_some(last)?.strip_prefix("distribution-")
}

/// The llama-stack version that an image's tag states: `0.4.7` of `registry:5000/starter:0.4.7`, `:v0.4.7` and
/// `:0.4.7-gpu`. `None` for other tags, such as `latest`, and for an image without a tag.
pub fn version_of_image(image: &str) -> Option<String> {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    let last = name.rsplit('/').next()?;
    let (_, tag) = last.rsplit_once(':')?;
    let tag = tag.strip_prefix('v').unwrap_or(tag);
    let version = tag.split_once(['-', '+', '_']).map_or(tag, |(version, _)| version);
    let numbers: Vec<&str> = version.split('.').collect();
    let all_numbers = numbers.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    (numbers.len() == 3 && all_numbers).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn names_stand_for_pinned_images_with_a_catalog_and_a_base_config() {
        let names: Vec<&str> = Distributions::embedded().iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["starter", "remote-vllm", "meta-reference-gpu", "postgres-demo"]);
        for found in Distributions::embedded().iter() {
            assert_eq!(version_of_image(&found.image).unwrap(), found.llama_stack_version);
            assert!(Catalog::for_version(&found.llama_stack_version).is_some());
            assert!(BaseConfig::embedded(&found.name).is_some());
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Distributions::embedded().get("stater").unwrap_err();
        assert_eq!(
            error.to_string(),
            "Unknown distribution \"stater\". Available distributions: starter, remote-vllm, meta-reference-gpu, \
             postgres-demo"
        );
    }

    #[test]
    fn versions_come_out_of_tags() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(version_of_image("docker.io/llamastack/distribution-starter:0.4.7"), some("0.4.7"));
        assert_eq!(version_of_image("localhost:5000/starter:v0.5.4-gpu"), some("0.5.4"));
        assert_eq!(version_of_image("starter:0.4.7@sha256:abc"), some("0.4.7"));
        for image in
            ["", "starter", "localhost:5000/starter", "starter:latest", "starter:0.4", "starter:0..7", "a:1.2.3.4"]
        {
            assert_eq!(version_of_image(image), None, "{image}");
        }
    }

    #[test]
    fn images_of_a_distribution_have_the_base_config_of_their_version() {
        let of = |name, image| BaseConfig::of(name, image).map(|found| (found.distribution, found.version));
        let starter = |version| Some(("starter", version));
        assert_eq!(of(None, Some("docker.io/llamastack/distribution-starter:0.6.1")), starter("0.6.1"));
        assert_eq!(of(None, Some("mirror:5000/x/ogxai/distribution-starter:1.5.0@sha256:0")), starter("1.5.0"));
        assert_eq!(of(Some("starter"), Some("mirror/of-my-own:v0.7.3")), starter("0.7.3"));
        for image in [None, Some("mirror/of-my-own:latest"), Some("mirror/of-my-own:9.9.9")] {
            assert_eq!(of(Some("starter"), image), starter("0.4.7"));
        }
        for image in ["quay.io/me/starter:0.6.1", "llamastack/distribution-starter", "llamastack/distribution-x:0.4.7"]
        {
            assert_eq!(of(None, Some(image)), None, "{image}");
        }
    }

    #[test]
    fn every_version_with_a_catalog_has_the_base_config_of_the_starter() {
        for version in Catalog::versions() {
            assert!(BaseConfig::of_version("starter", version).is_some(), "{version}");
        }
    }

    #[test]
    fn base_configs_are_found_by_name_only() {
        for name in ["", "..", "catalog", "starter/", "../configs/starter", "nope"] {
            assert_eq!(BaseConfig::embedded(name), None, "{name}");
        }
    }
}
