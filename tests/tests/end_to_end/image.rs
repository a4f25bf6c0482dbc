//! Images of a registry on this machine, which are pulled and unpacked. An image of any other registry stands for
//! llama-stack, which is installed here.

use super::pod::Waiting;
use crate::operator_oci::registry::pull;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// An image whose layers are unpacked, one over the other, in a folder of its own.
pub(super) struct Image {
    /// The folder that stands for its `/`.
    pub(super) root: PathBuf,
    config: Value,
}

impl Image {
    /// The number of the user that it runs as, if it says one.
    pub(super) fn user(&self) -> Option<u64> {
        self.config["User"].as_str()?.split(':').next()?.parse().ok()
    }

    /// What it runs before arguments; empty if it runs nothing.
    pub(super) fn entry_point(&self) -> Vec<String> {
        let words = self.config["Entrypoint"].as_array().into_iter().flatten();
        words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
    }
}

/// The image of that name, pulled once into a folder below `images`; `None` for one of another machine's registry.
pub(super) fn pulled(name: &str, images: &Path) -> Result<Option<Image>, Waiting> {
    if !name.starts_with("127.0.0.1:") {
        return Ok(None);
    }
    let folder = images.join(name.replace(['/', ':'], "-"));
    let known = folder.join("config.json");
    let config = match fs::read(&known) {
        Ok(text) => serde_json::from_slice(&text).expect("what was written below"),
        Err(_) => {
            let config = pull(name, &folder).map_err(|message| Waiting { reason: "ErrImagePull", message })?;
            fs::write(&known, config.to_string()).expect("a file");
            config
        }
    };
    Ok(Some(Image { root: folder.join("root"), config }))
}
