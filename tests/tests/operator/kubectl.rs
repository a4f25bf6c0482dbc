//! The resource in the hands of kubectl.

use crate::operator::setup::world;
use llsd_tests::operator::kubectl;

fn run(arguments: &[&str], input: &str) -> String {
    kubectl(world().cluster, arguments, input).unwrap_or_else(|error| panic!("kubectl {arguments:?}: {error}"))
}

const NEWER: &str = "
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: newer
spec:
  distribution:
    name: starter
  providers:
    inference:
      - provider: vllm
        endpoint: http://vllm:8000/v1
";

const OLDER: &str = "
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: older
spec:
  server:
    distribution:
      name: starter
    containerSpec:
      port: 9000
";

#[test]
fn a_day_with_kubectl() {
    let _ = world();
    let namespaced = |arguments: &[&str], input: &str| run(&[&["-n", "kubectl"], arguments].concat(), input);
    run(&["create", "namespace", "kubectl"], "");
    namespaced(&["apply", "-f", "-"], NEWER);
    namespaced(&["apply", "-f", "-"], OLDER);
    for name in ["llsd/newer", "llsd/older"] {
        namespaced(&["wait", "--for=condition=Available", "--timeout=300s", name], "");
        namespaced(&["wait", "--for=jsonpath={.status.phase}=Ready", "--timeout=300s", name], "");
    }

    let columns = |text: &str| {
        text.lines()
            .next()
            .unwrap_or_default()
            .split("  ")
            .map(str::trim)
            .map(str::to_owned)
            .filter(|column| !column.is_empty())
            .collect::<Vec<_>>()
    };
    let table = namespaced(&["get", "llsd", "newer"], "");
    assert_eq!(columns(&table), ["NAME", "PHASE", "PROVIDERS", "AVAILABLE", "AGE"], "{table}");
    let row: Vec<_> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((row[0], row[1], row[3]), ("newer", "Ready", "1"), "{table}");
    assert!(row[2].parse::<u32>().unwrap() > 0, "{table}");
    let table = namespaced(&["get", "llsd", "newer", "-o", "wide"], "");
    assert!(table.contains("DISTRIBUTION") && table.contains("CONFIG"), "{table}");
    assert!(table.contains("docker.io/llamastack/distribution-starter:0.4.7"), "{table}");
    assert!(table.contains("newer-config-"), "{table}");
    let table = namespaced(&["get", "llamastackdistributions.v1alpha1.llamastack.io", "older"], "");
    assert_eq!(columns(&table), ["NAME", "PHASE", "OPERATOR VERSION", "SERVER VERSION", "AVAILABLE", "AGE"], "{table}");

    let text = run(&["explain", "llsd.spec.providers.inference.apiKey"], "");
    assert!(text.contains("secretKeyRef") && text.contains("DESCRIPTION"), "{text}");
    let text = run(&["explain", "llsd.spec.server.containerSpec", "--api-version=llamastack.io/v1alpha1"], "");
    assert!(text.contains("port"), "{text}");

    // Both in the version that they were not written in.
    let change = "[{\"op\": \"replace\", \"path\": \"/spec/networking/port\", \"value\": 9001}]";
    namespaced(&["patch", "llsd", "older", "--type=json", "-p", change], "");
    namespaced(
        &[
            "wait",
            "--for=jsonpath={.spec.server.containerSpec.port}=9001",
            "llamastackdistributions.v1alpha1.llamastack.io/older",
        ],
        "",
    );
    namespaced(&["wait", "--for=jsonpath={.spec.ports[0].port}=9001", "service/older-service", "--timeout=300s"], "");
    let change = "{\"spec\": {\"replicas\": 2}}";
    let older = "llamastackdistributions.v1alpha1.llamastack.io";
    namespaced(&["patch", older, "newer", "--type=merge", "-p", change], "");
    namespaced(&["wait", "--for=jsonpath={.spec.replicas}=2", "deployment/newer", "--timeout=300s"], "");
    let kept = namespaced(&["get", "llsd", "newer", "-o", "jsonpath={.spec.providers.inference[0].endpoint}"], "");
    assert_eq!(kept, "http://vllm:8000/v1");
    // Applied again, as pipelines do all day.
    namespaced(&["apply", "-f", "-"], NEWER);
    namespaced(&["diff", "-f", "-"], NEWER);

    let refused = kubectl(world().cluster, &["-n", "kubectl", "apply", "-f", "-"], &NEWER.replace("vllm\n", "vlllm\n"));
    assert!(refused.unwrap_err().contains("vlllm"), "the admission webhook knows the providers");
    let text = namespaced(&["describe", "llsd", "newer"], "");
    assert!(text.contains("ConfigGenerated"), "{text}");
    namespaced(&["delete", "llsd", "newer", "older", "--wait", "--timeout=300s"], "");
}
