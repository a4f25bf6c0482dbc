use crate::ide::support::{analyse, cursor, v1alpha2};
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
            networking | object | "networking:\n  $1" for ""
            workload | object | "workload:\n  $1" for ""
            disabled | list of strings | "disabled:\n  - $1" for ""
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
            networking | object | "networking:\n  $1" for "prov"
            workload | object | "workload:\n  $1" for "prov"
            disabled | list of strings | "disabled:\n  - $1" for "prov"
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
            networking | object | "networking" for "distri"
            workload | object | "workload" for "distri"
            disabled | list of strings | "disabled" for "distri"
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
            endpoint | string | "endpoint: $1" for ""
            apiKey | object | "apiKey:\n  secretKeyRef:\n    name: $1\n    key: $2" for ""
            id | string | "id: $1" for ""
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
            - provider | string, required | "- provider: $1" for ""
            - id | string | "- id: $1" for ""
            - endpoint | string | "- endpoint: $1" for ""
            - apiKey | object | "- apiKey:\n    secretKeyRef:\n      name: $1\n      key: $2" for ""
            - settings | object | "- settings:\n    $1" for ""
            - secretRefs | map of objects | "- secretRefs:\n    $1" for ""
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
            openai | remote::openai, of the distribution | "openai" for ""
            sentence-transformers | inline::sentence-transformers, of the distribution | "sentence-transformers" for ""
            bedrock | remote::bedrock, of the distribution | "bedrock" for ""
            azure | remote::azure, of the distribution | "azure" for ""
            anthropic | remote::anthropic, of the distribution | "anthropic" for ""
        "#]],
    );
}

#[test]
fn settings_of_the_provider() {
    check(
        &v1alpha2("providers:\n  inference:\n    - provider: vllm\n      settings:\n        $0"),
        expect![[r#"
            max_tokens | integer, default 4096 | "max_tokens: ${1:4096}" for ""
            tls_verify | boolean or path, default true | "tls_verify: ${1:true}" for ""
            allowed_models | list | "allowed_models:\n  - $1" for ""
            refresh_models | boolean, default false | "refresh_models: ${1:true}" for ""
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
        OGXServer | a whole resource | "apiVersion: ogx.io/v1beta1\nkind: OGXServer\nmetadata:\n  name: ${1:my-ogx}\nspec:\n  distribution:\n    name: ${2:starter}\n  providers:\n    inference:\n      remote:\n        vllm:\n          - id: ${3:vllm}\n            endpoint: ${4:http://vllm:8000/v1}\n  resources:\n    models:\n      - name: ${5:model}\n        provider: ${3:vllm}" for ""
        apiVersion |  | "apiVersion: llamastack.io/v1alpha2" for ""
        kind |  | "kind: LlamaStackDistribution" for ""
    "#]],
    );
    check(
        "apiVersion: $0",
        expect![[r#"
        llamastack.io/v1alpha2 | LlamaStackDistribution | "llamastack.io/v1alpha2" for ""
        llamastack.io/v1alpha1 | LlamaStackDistribution | "llamastack.io/v1alpha1" for ""
        ogx.io/v1beta1 | OGXServer | "ogx.io/v1beta1" for ""
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
            OLLAMA_URL | read by the distribution | "OLLAMA_URL" for ""
            OPENAI_API_KEY | read by the distribution | "OPENAI_API_KEY" for ""
            MILVUS_URL | read by the distribution | "MILVUS_URL" for ""
            PGVECTOR_HOST | read by the distribution | "PGVECTOR_HOST" for ""
            TAVILY_SEARCH_API_KEY | read by the distribution | "TAVILY_SEARCH_API_KEY" for ""
            SAFETY_MODEL | read by the distribution | "SAFETY_MODEL" for ""
            ANTHROPIC_API_KEY | read by the distribution | "ANTHROPIC_API_KEY" for ""
        "#]],
    );
}

/// The key's colon and value stay; no skeleton comes with the name.
#[test]
fn in_front_of_a_colon() {
    for text in ["$0: starter", "$0:", "$0 : starter", "n$0: starter"] {
        let (text, at) = cursor(&v1alpha2(&format!("distribution:\n  {text}")));
        let offers = ide::complete(&analyse(&text), at);
        let name = offers.iter().find(|item| item.label == "name").unwrap();
        let typed = &text[name.insert.span.start..name.insert.span.end];
        assert_eq!((name.insert.new_text.as_str(), name.snippet), ("name", false), "{text}");
        assert!("n".starts_with(typed), "{typed}");
    }
    check(
        &v1alpha2("providers:\n  inference:\n    - $0: vllm\n      endpoint: http://vllm:8000/v1\n"),
        expect![[r#"
        provider | string, required | "provider" for ""
        id | string | "id" for ""
        apiKey | object | "apiKey" for ""
        settings | object | "settings" for ""
        secretRefs | map of objects | "secretRefs" for ""
    "#]],
    );
    check(
        &v1alpha2("distribution: {name: starter}\n$0:\n  inference: []\n  safety: []\nworkload: {}\n"),
        expect![[r#"
            providers | object | "providers" for ""
            resources | object | "resources" for ""
            storage | object | "storage" for ""
            networking | object | "networking" for ""
            disabled | list of strings | "disabled" for ""
            overrideConfig | object | "overrideConfig" for ""
            externalProviders | object | "externalProviders" for ""
        "#]],
    );
}

/// Between brackets skeletons are in flow style, and an entry that follows keeps its comma.
#[test]
fn between_brackets() {
    check(
        &v1alpha2("providers: {inference: [{provider: vllm, $0}]}"),
        expect![[r#"
        endpoint | string | "endpoint: $1" for ""
        apiKey | object | "apiKey: {secretKeyRef: {name: $1, key: $2}}" for ""
        id | string | "id: $1" for ""
        settings | object | "settings: {$1}" for ""
        secretRefs | map of objects | "secretRefs: {$1}" for ""
    "#]],
    );
    check(
        &v1alpha2("workload: {$0}"),
        expect![[r#"
            replicas | integer, at least 0, default 1 | "replicas: ${1:1}" for ""
            workers | integer, at least 1 | "workers: $1" for ""
            resources | object | "resources: {$1}" for ""
            storage | object | "storage: {$1}" for ""
            overrides | object | "overrides: {$1}" for ""
            autoscaling | object | "autoscaling: {maxReplicas: $1}" for ""
            podDisruptionBudget | object | "podDisruptionBudget: {$1}" for ""
            topologySpreadConstraints | list of objects | "topologySpreadConstraints: [{maxSkew: $1, topologyKey: $2, whenUnsatisfiable: $3}]" for ""
        "#]],
    );
    check(
        &v1alpha2("workload: { $0 replicas: 2}"),
        expect![[r#"
            workers | integer, at least 1 | "workers: $1, " for ""
            resources | object | "resources: {$1}, " for ""
            storage | object | "storage: {$1}, " for ""
            overrides | object | "overrides: {$1}, " for ""
            autoscaling | object | "autoscaling: {maxReplicas: $1}, " for ""
            podDisruptionBudget | object | "podDisruptionBudget: {$1}, " for ""
            topologySpreadConstraints | list of objects | "topologySpreadConstraints: [{maxSkew: $1, topologyKey: $2, whenUnsatisfiable: $3}], " for ""
        "#]],
    );
    check(
        &v1alpha2("providers: {inference: [{$0: vllm}]}"),
        expect![[r#"
        provider | string, required | "provider" for ""
        id | string | "id" for ""
        endpoint | string | "endpoint" for ""
        apiKey | object | "apiKey" for ""
        settings | object | "settings" for ""
        secretRefs | map of objects | "secretRefs" for ""
    "#]],
    );
    check(
        &v1alpha2("disabled: [$0 eval]"),
        expect![[r#"
        eval | API | "eval, " for ""
        scoring | API | "scoring, " for ""
        datasetio | API | "datasetio, " for ""
        post_training | API | "post_training, " for ""
        batches | API | "batches, " for ""
        files | API | "files, " for ""
        agents | API | "agents, " for ""
        safety | API | "safety, " for ""
    "#]],
    );
    check(
        &v1alpha2("networking: {allowedFrom: $0}"),
        expect![[r#"
        … | object | "{$1}" for ""
    "#]],
    );
}

/// A key above lines that belong to it brings its colon and no skeleton.
#[test]
fn above_deeper_lines() {
    check(
        &v1alpha2("dist$0\n  name: starter\nworkload: {}\n"),
        expect![[r#"
        distribution | object, required | "distribution:" for "dist"
        providers | object | "providers:" for "dist"
        resources | object | "resources:" for "dist"
        storage | object | "storage:" for "dist"
        networking | object | "networking:" for "dist"
        disabled | list of strings | "disabled:" for "dist"
        overrideConfig | object | "overrideConfig:" for "dist"
        externalProviders | object | "externalProviders:" for "dist"
    "#]],
    );
}

#[test]
fn a_second_provider_has_the_keys_of_the_first() {
    check(
        &v1alpha2(
            "providers:\n  inference:\n    - id: a\n      provider: vllm\n      settings:\n        max_tokens: 1\n    - $0",
        ),
        expect![[r#"
            id | string | "id: $1" for ""
            provider | string, required | "provider: $1" for ""
            settings | object | "settings:\n    $1" for ""
            endpoint | string | "endpoint: $1" for ""
            apiKey | object | "apiKey:\n    secretKeyRef:\n      name: $1\n      key: $2" for ""
            secretRefs | map of objects | "secretRefs:\n    $1" for ""
        "#]],
    );
}

#[test]
fn one_key_in_place_of_another_comes_last() {
    check(
        &v1alpha2("distribution:\n  name: starter\n  $0"),
        expect![[r#"
        image | string, in place of name | "image: $1" for ""
    "#]],
    );
    check(
        &v1alpha2("distribution:\n  name: starter\nproviders: {}\n$0"),
        expect![[r#"
        resources | object | "resources:\n  $1" for ""
        storage | object | "storage:\n  $1" for ""
        networking | object | "networking:\n  $1" for ""
        workload | object | "workload:\n  $1" for ""
        disabled | list of strings | "disabled:\n  - $1" for ""
        externalProviders | object | "externalProviders:\n  $1" for ""
        overrideConfig | object, in place of providers | "overrideConfig:\n  configMapName: $1" for ""
    "#]],
    );
}

/// A provider's own id, ids that models refer to, and the resource's name tell which types are meant.
#[test]
fn provider_types_that_the_resource_speaks_of() {
    let first = |text: &str| {
        let (text, at) = cursor(&v1alpha2(text));
        let offers = ide::complete(&analyse(&text), at);
        offers.into_iter().take(3).map(|item| item.label).collect::<Vec<_>>()
    };
    assert_eq!(first("providers:\n  inference:\n    - id: groq-eu\n      provider: $0")[0], "groq");
    assert_eq!(
        first("providers:\n  inference:\n    - endpoint: https://x.openai.azure.com\n      provider: $0")[..2],
        ["openai", "azure"]
    );
    assert_eq!(
        first("providers:\n  inference:\n    - provider: $0\nresources:\n  models:\n    - {name: m, provider: gemini}")
            [0],
        "gemini"
    );
}

#[test]
fn a_type_that_the_list_has_is_not_among_the_first() {
    check(
        &v1alpha2("providers:\n  inference:\n    - {id: a, provider: vllm}\n    - provider: $0"),
        expect![[r#"
        ollama | remote::ollama | "ollama" for ""
        openai | remote::openai | "openai" for ""
        sentence-transformers | inline::sentence-transformers | "sentence-transformers" for ""
        bedrock | remote::bedrock | "bedrock" for ""
        vllm | remote::vllm | "vllm" for ""
        watsonx | remote::watsonx | "watsonx" for ""
        azure | remote::azure | "azure" for ""
        anthropic | remote::anthropic | "anthropic" for ""
    "#]],
    );
}

#[test]
fn items_bring_their_dash_where_none_is() {
    check(
        &v1alpha2("disabled:\n  - eval\n  $0\n"),
        expect![[r#"
        - scoring | API | "- scoring" for ""
        - datasetio | API | "- datasetio" for ""
        - post_training | API | "- post_training" for ""
        - batches | API | "- batches" for ""
        - files | API | "- files" for ""
        - agents | API | "- agents" for ""
        - safety | API | "- safety" for ""
        - file_processors | API | "- file_processors" for ""
    "#]],
    );
    check(
        &v1alpha2("resources:\n  models:\n    - name: a\n    $0\n"),
        expect![[r#"
        - name | string, required | "- name: $1" for ""
        - provider | string | "- provider: $1" for ""
        - contextLength | integer, at least 1 | "- contextLength: $1" for ""
        - modelType | string | "- modelType: $1" for ""
        - quantization | string | "- quantization: $1" for ""
    "#]],
    );
}

/// Directly behind a colon with a value, the value is what is written anew.
#[test]
fn in_front_of_a_value() {
    check(
        &v1alpha2("distribution:\n  name:$0 starter\n"),
        expect![[r#"
        starter | llama-stack 0.4.7 | " starter" for " starter"
        remote-vllm | llama-stack 0.4.7 | " remote-vllm" for " starter"
        meta-reference-gpu | llama-stack 0.4.7 | " meta-reference-gpu" for " starter"
        postgres-demo | llama-stack 0.4.7 | " postgres-demo" for " starter"
    "#]],
    );
}

/// In columns that fit no level nothing is offered.
#[test]
fn nothing_that_would_break_the_file() {
    check(&v1alpha2("distribution:\n  name: starter\n    $0\n"), expect![[""]]);
    check(&v1alpha2("distribution:\n$0\n  name: starter\n"), expect![[""]]);
}

/// An image tells nothing about variables; most are made from the starter distribution.
#[test]
fn variables_of_an_image() {
    let text = "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nspec:\n  server:\n    distribution:\n      image: example.com/x:1\n    containerSpec:\n      env:\n        - name: VLLM_URL\n        - name: $0";
    check(
        text,
        expect![[r#"
        VLLM_API_TOKEN | read by the starter distribution | "VLLM_API_TOKEN" for ""
        VLLM_TLS_VERIFY | read by the starter distribution | "VLLM_TLS_VERIFY" for ""
        VLLM_MAX_TOKENS | read by the starter distribution | "VLLM_MAX_TOKENS" for ""
        OLLAMA_URL | read by the starter distribution | "OLLAMA_URL" for ""
        OPENAI_API_KEY | read by the starter distribution | "OPENAI_API_KEY" for ""
        MILVUS_URL | read by the starter distribution | "MILVUS_URL" for ""
        PGVECTOR_HOST | read by the starter distribution | "PGVECTOR_HOST" for ""
        TAVILY_SEARCH_API_KEY | read by the starter distribution | "TAVILY_SEARCH_API_KEY" for ""
    "#]],
    );
}

/// The resource's fields write APIs in another way, and that is taken up.
#[test]
fn apis_as_fields_spell_them() {
    let (text, at) = cursor(&v1alpha2("disabled: [postT$0]"));
    let offers = ide::complete(&analyse(&text), at);
    assert_eq!((offers[0].label.as_str(), offers[0].insert.new_text.as_str()), ("postTraining", "postTraining"));
}
