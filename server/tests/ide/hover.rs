use crate::support::{analyse, cursor, v1alpha2};
use expect_test::{Expect, expect};
use llsd::ide;

fn check(text: &str, expected: Expect) {
    let (text, at) = cursor(text);
    let found = ide::hover(&analyse(&text), at);
    expected.assert_eq(&found.map_or("nothing".to_owned(), |hover| {
        format!("[{}]\n{}\n", &text[hover.span.start..hover.span.end], hover.markdown)
    }));
}

const ONE: &str = "distribution:\n  name: starter\nproviders:\n  inference:\n    - provider: vllm\n      endpoint: http://vllm:8000/v1\n";

#[test]
fn a_field_says_its_type_and_meaning() {
    check(
        &v1alpha2(&ONE.replace("endpoint", "end$0point")),
        expect![[r#"
        [endpoint]
        **endpoint** · string

        Address of the service, for remote types. Goes to the setting that this type reads it from.

        In the generated config.yaml:
        ```yaml
        base_url: http://vllm:8000/v1
        ```
    "#]],
    );
}

#[test]
fn a_provider_says_what_it_becomes() {
    check(
        &v1alpha2(&ONE.replace("provider: vllm", "provider: v$0llm")),
        expect![[r#"
        [vllm]
        **provider** · string, required

        The provider type: `vllm`, or with its kind `remote::vllm`, `inline::sentence-transformers`.

        `remote::vllm` for inference, llama-stack 0.4.7

        A vLLM server.

        `apiKey` goes to `api_token`

        Settings:
        - `allowed_models` list
        - `api_token` string, secret
        - `base_url` string, required
        - `max_tokens` integer, default `4096`
        - `refresh_models` boolean, default `false`
        - `tls_verify` value, default `true`

        In the generated config.yaml:
        ```yaml
        - provider_id: vllm
          provider_type: remote::vllm
        ```
    "#]],
    );
}

#[test]
fn a_distribution_says_its_image() {
    check(
        &v1alpha2(&ONE.replace("starter", "star$0ter")),
        expect![[r#"
        [starter]
        **name** · string

        A distribution that the operator knows, such as `starter`. It brings the image and a base configuration.

        Image `docker.io/llamastack/distribution-starter:0.4.7`, llama-stack 0.4.7
    "#]],
    );
}

#[test]
fn a_setting_comes_from_the_catalog() {
    let text = format!("{ONE}      settings:\n        max_tok$0ens: 10\n");
    check(
        &v1alpha2(&text),
        expect![[r#"
        [max_tokens]
        **max_tokens** · integer, default `4096`, of `remote::vllm`

        Longest answer, in tokens, for requests that name no limit.

        In the generated config.yaml:
        ```yaml
        max_tokens: 10
        ```
    "#]],
    );
}

#[test]
fn an_environment_expression_is_put_in_words() {
    let text = format!("{ONE}      settings:\n        tls_verify: ${{env.TLS_VER$0IFY:=true}}\n");
    check(
        &v1alpha2(&text),
        expect![[r#"
        [${env.TLS_VERIFY:=true}]
        The environment variable `TLS_VERIFY`; `true` if it is unset or empty
    "#]],
    );
}

#[test]
fn other_documents_have_none() {
    check("apiVersion: v1\nkind: Sec$0ret\n", expect!["nothing"]);
    check("a: $0b\n", expect!["nothing"]);
}
