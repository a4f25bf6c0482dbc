use crate::ide::support::{analyse, cursor, v1alpha2};
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
            - `tls_verify` boolean or path, default `true`

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

            **tls_verify** · boolean or path, default `true`, of `remote::vllm`

            Whether to check the server's certificate; or the path of the CA certificates.

            In the generated config.yaml:
            ```yaml
            tls_verify: ${env.TLS_VERIFY:=true}
            ```
        "#]],
    );
}

#[test]
fn other_documents_have_none() {
    check("apiVersion: v1\nkind: Sec$0ret\n", expect!["nothing"]);
    check("a: $0b\n", expect!["nothing"]);
}

#[test]
fn secrets_say_what_the_files_have() {
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: vllm\nstringData:\n  token: x\n  user: y\n";
    let text = format!("{ONE}      apiKey:\n        secretKeyRef:\n          name: vllm\n          key: token\n");
    check(
        &(v1alpha2(&text.replace("name: vllm", "name: vl$0lm")) + secret),
        expect![[r#"
        [vllm]
        **name** · string, required

        Name of a Secret in the same namespace.

        Secret `vllm` of the workspace, keys `token`, `user`
    "#]],
    );
    check(
        &(v1alpha2(&text.replace("key: token", "key: tok$0ens")) + secret),
        expect![[r#"
        [tokens]
        **key** · string, required

        The key whose value is used.

        Key `tokens` of Secret `vllm`: it has no such key
    "#]],
    );
    check(
        &v1alpha2(&text.replace("name: vllm", "name: vl$0lm")),
        expect![[r#"
        [vllm]
        **name** · string, required

        Name of a Secret in the same namespace.

        Secret `vllm`: not in the files of the workspace
    "#]],
    );
}

#[test]
fn provider_types_name_their_versions_and_needs() {
    check(
        &v1alpha2(
            "distribution:\n  name: starter\nproviders:\n  toolRuntime:\n    - provider: inline::rag-run$0time\n",
        ),
        expect![[r#"
            [inline::rag-runtime]
            **provider** · string, required

            The provider type: `vllm`, or with its kind `remote::vllm`, `inline::sentence-transformers`.

            `inline::rag-runtime` for tool_runtime, llama-stack 0.4.7

            Lets agents search documents in vector stores.

            Needs files, inference, vector_io

            Only in llama-stack 0.3.5, 0.4.7, 0.5.4, 0.6.1

            Settings:
            - `vector_stores_config` mapping

            In the generated config.yaml:
            ```yaml
            - provider_id: rag-runtime
              provider_type: inline::rag-runtime
            ```
        "#]],
    );
}

#[test]
fn a_disabled_api_says_what_goes() {
    check(
        &v1alpha2("distribution:\n  name: starter\ndisabled:\n  - ev$0al\n"),
        expect![[r#"
        [eval]
        Leaves out eval, with the distribution's providers `meta-reference`
    "#]],
    );
}

#[test]
fn generated_lines_say_where_they_come_from() {
    let files = crate::ide::files::Files::new(&v1alpha2(ONE));
    let preview = files.about_preview("main.yaml");
    let text = ide::preview(files.analysis("main.yaml"), 0).unwrap().text;
    let said = |needle: &str| {
        let at = text.find(needle).unwrap() + needle.len() - 1;
        ide::hover_generated(&preview, at)
            .map(|found| format!("[{}] {}", &text[found.span.start..found.span.end], found.markdown))
    };
    let all = ["base_url: http://vllm", "image_name: starter", "${env.TGI_URL", "version: 2"]
        .map(|needle| said(needle).unwrap_or_default());
    expect![[r#"
        [base_url: http://vllm:8000/v1] From the resource: `spec.providers.inference[0].endpoint`
        [image_name: starter] From the base config, line 7
        [${env.TGI_URL:+tgi}] `tgi` if the environment variable `TGI_URL` is set; nothing otherwise

        From the base config, line 37
        [version: 2] From the base config, line 6"#]]
    .assert_eq(&all.join("\n"));
}

/// An image whose tag tells nothing is read by the version that the settings assume.
#[test]
fn an_assumed_version_counts_where_the_image_tells_none() {
    let text = v1alpha2(&ONE.replace("name: starter", "image: registry.example/llama:latest"));
    let at = text.find("vllm").expect("the provider type") + 1;
    let hover = |assumed: Option<&str>| {
        let workspace = ide::Workspace::new().assuming(assumed);
        let analysis = ide::analyse(text.as_str().into(), None, &workspace);
        ide::hover(&analysis, at).expect("a hover").markdown
    };
    assert!(hover(None).contains("llama-stack 0.4.7 (the version of this image is not known)"), "{}", hover(None));
    let assumed = hover(Some("0.7.3"));
    assert!(assumed.contains("llama-stack 0.7.3") && !assumed.contains("not known"), "{assumed}");
    let preview = |assumed: Option<&str>| {
        let workspace = ide::Workspace::new().assuming(assumed);
        ide::preview(&ide::analyse(text.as_str().into(), None, &workspace), 0).expect("a preview").llama_stack_version
    };
    assert_eq!(preview(None), None);
    assert_eq!(preview(Some("0.7.3")).as_deref(), Some("0.7.3"));
}
