//! What several targets need: texts that are like resources, and their plain values.

use arbitrary::{Result, Unstructured};
use llsd_generator::document::Plain;
use serde_json::Value;

/// Pieces that resources are made of, whole lines and less.
const PIECES: [&str; 45] = [
    "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: a\nspec:\n",
    "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata:\n  name: a\nspec:\n  server:\n",
    "  distribution:\n    name: starter\n",
    "  distribution: {image: x/y:0.4.7}\n",
    "  providers:\n    inference:\n",
    "      - provider: vllm\n        endpoint: http://vllm:8000/v1\n",
    "      - id: b\n        provider: openai\n        apiKey:\n          secretKeyRef: {name: s, key: k}\n",
    "    vectorIo: [{provider: faiss}, {id: c, provider: milvus}]\n",
    "        settings:\n          max_tokens: 1\n",
    "  resources:\n    models:\n      - name: m\n        provider: b\n",
    "    tools: [websearch]\n    shields: [llama-guard]\n",
    "  storage:\n    kv: {type: redis, endpoint: r:1}\n",
    "    sql:\n      type: postgres\n      connectionString: {secretKeyRef: {name: s, key: u}}\n",
    "  disabled: [eval]\n",
    "  networking:\n    port: 8080\n    tls: {enabled: true, secretName: t}\n",
    "  workload:\n    replicas: 2\n    overrides:\n      env:\n        - name: VLLM_URL\n          value: x\n",
    "apiVersion: ogx.io/v1beta1\nkind: OGXServer\nmetadata:\n  name: a\n  annotations: {ogx.io/adopt-storage: a}\nspec:\n",
    "    inference:\n      remote:\n        vllm: [{endpoint: 'http://vllm:8000/v1', apiToken: {name: s, key: k}}]\n",
    "      inline:\n        custom: [{type: 'inline::x', settings: {a: 1}, secretRefs: {b: {name: s, key: k}}}]\n",
    "  network: {port: 9000, externalAccess: {enabled: true}}\n  disabledAPIs: [batches]\n",
    "  baseConfig: {name: c, key: config.yaml}\n  tls: {trust: {caCertificates: [{name: c, key: ca.crt}]}}\n",
    "---\n",
    "...\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  k: v\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  config.yaml: |\n    version: 2\n",
    "apiVersion: v1\nkind: List\nitems:\n- ",
    "# comment\n",
    "\n",
    "\r\n",
    "\t",
    "  ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "&a ",
    "*a",
    "<<: ",
    "{{ .Values.x }}",
    "<<<<<<< a\n",
    "\u{1F980}",
];

/// Whole files, so that there is something to edit from the first step on.
const FILES: [&str; 12] = [
    include_str!("../../samples/api-key.yaml"),
    include_str!("../../samples/models-tools-shields.yaml"),
    include_str!("../../samples/postgres-redis.yaml"),
    include_str!("../../samples/production.yaml"),
    include_str!("../../samples/v1alpha1-configmap.yaml"),
    include_str!("../../samples/v1alpha1-env.yaml"),
    include_str!("../../server/tests/ide/files/09-v1alpha2-flow.yaml"),
    include_str!("../../server/tests/ide/files/13-helm.yaml"),
    include_str!("../../server/tests/ide/files/16-openshift-template.yaml"),
    include_str!("../../server/tests/ide/files/19-anchors.yaml"),
    include_str!("../../server/tests/ide/files/20-draft.yaml"),
    include_str!("../../server/tests/ide/files/24-several.yaml"),
];

/// A file, or pieces that could be one.
///
/// # Errors
/// If the bytes are used up.
pub fn file(bytes: &mut Unstructured<'_>) -> Result<String> {
    if bytes.ratio(1, 2)? { Ok((*bytes.choose(&FILES)?).to_owned()) } else { text(bytes) }
}

/// A text made of pieces and of whatever the bytes hold.
///
/// # Errors
/// If the bytes are used up.
pub fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..bytes.int_in_range(0..=12)? {
        if bytes.ratio(4, 5)? {
            text.push_str(bytes.choose(&PIECES)?);
        } else {
            text.push_str(bytes.arbitrary::<&str>()?.get(..40).unwrap_or_default());
        }
    }
    Ok(text)
}

/// The plain values of the documents of a text.
pub fn values(text: &str) -> Vec<Value> {
    let stream = llsd_yaml::Stream::parse(text);
    stream.documents().iter().map(|located| Plain::read(&located.document).value).collect()
}
