//! Builds a kustomization with `kubectl kustomize`, or `kustomize build`, and asks for the origins of what comes out.

use super::origin::plain;
use super::sources::Sources;
use crate::ide::Stop;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What is built, and the folder that its origins are seen from.
///
/// # Errors
/// A sentence, where it cannot be built: no program, a remote resource, a mistake in a kustomization.
pub(super) fn build(folder: &Path, sources: &mut Sources, stop: Stop<'_>) -> Result<(String, PathBuf), String> {
    let shown = folder.display();
    let folder = fs::canonicalize(folder).map_err(|error| format!("cannot read {shown}: {error}"))?;
    if !folder.is_dir() {
        return Err(format!("{shown} is a file: -k takes the folder of a kustomization"));
    }
    if !sources.learn(&folder) {
        return Err(format!("{shown} has no kustomization.yaml, kustomization.yml or Kustomization"));
    }
    if let Some((file, path)) = sources.remote() {
        return Err(format!(
            "{file} takes {path} from the network, which llsd does not do. Build it yourself and check what comes out: \
             kubectl kustomize {shown} | llsd check -"
        ));
    }
    let wrapper = Wrapper::new(&folder)?;
    let path = || wrapper.folder.clone().into_os_string();
    let arguments = |first: &str| [OsString::from(first), OsString::from("--"), path()].to_vec();
    let text = super::run(&[("kubectl", arguments("kustomize")), ("kustomize", arguments("build"))], stop);
    let text =
        text.map_err(|problem| format!("{shown}: {}", problem.replace(&*wrapper.folder.to_string_lossy(), "")))?;
    Ok((text, wrapper.folder.clone()))
}

/// A folder with a kustomization that takes another one and asks for origins. It goes away when it is dropped.
struct Wrapper {
    folder: PathBuf,
}

impl Wrapper {
    fn new(target: &Path) -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let base = fs::canonicalize(std::env::temp_dir()).map_err(|error| format!("no temporary folder: {error}"))?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = base.join(format!("llsd-kustomize-{}-{number}", std::process::id()));
        let refuse = |error: std::io::Error| format!("cannot write {}: {error}", folder.display());
        // of a name that is taken nothing is known
        fs::create_dir(&folder).map_err(refuse)?;
        let wrapper = Self { folder: folder.clone() };
        let way = way(&folder, target).ok_or_else(|| format!("no way leads from {} to it", folder.display()))?;
        let text = serde_json::json!({"resources": [way], "buildMetadata": ["originAnnotations"]}).to_string();
        fs::write(folder.join("kustomization.yaml"), text).map_err(refuse)?;
        Ok(wrapper)
    }
}

impl Drop for Wrapper {
    fn drop(&mut self) {
        // What is left of it is in a temporary folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The way from one folder to another, as kustomize wants it: without a root.
fn way(from: &Path, to: &Path) -> Option<String> {
    let (from, to) = (plain(from), plain(to));
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    if common == 0 {
        return None;
    }
    let up = from[common..].iter().map(|_| "..");
    let down: Option<Vec<&str>> = to[common..].iter().map(|part| part.as_os_str().to_str()).collect();
    Some(up.chain(down?).collect::<Vec<_>>().join("/"))
}
