//! `llsd render`: prints the config that is generated for a resource.

use super::chosen::{self, Chosen};
use super::report::{self, Checked};
use super::{CLEAN, FINDINGS, complain};
use crate::ide::{LineOrigin, OriginKind, Preview, Severity};
use clap::Args;
use std::io::{self, BufWriter, Write};

/// Print the server config that a resource stands for
///
/// Exits with 1 if there is none: what is in the way is said on standard error.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    choice: chosen::Choice,
    /// Put in front of each line where it comes from
    #[arg(long)]
    origins: bool,
    /// Print the environment variables that the config needs, instead of the config
    #[arg(long, conflicts_with = "origins")]
    env: bool,
}

/// Prints the config, or says why there is none.
pub(super) fn run(arguments: &Arguments) -> io::Result<u8> {
    let chosen = match chosen::resource(&arguments.choice) {
        Ok(chosen) => chosen,
        Err(code) => return Ok(code),
    };
    let preview = crate::ide::preview(&chosen.analysis, chosen.resource.document);
    let Some(preview) = preview.filter(|preview| !preview.hash.is_empty()) else {
        return refuse(&chosen);
    };
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.env {
        environment(&mut out, &preview)?;
    } else if arguments.origins {
        with_origins(&mut out, &preview)?;
    } else {
        out.write_all(preview.text.as_bytes())?;
    }
    out.flush()?;
    preview.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    Ok(CLEAN)
}

/// Says what is in the way of a config: the errors of the resource, else the reason that the preview gives.
fn refuse(chosen: &Chosen) -> io::Result<u8> {
    let document = chosen.resource.document;
    let mut checked = Checked::new(chosen.name.clone(), &chosen.analysis, &|_| None);
    checked.diagnostics.retain(|found| found.document == document && found.severity == Severity::Error);
    if checked.diagnostics.is_empty() {
        let preview = crate::ide::preview(&chosen.analysis, document);
        let reason = preview.and_then(|preview| preview.lines.into_iter().next()).map(|line| line.path);
        complain(&format!("{}: {}", chosen.name, reason.as_deref().unwrap_or("no config is generated")));
    } else {
        report::excerpts(&mut io::stderr().lock(), &checked)?;
        complain(&format!("{}: no config while the resource has errors", chosen.name));
    }
    Ok(FINDINGS)
}

fn environment(out: &mut dyn Write, preview: &Preview) -> io::Result<()> {
    for variable in &preview.env {
        writeln!(out, "{}\t{}\t{}", variable.name, variable.source, variable.path)?;
    }
    Ok(())
}

fn with_origins(out: &mut dyn Write, preview: &Preview) -> io::Result<()> {
    let origins: Vec<String> = preview.lines.iter().map(origin).collect();
    let width = origins.iter().map(|origin| origin.chars().count()).max().unwrap_or(0);
    for (line, origin) in preview.text.lines().zip(&origins) {
        writeln!(out, "{}", format!("{origin:width$} | {line}").trim_end())?;
    }
    Ok(())
}

fn origin(line: &LineOrigin) -> String {
    match line.kind {
        OriginKind::Resource => line.path.clone(),
        OriginKind::Base => format!("base:{}", line.path),
        OriginKind::Default => format!("default: {}", line.path),
        OriginKind::Rule => format!("rule: {}", line.path),
    }
}
