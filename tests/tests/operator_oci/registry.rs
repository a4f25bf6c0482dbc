//! Debian's registry on loopback, with images that the tests make.

use flate2::Compression;
use flate2::write::GzEncoder;
use llsd_test_client::comes_about;
use llsd_tests::operator::free_address;
use oci_client::client::{ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// User and password of a private registry, and its file: the form that the registry takes is bcrypt.
pub(crate) const USER: &str = "puller";
pub(crate) const PASSWORD: &str = "pass-word";
const HTPASSWD: &str = "puller:$2y$05$abcdefghijklmnopqrstuulQElbHkP7vjLqXxb3Lzm18cJsfRyGH6\n";

/// A running registry, with its data in a folder that goes with it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    folder: PathBuf,
    // The registry stops when this one's standard input ends, so also when the tests are killed.
    supervisor: Child,
    private: bool,
}

impl Server {
    pub(crate) fn open() -> Self {
        Self::start(false)
    }

    /// One that asks for [`USER`] and [`PASSWORD`].
    pub(crate) fn private() -> Self {
        Self::start(true)
    }

    fn start(private: bool) -> Self {
        // The client that pushes takes the process's choice of TLS.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let address = free_address();
        let folder = std::env::temp_dir().join(format!("llsd-registry-{}-{}", std::process::id(), address.port()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut config = json!({
            "version": 0.1,
            "log": {"level": "error"},
            "storage": {"filesystem": {"rootdirectory": folder.join("data")}},
            "http": {"addr": address.to_string()},
        });
        if private {
            std::fs::write(folder.join("htpasswd"), HTPASSWD).unwrap();
            config["auth"] = json!({"htpasswd": {"realm": "test", "path": folder.join("htpasswd")}});
        }
        std::fs::write(folder.join("config.yml"), config.to_string()).unwrap();
        let script = "docker-registry serve config.yml >log 2>&1 </dev/null & server=$!; cat; kill $server";
        let supervisor = Command::new("sh")
            .args(["-c", script])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let up = comes_about(|| TcpStream::connect(address).is_ok());
        assert!(up, "docker-registry does not start: {:?}", std::fs::read_to_string(folder.join("log")));
        Self { address, folder, supervisor, private }
    }

    /// It as a registry that may be asked without TLS.
    pub(crate) fn insecure(&self) -> Vec<String> {
        vec![self.address.to_string()]
    }

    /// Stores an image, and returns its reference with the tag and its digest.
    pub(crate) async fn push(
        &self,
        name: &str,
        labels: serde_json::Value,
        layers: Vec<ImageLayer>,
    ) -> (String, String) {
        let image = format!("{}/{name}", self.address);
        let reference: Reference = image.parse().unwrap();
        let auth = match self.private {
            true => RegistryAuth::Basic(USER.to_owned(), PASSWORD.to_owned()),
            false => RegistryAuth::Anonymous,
        };
        let client = Client::new(ClientConfig { protocol: ClientProtocol::Http, ..ClientConfig::default() });
        let description = json!({
            "architecture": "amd64",
            "os": "linux",
            "config": {"Labels": labels},
            "rootfs": {"type": "layers", "diff_ids": []},
        });
        let config = Config::oci_v1(description.to_string().into_bytes(), None);
        client.push(&reference, &layers, config, &auth, None).await.unwrap();
        let digest = client.fetch_manifest_digest(&reference, &auth).await.unwrap();
        (image, digest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Pulls an image for this machine without TLS, unpacks it into `folder/root`, and returns its configuration: user, entry
/// point, labels.
///
/// # Errors
///
/// What the program that pulls says.
pub(crate) fn pull(image: &str, folder: &Path) -> Result<Value, String> {
    let run = |command: &mut Command| {
        let output = command.output().expect("tests/setup/packages.sh installs what these tests run");
        let said = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
        output.status.success().then_some(()).ok_or_else(said)
    };
    let (pulled, root) = (folder.join("pulled"), folder.join("root"));
    std::fs::create_dir_all(&root).unwrap();
    let mut skopeo = Command::new("skopeo");
    skopeo.args(["--override-arch", "amd64", "copy", "--quiet", "--src-tls-verify=false"]);
    run(skopeo.arg(format!("docker://{image}")).arg(format!("dir:{}", pulled.display())))?;
    let blob = |descriptor: &Value| pulled.join(descriptor["digest"].as_str().unwrap().trim_start_matches("sha256:"));
    let json = |path: PathBuf| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let manifest = json(pulled.join("manifest.json"));
    for layer in manifest["layers"].as_array().unwrap() {
        run(Command::new("tar").arg("-xpf").arg(blob(layer)).arg("-C").arg(&root))?;
    }
    Ok(json(blob(&manifest["config"]))["config"].take())
}

/// A layer with these files.
pub(crate) fn layer(files: &[(&str, &[u8])], packed: bool) -> ImageLayer {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, *content).unwrap();
    }
    let plain = builder.into_inner().unwrap();
    if !packed {
        return ImageLayer::oci_v1(plain, None);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&plain).unwrap();
    ImageLayer::oci_v1_gzip(encoder.finish().unwrap(), None)
}
