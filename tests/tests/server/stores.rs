//! The server keeps its state in a real Postgres and a real Redis.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use llsd_generator::distribution::BaseConfig;
use llsd_test_client::comes_about;
use llsd_tests::llama_stack::{FakeVllm, Folder, Program, Server, free_port};

use crate::server::samples::{generated, sample};

// Characters that a URL gives a meaning, and what stands for them there.
const PASSWORD: &str = "p@ss/w:rd%1";
const ENCODED: &str = "p%40ss%2Fw%3Ard%251";

/// A Postgres server with the superuser `stack`, until it is dropped.
struct Postgres {
    _program: Program,
    port: u16,
    _folder: Folder,
}

impl Postgres {
    fn start() -> Self {
        let folder = Folder::new("postgres").unwrap();
        let owner = unprivileged(folder.path());
        let data = folder.path().join("data");
        let password = folder.path().join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        let as_owner = |program: PathBuf| {
            let mut command = Command::new(owner.first().map_or(program.as_os_str(), |first| first.as_ref()));
            command.args(owner.iter().skip(1));
            if !owner.is_empty() {
                command.arg(&program);
            }
            command
        };
        let mut initdb = as_owner(tool("initdb"));
        initdb.args(["--auth", "scram-sha-256", "--username", "stack", "--no-sync", "--encoding", "UTF8"]);
        let made = initdb.arg("--pgdata").arg(&data).arg("--pwfile").arg(&password).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = free_port().unwrap();
        let mut postgres = as_owner(tool("postgres"));
        postgres.args(["-F", "-h", "127.0.0.1", "-p", &port.to_string()]);
        postgres.arg("-D").arg(&data).arg("-k").arg(folder.path());
        let program = Program::start(postgres, &folder.path().join("log"), Some("INT")).unwrap();
        wait(&program, "ready to accept connections");
        Self { _program: program, port, _folder: folder }
    }

    /// The names of the tables, one per line.
    fn tables(&self, password: &str) -> String {
        self.query(password, "select tablename from pg_tables where schemaname = 'public'")
    }

    fn query(&self, password: &str, sql: &str) -> String {
        let output = Command::new(tool("psql"))
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "stack", "-d", "postgres", "-Atc", sql])
            .env("PGPASSWORD", password)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A Redis server with a password, until it is dropped.
struct Redis {
    _program: Program,
    port: u16,
    _folder: Folder,
}

impl Redis {
    fn start() -> Self {
        let folder = Folder::new("redis").unwrap();
        let port = free_port().unwrap();
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--requirepass", PASSWORD]);
        let program = Program::start(command, &folder.path().join("log"), None).unwrap();
        wait(&program, "Ready to accept connections");
        Self { _program: program, port, _folder: folder }
    }

    fn keys(&self) -> String {
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "keys", "*"])
            .env("REDISCLI_AUTH", PASSWORD)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The newest Postgres of Debian's folders, else the one on the PATH.
fn tool(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin").join(name)).collect();
    found.retain(|path| path.is_file());
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from(name))
}

/// Postgres refuses to run as root. Gives the folder to Debian's user `postgres` and returns the command that becomes
/// that user; an empty one for everybody but root.
fn unprivileged(folder: &Path) -> Vec<&'static str> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().unwrap();
        assert!(output.status.success(), "there is no user postgres; run `make test`, which installs postgresql");
        String::from_utf8(output.stdout).unwrap().trim().parse::<u32>().unwrap()
    };
    if id(&["-u"]) != 0 {
        return Vec::new();
    }
    chown(folder, Some(id(&["-u", "postgres"])), Some(id(&["-g", "postgres"]))).unwrap();
    vec!["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
}

fn wait(program: &Program, text: &str) {
    assert!(comes_about(|| program.log().contains(text)), "it did not start:\n{}", program.log());
}

#[test]
fn the_postgres_and_redis_sample_keeps_its_state_there() {
    let (postgres, redis) = (Postgres::start(), Redis::start());
    let vllm = FakeVllm::start(&["test/model"]).unwrap();
    let text = sample("postgres-redis.yaml")
        .replace("http://vllm.models.svc.cluster.local:8000/v1", &vllm.endpoint())
        .replace("redis.data.svc.cluster.local:6379", &format!("127.0.0.1:{}", redis.port));
    let [config] = &generated(&text)[..] else { panic!("postgres-redis.yaml is one resource") };
    let port = postgres.port.to_string();
    // What the operator's derived Secrets hold; see DerivedKind.
    let values = [
        ("LLSD_STORAGE_KV_PASSWORD", ENCODED),
        ("LLSD_STORAGE_SQL_HOST", "127.0.0.1"),
        ("LLSD_STORAGE_SQL_PORT", &port),
        ("LLSD_STORAGE_SQL_DB", "postgres"),
        ("LLSD_STORAGE_SQL_USER", "stack"),
        ("LLSD_STORAGE_SQL_PASSWORD", ENCODED),
    ];
    let mut named: Vec<&str> = config.env.iter().map(|variable| variable.name.as_str()).collect();
    named.sort_unstable();
    let mut given: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    given.sort_unstable();
    assert_eq!(named, given);

    let server = Server::start(config.config.text(), &values).unwrap();
    assert!(server.list("/v1/models", "id").unwrap().contains(&"vllm/test/model".to_owned()));
    let tables = postgres.tables(PASSWORD);
    assert!(tables.contains("inference_store") && tables.contains("openai_conversations"), "{tables}");
    assert!(redis.keys().contains("registry"), "{}", redis.keys());
}

#[test]
fn the_postgres_demo_config_keeps_everything_in_postgres() {
    let postgres = Postgres::start();
    let vllm = FakeVllm::start(&["test/model"]).unwrap();
    let (port, endpoint) = (postgres.port.to_string(), vllm.endpoint());
    let values = [
        ("VLLM_URL", endpoint.as_str()),
        ("INFERENCE_MODEL", "test/model"),
        ("POSTGRES_HOST", "127.0.0.1"),
        ("POSTGRES_PORT", &port),
        ("POSTGRES_DB", "postgres"),
        ("POSTGRES_USER", "stack"),
        ("POSTGRES_PASSWORD", "plain"),
    ];
    // The key-value backend takes a password as it is and the SQL backend takes it percent-encoded. One variable
    // serves both, so the password has no character that would make a difference.
    postgres.query(PASSWORD, "alter role stack password 'plain'");
    let server = Server::start(BaseConfig::embedded("postgres-demo").unwrap(), &values).unwrap();
    assert!(server.list("/v1/models", "id").unwrap().contains(&"vllm-inference/test/model".to_owned()));
    let tables = postgres.tables("plain");
    assert!(tables.contains("llamastack_kvstore") && tables.contains("inference_store"), "{tables}");
}
