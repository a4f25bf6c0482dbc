//! Measures `llsd lsp` and, side by side on the same documents, `yaml-language-server`; prints Markdown tables.
//!
//!     llsd-bench OURS [TOOLS] [PART…]
//!
//! OURS is the `llsd` binary, TOOLS the folder that `tests/bench/setup.sh` prints. The parts, all unless some are named:
//! `--side` is both servers on a document of 40 lines, a broken one and one of 20,000 lines; `--cold` is the first
//! diagnostics of the longest one, in a folder of 1,000 others; `--batch` is 1,000 files at once, beside check-jsonschema
//! too; `--growth` is how the cost of an edit grows with what is around it, for `llsd`.

mod documents;
mod process;
mod session;

use anyhow::{Context, Result, bail};
use session::{Measured, Server};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const PARTS: [&str; 4] = ["--side", "--cold", "--batch", "--growth"];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (parts, paths): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| argument.starts_with("--"));
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        bail!("{unknown}: the parts are {}", PARTS.join(", "));
    }
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| *wanted == part);
    let mut paths = paths.into_iter();
    let Some(ours) = paths.next() else { bail!("usage: llsd-bench OURS [TOOLS] [PART…]") };
    let folder = Folder::new()?;
    let ours = Server { command: vec![ours.clone(), "lsp".into()], settings: serde_json::json!({}) };
    let schema = folder.0.join("schema.json");
    fs::write(&schema, Command::new(&ours.command[0]).args(["schema", "v1alpha2"]).output()?.stdout)?;
    let tools = paths.next().map(PathBuf::from);
    let theirs = tools.as_deref().map(|tools| yaml_language_server(tools, &schema));
    let mut terminal = io::stdout();
    writeln!(terminal, "{}\n", machine()?)?;
    if let Some((tools, theirs)) = tools.as_deref().zip(theirs.as_ref()) {
        let mut out = "| Work | llsd | beside it | ratio |\n|---|---|---|---|\n".to_owned();
        if wanted("--side") {
            side_by_side(&mut out, &folder.0, &ours, theirs)?;
        }
        if wanted("--cold") {
            cold(&mut out, &folder.0, &ours, theirs)?;
        }
        if wanted("--batch") {
            batch(&mut out, &folder.0, &ours, theirs, &schema, tools)?;
        }
        if wanted("--side") || wanted("--cold") || wanted("--batch") {
            writeln!(terminal, "{out}")?;
        }
    }
    if wanted("--growth") {
        let mut out = String::new();
        growth(&mut out, &folder.0, &ours)?;
        writeln!(terminal, "{out}")?;
    }
    writeln!(terminal, "Load of the machine at the end: {}", process::load())?;
    Ok(())
}

/// A folder that goes away with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("llsd-bench-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn yaml_language_server(tools: &Path, schema: &Path) -> Server {
    let script = tools.join("node_modules/yaml-language-server/bin/yaml-language-server");
    let settings = serde_json::json!({"yaml": {
        "schemas": {format!("file://{}", schema.display()): ["*.yaml"]},
        "schemaStore": {"enable": false}, "kubernetesCRDStore": {"enable": false},
        "validate": true, "hover": true, "completion": true,
    }});
    let command = vec!["node".into(), script.display().to_string(), "--stdio".into()];
    Server { command, settings }
}

fn machine() -> Result<String> {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let cores = std::thread::available_parallelism()?;
    let node = Command::new("node").arg("--version").output().map(|run| run.stdout).unwrap_or_default();
    let node = String::from_utf8_lossy(&node).trim().to_owned();
    let model = model.trim_start_matches([' ', '\t', ':']);
    Ok(format!("{model}, {cores} cores, Node.js {node}; load of the machine at the start: {}", process::load()))
}

fn side_by_side(out: &mut String, folder: &Path, ours: &Server, theirs: &Server) -> Result<()> {
    let root = folder.join("side");
    fs::create_dir_all(&root)?;
    let start = [ours.startup(&root, 21), theirs.startup(&root, 5)];
    row(out, "start to `initialize` answered", [start[0].percentile(0.5), start[1].percentile(0.5)], "ms");
    let documents = [
        ("40 lines", documents::resource(1), 500, 60),
        ("40 lines, broken", documents::broken(), 500, 60),
        ("20,000 lines", documents::many(500), 200, 15),
    ];
    for (name, text, our_edits, their_edits) in documents {
        let measured: [Measured; 2] =
            [ours.measure(&root, &text, our_edits), theirs.measure(&root, &text, their_edits)];
        let all = |of: &dyn Fn(&Measured) -> f64| [of(&measured[0]), of(&measured[1])];
        row(out, &format!("{name}: key to diagnostics, p50"), all(&|one| one.key.percentile(0.5)), "ms");
        row(out, &format!("{name}: key to diagnostics, p99"), all(&|one| one.key.percentile(0.99)), "ms");
        row(out, &format!("{name}: completion after a key, p50"), all(&|one| one.completion.percentile(0.5)), "ms");
        row(out, &format!("{name}: completion after a key, p99"), all(&|one| one.completion.percentile(0.99)), "ms");
        row(out, &format!("{name}: hover, p99"), all(&|one| one.hover.percentile(0.99)), "ms");
        row(out, &format!("{name}: CPU per edit"), all(&|one| one.cpu), "ms");
        row(out, &format!("{name}: peak memory"), all(&|one| one.memory), "MB");
    }
    Ok(())
}

fn cold(out: &mut String, folder: &Path, ours: &Server, theirs: &Server) -> Result<()> {
    let root = folder.join("cold");
    fs::create_dir_all(&root)?;
    for number in 0..1000 {
        fs::write(root.join(format!("{number:04}.yaml")), documents::resource(number + 1000))?;
    }
    let text = documents::many(500);
    let [(ours, memory), (theirs, their_memory)] = [ours.cold(&root, &text, 11), theirs.cold(&root, &text, 3)];
    let what = "20,000 lines opened in a folder of 1,000 files";
    row(out, &format!("{what}: first diagnostics, p50"), [ours.percentile(0.5), theirs.percentile(0.5)], "ms");
    row(out, &format!("{what}: peak memory"), [memory, their_memory], "MB");
    Ok(())
}

fn batch(out: &mut String, folder: &Path, ours: &Server, theirs: &Server, schema: &Path, tools: &Path) -> Result<()> {
    let root = folder.join("batch");
    fs::create_dir_all(&root)?;
    let mut files = Vec::new();
    for number in 0..1000 {
        let name = format!("{number:04}.yaml");
        fs::write(root.join(&name), documents::resource(number))?;
        files.push((name, documents::resource(number)));
    }
    let check = median(5, || timed(Command::new(&ours.command[0]).arg("check").arg(&root)))?;
    let served = median(3, || Ok(theirs.open_all(&root, &files)))?;
    row(out, "1,000 files: `llsd check`, and opened in yaml-language-server", [check, served], "s");
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", tools.join("python")).args(["-m", "check_jsonschema", "--schemafile"]).arg(schema);
    command.args(files.iter().map(|(name, _)| root.join(name)));
    let checked = median(3, || timed(&mut command))?;
    row(out, "1,000 files: `llsd check`, and check-jsonschema", [check, checked], "s");
    Ok(())
}

fn growth(out: &mut String, folder: &Path, ours: &Server) -> Result<()> {
    *out += "\n| Around the edited resource | edit, p50 | edit, p99 | completion, p50 | CPU per edit | peak memory |\n";
    *out += "|---|---|---|---|---|---|\n";
    let counts = [1, 10, 100, 1000, 10_000];
    let mut line = |name: String, found: Measured| {
        let times =
            [found.key.percentile(0.5), found.key.percentile(0.99), found.completion.percentile(0.5), found.cpu];
        let times: Vec<_> = times.iter().map(|time| format!("{time:.2} ms")).collect();
        *out += &format!("| {name} | {} | {:.0} MB |\n", times.join(" | "), found.memory);
        let _ = writeln!(io::stderr(), "{name}: {}", times.join(" "));
    };
    for count in counts {
        let root = folder.join("growth");
        fs::create_dir_all(&root)?;
        // The client, too, has to read a list as long as the file for each edit.
        let edits = if count > 1000 { 60 } else { 200 };
        line(format!("{count} resources in its file"), ours.measure(&root, &documents::many_clean(count), edits));
        let warned = format!("{count} resources in its file, a warning in each");
        line(warned, ours.measure(&root, &documents::many(count), edits));
    }
    for count in counts {
        let root = folder.join(format!("files-{count}"));
        fs::create_dir_all(&root)?;
        for number in 0..count {
            fs::write(root.join(format!("{number:05}.yaml")), documents::resource(number + 1))?;
        }
        line(format!("{count} files in its workspace"), ours.measure(&root, &documents::resource(0), 200));
        fs::remove_dir_all(&root)?;
    }
    Ok(())
}

fn timed(command: &mut Command) -> Result<f64> {
    let started = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.code().is_none_or(|code| code > 1) {
        bail!("{command:?} ended with {status}");
    }
    Ok(started.elapsed().as_secs_f64())
}

fn median(runs: usize, mut once: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut times = (0..runs).map(|_| once()).collect::<Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn row(out: &mut String, what: &str, [ours, theirs]: [f64; 2], unit: &str) {
    let digits = if ours < 10.0 { 2 } else { 0 };
    *out += &format!("| {what} | {ours:.digits$} {unit} | {theirs:.1} {unit} | {:.0} × |\n", theirs / ours);
    // A run takes minutes; whoever watches wants to see it move.
    let _ = writeln!(io::stderr(), "{what}: {ours:.2} {theirs:.1} {unit}");
}
