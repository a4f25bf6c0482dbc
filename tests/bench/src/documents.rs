//! The documents that are measured on: made here, the same in every run.

use std::fmt::Write as _;

/// A resource of 40 lines. `number` makes it another one.
pub(crate) fn resource(number: usize) -> String {
    format!(
        "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: stack-{number:05}
  namespace: team-{team:02}
  labels:
    app.kubernetes.io/part-of: models
spec:
  distribution:
    name: starter
  providers:
    inference:
      - id: primary
        provider: vllm
        endpoint: http://vllm-{number}.models.svc.cluster.local:8000/v1
        apiKey:
          secretKeyRef:
            name: vllm-{number:05}
            key: token
        settings:
          max_tokens: 4096
      - id: backup
        provider: ollama
        endpoint: http://ollama-{number}.models.svc.cluster.local:11434
    safety:
      - provider: llama-guard
  resources:
    models:
      - name: llama-3.2-3b
        provider: primary
      - name: llama-3.1-8b
        provider: backup
  storage:
    kv:
      type: sqlite
  networking:
    port: 8321
  workload:
    replicas: 2
# end of {number}
",
        team = number % 50
    )
}

/// The same with a key that has no colon, in the middle.
pub(crate) fn broken() -> String {
    resource(1).replace("        provider: ollama\n", "        provider ollama\n")
}

/// A file of `count` resources.
pub(crate) fn many(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let _ = write!(text, "---\n{}", resource(number));
    }
    text
}

/// The same without anything to find: a resource above has one warning.
pub(crate) fn many_clean(count: usize) -> String {
    many(count).replace(":11434\n", ":11434/v1\n")
}

/// Number of the first line, from 0, on which `what` stands, at or behind line `from`.
pub(crate) fn line_of(text: &str, what: &str, from: usize) -> usize {
    let found = text.lines().enumerate().skip(from).find(|(_, line)| line.contains(what));
    found.map_or(0, |(number, _)| number)
}
