//! A skeleton between brackets: block lines as one line in flow style.

/// The lines of an entry, or of the value of a key that is there already, which then begin with an empty one.
pub(super) fn line(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    match lines.split_first() {
        Some((&"", below)) => nested(below),
        _ => written(&lines).text,
    }
}

struct Written {
    text: String,
    kind: Kind,
}

#[derive(PartialEq, Eq)]
enum Kind {
    Entries,
    Items,
    Scalar,
}

impl Written {
    fn in_brackets(self) -> String {
        match self.kind {
            Kind::Entries => format!("{{{}}}", self.text),
            Kind::Items => format!("[{}]", self.text),
            Kind::Scalar => self.text,
        }
    }
}

/// What stands below a key, two columns farther in. A place to fill in stands for entries there.
fn nested(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.get(2..).unwrap_or_default()).collect();
    let below = written(&lines);
    if below.kind == Kind::Scalar { format!("{{{}}}", below.text) } else { below.in_brackets() }
}

fn written(lines: &[&str]) -> Written {
    let starts = |line: &&str| !line.starts_with(' ');
    let parts = lines.chunk_by(|_, next| !starts(next));
    if lines.first().is_some_and(|line| line.starts_with("- ")) {
        let items = parts.map(|part| {
            let item: Vec<&str> = part.iter().map(|line| line.get(2..).unwrap_or_default()).collect();
            written(&item).in_brackets()
        });
        return Written { text: items.collect::<Vec<_>>().join(", "), kind: Kind::Items };
    }
    if let [only] = lines
        && !only.ends_with(':')
        && !only.contains(": ")
    {
        return Written { text: (*only).to_owned(), kind: Kind::Scalar };
    }
    let entries = parts.map(|part| match part {
        [key, below @ ..] if !below.is_empty() => format!("{key} {}", nested(below)),
        _ => part.concat(),
    });
    Written { text: entries.collect::<Vec<_>>().join(", "), kind: Kind::Entries }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn skeletons_on_one_line() {
        let check = |block: &str, flow: &str| {
            let lines: Vec<String> = block.split('\n').map(str::to_owned).collect();
            assert_eq!(line(&lines), flow);
        };
        check("replicas: ${1:1}", "replicas: ${1:1}");
        check("apiKey:\n  secretKeyRef:\n    name: $1\n    key: $2", "apiKey: {secretKeyRef: {name: $1, key: $2}}");
        check("settings:\n  $1", "settings: {$1}");
        check("disabled:\n  - $1", "disabled: [$1]");
        check("keys:\n  - ref:\n      name: $1\n    sure: ${2:true}", "keys: [{ref: {name: $1}, sure: ${2:true}}]");
        check("\n  - provider: $1", "[{provider: $1}]");
        check("\n  $1", "{$1}");
        check("vllm", "vllm");
    }
}
