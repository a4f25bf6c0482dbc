use crate::support::{analyse, cursor, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide;

/// The first offers: label, detail, and what they insert where that is more than the label.
fn check(text: &str, expected: Expect) {
    let (text, at) = cursor(text);
    let mut shown = String::new();
    for item in ide::complete(&analyse(&text), at).iter().take(8) {
        let typed = &text[item.insert.span.start..item.insert.span.end];
        shown.push_str(&format!("{} | {} | {:?} for {typed:?}\n", item.label, item.detail, item.insert.new_text));
    }
    expected.assert_eq(&shown);
}

#[test]
fn keys_of_the_resource() {
    check(
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\n$0",
        expect![[r#"
        metadata | object, required | "metadata:\n  name: $1" for ""
        spec | object, required | "spec:\n  distribution:\n    name: ${1:starter}" for ""
    "#]],
    );
}

#[test]
fn keys_of_spec() {
    check(
        &v1alpha2("distribution:\n  name: starter\n$0"),
        expect![[r#"
        providers | object | "providers:\n  $1" for ""
        resources | object | "resources:\n  $1" for ""
        storage | object | "storage:\n  $1" for ""
        disabled | list of strings | "disabled:\n  - $1" for ""
        networking | object | "networking:\n  $1" for ""
        workload | object | "workload:\n  $1" for ""
        overrideConfig | object | "overrideConfig:\n  configMapName: $1" for ""
        externalProviders | object | "externalProviders:\n  $1" for ""
    "#]],
    );
}

#[test]
fn a_half_written_key() {
    check(
        &v1alpha2("distribution:\n  name: starter\nprov$0"),
        expect![[r#"
        providers | object | "providers:\n  $1" for "prov"
        resources | object | "resources:\n  $1" for "prov"
        storage | object | "storage:\n  $1" for "prov"
        disabled | list of strings | "disabled:\n  - $1" for "prov"
        networking | object | "networking:\n  $1" for "prov"
        workload | object | "workload:\n  $1" for "prov"
        overrideConfig | object | "overrideConfig:\n  configMapName: $1" for "prov"
        externalProviders | object | "externalProviders:\n  $1" for "prov"
    "#]],
    );
}

#[test]
fn a_key_that_has_a_value_already() {
    check(
        &v1alpha2("distri$0: {name: starter}\n"),
        expect![[r#"
        distribution | object, required | "distribution" for "distri"
        providers | object | "providers" for "distri"
        resources | object | "resources" for "distri"
        storage | object | "storage" for "distri"
        disabled | list of strings | "disabled" for "distri"
        networking | object | "networking" for "distri"
        workload | object | "workload" for "distri"
        overrideConfig | object | "overrideConfig" for "distri"
    "#]],
    );
}

#[test]
fn keys_of_a_provider_behind_the_dash() {
    check(
        &v1alpha2("providers:\n  inference:\n    - $0"),
        expect![[r#"
        provider | string, required | "provider: $1" for ""
        id | string | "id: $1" for ""
        endpoint | string | "endpoint: $1" for ""
        apiKey | object | "apiKey:\n    secretKeyRef:\n      name: $1\n      key: $2" for ""
        settings | object | "settings:\n    $1" for ""
        secretRefs | map of objects | "secretRefs:\n    $1" for ""
    "#]],
    );
}

#[test]
fn keys_of_a_provider_below_others() {
    check(
        &v1alpha2("providers:\n  inference:\n    - provider: vllm\n      $0"),
        expect![[r#"
        id | string | "id: $1" for ""
        endpoint | string | "endpoint: $1" for ""
        apiKey | object | "apiKey:\n  secretKeyRef:\n    name: $1\n    key: $2" for ""
        settings | object | "settings:\n  $1" for ""
        secretRefs | map of objects | "secretRefs:\n  $1" for ""
    "#]],
    );
}

#[test]
fn the_first_item_of_a_list() {
    check(
        &v1alpha2("providers:\n  inference:\n    $0"),
        expect![[r#"
        - provider | list item | "- provider: $1" for ""
    "#]],
    );
}

#[test]
fn provider_types_by_short_name() {
    check(
        &v1alpha2("distribution:\n  name: starter\nproviders:\n  safety:\n    - provider: $0"),
        expect![[r#"
            llama-guard | inline::llama-guard | "llama-guard" for ""
            prompt-guard | inline::prompt-guard | "prompt-guard" for ""
            code-scanner | inline::code-scanner | "code-scanner" for ""
            bedrock | remote::bedrock | "bedrock" for ""
            nvidia | remote::nvidia | "nvidia" for ""
            sambanova | remote::sambanova | "sambanova" for ""
        "#]],
    );
}

#[test]
fn provider_ids_of_the_resource_and_the_base() {
    check(
        &v1alpha2(
            "distribution:\n  name: starter\nproviders:\n  inference:\n    - id: small\n      provider: vllm\nresources:\n  models:\n    - name: x\n      provider: $0",
        ),
        expect![[r#"
            small | vllm | "small" for ""
            vllm | remote::vllm, of the distribution | "vllm" for ""
            ollama | remote::ollama, of the distribution | "ollama" for ""
            tgi | remote::tgi, of the distribution | "tgi" for ""
            azure | remote::azure, of the distribution | "azure" for ""
            cerebras | remote::cerebras, of the distribution | "cerebras" for ""
            nvidia | remote::nvidia, of the distribution | "nvidia" for ""
            vertexai | remote::vertexai, of the distribution | "vertexai" for ""
        "#]],
    );
}

#[test]
fn settings_of_the_provider() {
    check(
        &v1alpha2("providers:\n  inference:\n    - provider: vllm\n      settings:\n        $0"),
        expect![[r#"
            allowed_models | list | "allowed_models:\n  - $1" for ""
            max_tokens | integer, default 4096 | "max_tokens: ${1:4096}" for ""
            refresh_models | boolean, default false | "refresh_models: ${1:true}" for ""
            tls_verify | value, default true | "tls_verify: ${1:true}" for ""
            base_url | string, required | "base_url: $1" for ""
            api_token | string | "api_token: $1" for ""
        "#]],
    );
    check(
        &v1alpha2("providers:\n  inference:\n    - provider: vllm\n      settings:\n        refresh_models: $0"),
        expect![[r#"
        false | default | "false" for ""
        true |  | "true" for ""
    "#]],
    );
}

#[test]
fn distributions() {
    check(
        &v1alpha2("distribution:\n  name: s$0"),
        expect![[r#"
        starter | llama-stack 0.4.7 | "starter" for "s"
        remote-vllm | llama-stack 0.4.7 | "remote-vllm" for "s"
        meta-reference-gpu | llama-stack 0.4.7 | "meta-reference-gpu" for "s"
        postgres-demo | llama-stack 0.4.7 | "postgres-demo" for "s"
    "#]],
    );
    check(
        &v1alpha2("distribution: {name: $0}"),
        expect![[r#"
        starter | llama-stack 0.4.7 | "starter" for ""
        remote-vllm | llama-stack 0.4.7 | "remote-vllm" for ""
        meta-reference-gpu | llama-stack 0.4.7 | "meta-reference-gpu" for ""
        postgres-demo | llama-stack 0.4.7 | "postgres-demo" for ""
    "#]],
    );
}

#[test]
fn enums_and_booleans() {
    check(
        &v1alpha2("storage:\n  kv:\n    type: $0"),
        expect![[r#"
        sqlite | default | "sqlite" for ""
        redis |  | "redis" for ""
    "#]],
    );
    check(
        &v1alpha2("networking:\n  tls:\n    enabled: $0"),
        expect![[r#"
        true |  | "true" for ""
        false |  | "false" for ""
    "#]],
    );
    check(
        &v1alpha2("networking:\n  port: $0"),
        expect![[r#"
        8321 | default | "8321" for ""
    "#]],
    );
}

#[test]
fn apis_tools_and_shields() {
    check(
        &v1alpha2("disabled:\n  - ev$0"),
        expect![[r#"
            eval | API | "eval" for "ev"
            scoring | API | "scoring" for "ev"
            datasetio | API | "datasetio" for "ev"
            post_training | API | "post_training" for "ev"
            batches | API | "batches" for "ev"
            files | API | "files" for "ev"
            agents | API | "agents" for "ev"
            safety | API | "safety" for "ev"
        "#]],
    );
    check(
        &v1alpha2("distribution:\n  name: starter\nresources:\n  tools: [$0]"),
        expect![[r#"
            websearch | builtin::websearch | "websearch" for ""
            rag | builtin::rag | "rag" for ""
        "#]],
    );
    check(
        &v1alpha2("providers:\n  safety:\n    - provider: llama-guard\nresources:\n  shields:\n    - $0"),
        expect![[r#"
        llama-guard | shield | "llama-guard" for ""
    "#]],
    );
}

#[test]
fn secrets_of_the_file() {
    let secret = "\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: vllm\ndata:\n  token: eA==\n";
    let reference = "providers:\n  inference:\n    - provider: vllm\n      apiKey:\n        secretKeyRef:\n";
    check(
        &(v1alpha2(&format!("{reference}          name: $0")) + secret),
        expect![[r#"
        vllm | Secret | "vllm" for ""
    "#]],
    );
    check(
        &(v1alpha2(&format!("{reference}          name: vllm\n          key: $0")) + secret),
        expect![[r#"
        token | key of Secret vllm | "token" for ""
    "#]],
    );
}

#[test]
fn a_whole_resource_in_an_empty_file() {
    check(
        "$0",
        expect![[r#"
        LlamaStackDistribution | a whole resource | "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: ${1:my-llama-stack}\nspec:\n  distribution:\n    name: ${2:starter}\n  providers:\n    inference:\n      - provider: ${3:vllm}\n        endpoint: ${4:http://vllm:8000/v1}\n  resources:\n    models:\n      - name: ${5:model}" for ""
        apiVersion |  | "apiVersion: llamastack.io/v1alpha2" for ""
        kind |  | "kind: LlamaStackDistribution" for ""
    "#]],
    );
    check(
        "apiVersion: $0",
        expect![[r#"
        llamastack.io/v1alpha2 | LlamaStackDistribution | "llamastack.io/v1alpha2" for ""
        llamastack.io/v1alpha1 | LlamaStackDistribution | "llamastack.io/v1alpha1" for ""
    "#]],
    );
    check("services:\n  $0", expect![[""]]);
}

#[test]
fn nothing_in_comments_and_blocks() {
    check(&v1alpha2("# prov$0"), expect![[""]]);
    check("apiVersion: v1\nkind: ConfigMap\ndata:\n  $0", expect![[""]]);
}

#[test]
fn the_older_version() {
    let text = "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nspec:\n  server:\n    distribution:\n      name: starter\n    containerSpec:\n      env:\n        - name: $0";
    check(
        text,
        expect![[r#"
            VLLM_URL | read by the distribution | "VLLM_URL" for ""
            VLLM_API_TOKEN | read by the distribution | "VLLM_API_TOKEN" for ""
            OLLAMA_URL | read by the distribution | "OLLAMA_URL" for ""
            OPENAI_API_KEY | read by the distribution | "OPENAI_API_KEY" for ""
            VLLM_MAX_TOKENS | read by the distribution | "VLLM_MAX_TOKENS" for ""
            VLLM_TLS_VERIFY | read by the distribution | "VLLM_TLS_VERIFY" for ""
            MILVUS_URL | read by the distribution | "MILVUS_URL" for ""
            MILVUS_DB_PATH | read by the distribution | "MILVUS_DB_PATH" for ""
        "#]],
    );
}
