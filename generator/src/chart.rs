//! What templates of a Helm chart put whole into ConfigMaps: parts of its values, and its files.
//!
//! Nothing is rendered here. A template that does more than to write a value or a file as it is says nothing.

use serde_json::Value;

/// Namespace and name of a ConfigMap; the namespace is empty where the template names none.
type ObjectKey = (String, String);

/// Folders above a file in which its chart is looked for.
pub const ABOVE: usize = 8;

/// How deep brackets may stand in each other in an action. Nobody needs three.
const MAX_DEPTH: usize = 8;

/// Where a text of a ConfigMap comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The value under these keys of the values, written as YAML or JSON.
    Value(Vec<String>),
    /// The text under these keys of the values.
    Text(Vec<String>),
    /// The file at this path, seen from the chart's folder.
    File(String),
    /// The files that this pattern fits, each under its name.
    Files(String),
}

/// A text of a ConfigMap that a template takes whole from elsewhere in its chart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Put {
    /// Namespace and name of the ConfigMap, as the template has them.
    pub config_map: ObjectKey,
    /// The key of the text; empty where the files' names are the keys.
    pub key: String,
    /// What of the chart the text is made of.
    pub source: Source,
}

/// What the template of an object puts whole into it, if that is a ConfigMap. `text`: the template, and `object`: what it
/// is read as.
#[must_use]
pub fn puts(text: &str, object: &Value) -> Vec<Put> {
    let is = |field: &str, wanted: &str| object.get(field).and_then(Value::as_str) == Some(wanted);
    if !text.contains("{{") || !is("kind", "ConfigMap") || !is("apiVersion", "v1") {
        return Vec::new();
    }
    let metadata = |field: &str| {
        let text = object.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let config_map = (metadata("namespace"), metadata("name"));
    if config_map.1.is_empty() {
        return Vec::new();
    }
    let put = |(key, source)| Put { config_map: config_map.clone(), key, source };
    data(text).into_iter().map(put).collect()
}

/// The entries of `data` that are one action each. The lines are read as they stand: what an action writes is often not
/// indented, which no reader of YAML takes for a part of the text.
fn data(template: &str) -> Vec<(String, Source)> {
    let mut lines = template.lines().skip_while(|line| !line.starts_with("data:")).peekable();
    let mut found = Vec::new();
    let behind = lines.next().and_then(|line| line.strip_prefix("data:")).unwrap_or_default();
    found.extend(source(behind, Place::Data).map(|source| (String::new(), source)));
    while let Some(line) = lines.next() {
        let column = indent(line);
        if is_nothing(line) {
            continue;
        }
        if column == 0 && !line.starts_with("{{") {
            break;
        }
        let Some((key, rest)) = entry(line) else {
            found.extend(source(line, Place::Data).map(|source| (String::new(), source)));
            continue;
        };
        if !rest.starts_with('|') {
            found.extend(source(rest, Place::Line).map(|source| (key.to_owned(), source)));
            continue;
        }
        let mut written = Vec::new();
        while let Some(line) = lines.next_if(|line| indent(line) > column || line.starts_with("{{") || is_nothing(line))
        {
            // control around the entry stands no deeper than the entry
            let is_around = indent(line) <= column && is_control(line);
            if !is_nothing(line) && !is_around {
                written.push(line);
            }
        }
        if let [only] = written[..] {
            found.extend(source(only, Place::Block).map(|source| (key.to_owned(), source)));
        }
    }
    found
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// What an action begins with, behind the brackets.
fn begins(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix("{{")?.trim_start_matches('-').trim_start())
}

/// Whether a line writes nothing into a text that is a config: it is empty, a comment, or the end of a condition.
fn is_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.starts_with('#')
        || begins(line).is_some_and(|inside| inside.starts_with("/*") || word(inside) == "end")
}

fn is_control(line: &str) -> bool {
    begins(line).is_some_and(|inside| matches!(word(inside), "if" | "else" | "with" | "range"))
}

fn word(text: &str) -> &str {
    text.split(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default()
}

/// Key and value of an entry of `data` that begins on a line.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once(':')?;
    let bare = ['"', '\''].iter().find_map(|quote| key.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(key);
    let is_key = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    (!bare.is_empty() && bare.chars().all(is_key)).then(|| (bare, value.trim()))
}

/// Where an action stands, which says what has to come out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In place of the entries of `data`, where files come with their names.
    Data,
    /// Behind a key on its line, where a text has to be in quotes.
    Line,
    /// Alone in a literal text.
    Block,
}

/// What an action has made so far, while its stages are read.
enum Made {
    /// What is under keys of the values, of any type.
    Part(Vec<String>),
    /// A text, which no stage may turn into another one.
    Whole(Source),
}

/// What an action writes; `None` where it does more than to write one thing as it is.
fn source(text: &str, place: Place) -> Option<Source> {
    let inside = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    if inside.contains("{{") || inside.contains("}}") {
        return None;
    }
    let inside = inside.strip_prefix('-').unwrap_or(inside);
    let (made, is_quoted) = pipeline(inside.strip_suffix('-').unwrap_or(inside), 0)?;
    let source = match made {
        Made::Part(keys) => Source::Text(keys),
        Made::Whole(source) => source,
    };
    let is_files = matches!(source, Source::Files(_));
    ((place == Place::Data) == is_files && (place == Place::Line) == is_quoted).then_some(source)
}

/// What a pipeline makes, and whether it is put into quotes.
fn pipeline(text: &str, depth: usize) -> Option<(Made, bool)> {
    let mut stages = split(text, '|').into_iter();
    let mut made = command(stages.next()?, depth)?;
    let mut is_quoted = false;
    for stage in stages {
        let words = split(stage, ' ');
        match words.as_slice() {
            ["indent" | "nindent", number] if number.bytes().all(|byte| byte.is_ascii_digit()) => {}
            ["trim"] => {}
            ["quote"] if !is_quoted => is_quoted = true,
            [one] if !is_quoted && is_writer(one) => made = Made::Whole(written(made)?),
            _ => return None,
        }
    }
    Some((made, is_quoted))
}

/// The functions that write a value of any type.
fn is_writer(name: &str) -> bool {
    matches!(name, "toYaml" | "mustToYaml" | "toJson" | "mustToJson" | "toPrettyJson" | "mustToPrettyJson")
}

fn written(made: Made) -> Option<Source> {
    match made {
        Made::Part(keys) => Some(Source::Value(keys)),
        Made::Whole(_) => None,
    }
}

fn command(text: &str, depth: usize) -> Option<Made> {
    if depth > MAX_DEPTH {
        return None;
    }
    let words = split(text, ' ');
    let unquoted = |made: (Made, bool)| Some(made.0).filter(|_| !made.1);
    match words.as_slice() {
        [one] => match one.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inside) => unquoted(pipeline(inside, depth + 1)?),
            None => match one.strip_suffix(".AsConfig").and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')')) {
                Some(inside) => match split(inside, ' ').as_slice() {
                    [".Files.Glob" | "$.Files.Glob", pattern] => Some(Made::Whole(Source::Files(literal(pattern)?))),
                    _ => None,
                },
                None => part(one),
            },
        },
        [".Files.Get" | "$.Files.Get", path] => Some(Made::Whole(Source::File(literal(path)?))),
        ["tpl", what, "." | "$"] => command(what, depth + 1),
        [function, what] if is_writer(function) => Some(Made::Whole(written(command(what, depth + 1)?)?)),
        _ => None,
    }
}

/// A word such as `.Values.a.b` or `$.Values.a.b`: a part of the values, by plain keys.
fn part(word: &str) -> Option<Made> {
    let keys = word.strip_prefix('$').unwrap_or(word).strip_prefix(".Values.")?;
    let is_name = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let keys: Vec<&str> = keys.split('.').collect();
    keys.iter().all(|key| is_name(key)).then(|| Made::Part(keys.into_iter().map(str::to_owned).collect()))
}

/// A text in quotes without escapes.
fn literal(word: &str) -> Option<String> {
    let inside = ['"', '`'].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))?;
    (!inside.is_empty() && !inside.contains(['"', '`', '\\'])).then(|| inside.to_owned())
}

/// The parts between separators that stand neither in round brackets nor in quotes. Empty parts are left out.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(char),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) if char == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + char.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Whether a pattern of `.Files.Glob` fits a path: `*` and `?` stand for what has no slash, `**` for anything. One with
/// other signs fits nothing.
#[must_use]
pub fn fits(pattern: &str, path: &str) -> bool {
    if pattern.contains(['[', '{', '\\', '!']) {
        return false;
    }
    // the lengths of the path's start that the pattern so far can be
    let mut ends = vec![false; path.len() + 1];
    ends[0] = true;
    let mut rest = pattern;
    while let Some(char) = rest.chars().next() {
        let deep = rest.starts_with("**");
        rest = &rest[if deep { 2 } else { char.len_utf8() }..];
        let mut next = vec![false; path.len() + 1];
        let mut reached = false;
        for (at, found) in path.char_indices().map(|(at, found)| (at, Some(found))).chain([(path.len(), None)]) {
            reached |= ends[at];
            match (char, found) {
                ('*', _) => {
                    next[at] |= reached;
                    reached &= deep || found != Some('/');
                }
                (_, Some(found)) if ends[at] && (char == found || (char == '?' && found != '/')) => {
                    next[at + found.len_utf8()] = true;
                }
                _ => {}
            }
        }
        ends = next;
    }
    ends[path.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    fn found(data: &str) -> Vec<(String, Source)> {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "run"}});
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: run\n{data}");
        puts(&text, &object).into_iter().map(|put| (put.key, put.source)).collect()
    }

    #[test]
    fn one_value_as_it_is_is_seen_however_it_is_written() {
        for action in [
            "    {{- toYaml .Values.a.b | nindent 4 }}",
            "    {{ .Values.a.b | toYaml | indent 4 }}",
            "{{ .Values.a.b | toYaml | indent 4 }}",
            "{{- tpl (toYaml $.Values.a.b) . | nindent 4 -}}",
            "    {{- tpl (.Values.a.b | toYaml) $ | trim | nindent 4 }}",
            "    {{- (toYaml .Values.a.b) | nindent 4 }}\n    # a comment\n  {{- end }}",
            "    {{- mustToJson .Values.a.b | nindent 4 }}\n\n  {{- if .Values.more }}\n  other: x\n  {{- end }}",
        ] {
            let data = format!("data:\n  {{{{- if .Values.a }}}}\n  \"config.yaml\": |\n{action}\n");
            assert_eq!(found(&data)[0], ("config.yaml".to_owned(), Source::Value(keys("a.b"))), "{action}");
        }
        let text = Source::Text(keys("text"));
        for action in ["    {{- .Values.text | nindent 4 }}", "{{ tpl .Values.text . | indent 4 }}"] {
            assert_eq!(found(&format!("data:\n  a: |-\n{action}\n")), [("a".to_owned(), text.clone())], "{action}");
        }
        assert_eq!(found("data:\n  a: {{ toYaml .Values.x | quote }}\n"), [("a".to_owned(), Source::Value(keys("x")))]);
        let file = Source::File("files/run.yaml".to_owned());
        assert_eq!(
            found("data:\n  a: |\n    {{- .Files.Get \"files/run.yaml\" | nindent 4 }}\nkind: x\n"),
            [("a".to_owned(), file)]
        );
        let files = Source::Files("files/*".to_owned());
        for data in [
            "data:\n  {{- (.Files.Glob \"files/*\").AsConfig | nindent 2 }}\n",
            "data:\n{{ ($.Files.Glob `files/*`).AsConfig | indent 2 }}\n",
            "data: {{- (.Files.Glob \"files/*\").AsConfig | nindent 2 }}\n",
        ] {
            assert_eq!(found(data), [(String::new(), files.clone())], "{data}");
        }
    }

    #[test]
    fn what_does_more_says_nothing() {
        for action in [
            "    {{- toYaml (merge .Values.a .Values.b) | nindent 4 }}",
            "    {{- toYaml (.Values.a | default dict) | nindent 4 }}",
            "    {{- .Values.a | default \"x\" | toYaml | nindent 4 }}",
            "    {{- include \"config\" . | nindent 4 }}",
            "    {{- toYaml . | nindent 4 }}",
            "    {{- toYaml .Values | nindent 4 }}",
            "    {{- toYaml (index .Values \"a\") | nindent 4 }}",
            "    {{- toYaml .Values.a | replace \"x\" \"y\" | nindent 4 }}",
            "    {{- toYaml .Values.a | nindent 4 }}\n    more: x",
            "    {{- toYaml .Values.a | nindent 4 }}\n    {{- toYaml .Values.b | nindent 4 }}",
            "    {{- if .Values.x }}\n    {{- toYaml .Values.a | nindent 4 }}\n    {{- end }}",
            "{{- if .Values.x }}\n{{ toYaml .Values.a | indent 4 }}\n{{- else }}\n{{ toYaml .Values.b | indent 4 }}\n{{- end }}",
            "    {{- toYaml .Values.a | nindent 4 }} {{ x }}",
            "    {{- toYaml .Values.a | quote }}",
            "    {{- .Files.Get .Values.file | nindent 4 }}",
            "    {{- .Files.Get \"a\" | toYaml | nindent 4 }}",
            "    a: {{ .Values.a }}",
        ] {
            assert_eq!(found(&format!("data:\n  config.yaml: |\n{action}\n")), [], "{action}");
        }
        for data in ["", "data: {}\n", "data:\n  a: {{ toYaml .Values.x }}\n", "data:\n  {{ toYaml .Values.x }}\n"] {
            assert_eq!(found(data), [], "{data}");
        }
        let deep = format!("data:\n  a: |\n    {{{{ {}.Values.a{} }}}}\n", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(found(&deep), []);
    }

    #[test]
    fn patterns_fit_as_those_of_helm_do() {
        for (pattern, path, wanted) in [
            ("files/*", "files/a.yaml", true),
            ("files/*", "files/a/b.yaml", false),
            ("files/*.yaml", "files/a.yaml", true),
            ("files/*.yaml", "files/a.yml", false),
            ("files/**", "files/a/b.yaml", true),
            ("**.yaml", "files/a.yaml", true),
            ("**/run.yaml", "files/é/run.yaml", true),
            ("f?les/a", "files/a", true),
            ("*", "", true),
            ("a", "", false),
            ("{a,b}", "a", false),
        ] {
            assert_eq!(fits(pattern, path), wanted, "{pattern} {path}");
        }
    }
}
