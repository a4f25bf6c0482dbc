#!/usr/bin/env python3
"""Makes the operator's bundle for the Operator Lifecycle Manager (OLM), of the objects that kustomize makes of the overlay
`cert-manager`: OLM makes the webhooks' certificate, and mounts it where that overlay does. The same input gives the same
bytes.

usage: [KUBECTL='kubectl …'] bundle.py DIR
  DIR  where the bundle goes; it must not exist: manifests/, metadata/, and bundle.Dockerfile for its image
"""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "llama-stack-k8s-operator"
HOME = "https://github.com/llamastack/llsd"

# What becomes part of the ClusterServiceVersion: OLM makes these objects itself.
TAKEN_IN = {
    "Deployment",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRoleBinding",
    "ValidatingWebhookConfiguration",
}
# What no bundle can have: OLM chooses the namespace and makes the certificate, and refuses these kinds or passes them over.
# Catalogs refuse a NetworkPolicy, which not every OLM in use knows.
LEFT_OUT = {
    "Namespace",
    "ResourceQuota",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "Certificate",
    "Issuer",
    "NetworkPolicy",
}
# Fields of a webhook that a description of OLM has, too. `matchConditions`, which it has not, only saves requests.
WEBHOOK = ("admissionReviewVersions", "failurePolicy", "matchPolicy", "rules", "sideEffects", "timeoutSeconds")
PORT = {"containerPort": 443, "targetPort": "webhook-server"}
DESCRIPTION = """\
Runs [llama-stack](https://github.com/llamastack/llama-stack), a server for AI models and agents, by resources of the kind
`LlamaStackDistribution`. With `v1alpha2` ten to twenty lines say which providers and models are wanted, and the 200 lines of
the server's configuration are generated. Mistakes are refused at `kubectl apply`, in words that say what to do.

Resources of `v1alpha1` keep working: they are converted on the way in and out.

OLM installs neither the NetworkPolicy around the operator nor the policy that keeps the definition of the resource from
being deleted by mistake. The documentation says what else is otherwise than with kubectl or Helm.
"""


def kubectl(arguments: list[str], text: str = "") -> str:
    """What kubectl prints; what it says of a failure ends this program."""
    command = [*shlex.split(os.environ.get("KUBECTL", "kubectl")), *arguments]
    ran = subprocess.run(command, input=text, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"bundle.py: {shlex.join(command[:3])}: {ran.stderr.strip()}")
    return ran.stdout


def rewritten(text: str, form: str) -> str:
    """Objects in JSON or YAML. To take away an annotation that is nowhere is kubectl's way to change nothing."""
    return kubectl(["annotate", "--local", "--filename=-", f"--output={form}", "llamastack.io/of-nobody-"], text)


def objects(text: str) -> list[dict]:
    """The objects in a text, without a namespace and without what cert-manager would read."""
    text, found = rewritten(text, "json"), []
    while text := text.lstrip():
        one, end = json.JSONDecoder().raw_decode(text)
        text = text[end:]
        found.append(one)
    for one in found:
        annotations = one["metadata"].pop("annotations", {})
        annotations.pop("cert-manager.io/inject-ca-from", None)
        if annotations:
            one["metadata"]["annotations"] = annotations
        one["metadata"].pop("namespace", None)
    return found


def deployment(found: list[dict]) -> dict:
    """The only Deployment, as OLM wants it: where the certificate is mounted, OLM mounts its own. Namespaces differ in whether
    pods may have the priority of the system, which takes a quota that a bundle cannot bring."""
    [one] = [one for one in found if one["kind"] == "Deployment"]
    pod = one["spec"]["template"]["spec"]
    del pod["priorityClassName"]
    certificates = {volume["name"] for volume in pod.pop("volumes")}
    for container in pod["containers"]:
        mounts = container.pop("volumeMounts")
        assert {mount["name"] for mount in mounts} == certificates, "a volume that is no certificate"
    return {"name": one["metadata"]["name"], "label": one["metadata"]["labels"], "spec": one["spec"]}


def permissions(found: list[dict], scope: str) -> list[dict]:
    """The rules of all roles of a scope that are bound, by service account."""
    roles = {one["metadata"]["name"]: one["rules"] for one in found if one["kind"] == f"{scope}Role"}
    rules: dict[str, list] = {}
    for binding in (one for one in found if one["kind"] == f"{scope}RoleBinding"):
        for subject in binding["subjects"]:
            rules.setdefault(subject["name"], []).extend(roles[binding["roleRef"]["name"]])
    return [{"serviceAccountName": name, "rules": rules} for name, rules in rules.items()]


def webhooks(found: list[dict], name: str) -> list[dict]:
    """The webhooks of the objects, for a Deployment."""
    described = []
    for one in found:
        if one["kind"] == "ValidatingWebhookConfiguration":
            for hook in one["webhooks"]:
                described.append(
                    {key: hook[key] for key in WEBHOOK if key in hook}
                    | {
                        "type": "ValidatingAdmissionWebhook",
                        "generateName": hook["name"],
                        "webhookPath": hook["clientConfig"]["service"]["path"],
                    }
                )
        if one["kind"] == "CustomResourceDefinition":
            conversion = one["spec"]["conversion"]["webhook"]
            described.append(
                {
                    "type": "ConversionWebhook",
                    "generateName": f"convert.{one['metadata']['name']}",
                    "admissionReviewVersions": conversion["conversionReviewVersions"],
                    "conversionCRDs": [one["metadata"]["name"]],
                    "sideEffects": "None",
                    "webhookPath": conversion["clientConfig"]["service"]["path"],
                }
            )
    return [hook | PORT | {"deploymentName": name} for hook in described]


def owned(definition: dict) -> list[dict]:
    """What a definition defines, once for each version."""
    names = definition["spec"]["names"]
    return [
        {
            "name": definition["metadata"]["name"],
            "kind": names["kind"],
            "version": version["name"],
            "displayName": "Llama Stack Distribution",
            "description": "A server of llama-stack with its providers and models",
        }
        for version in definition["spec"]["versions"]
    ]


def cluster_service_version(found: list[dict], version: str) -> dict:
    """What OLM installs."""
    [definition] = [one for one in found if one["kind"] == "CustomResourceDefinition"]
    manager = deployment(found)
    [container] = manager["spec"]["template"]["spec"]["containers"]
    examples = [objects((ROOT / f"samples/{name}.yaml").read_text())[0] for name in ("minimal", "v1alpha1-env")]
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": f"{PACKAGE}.v{version}",
            # OLM puts the one in that it installs into; the form of the bundle wants one.
            "namespace": "placeholder",
            "annotations": {
                "alm-examples": json.dumps(examples, indent=2),
                "capabilities": "Basic Install",
                "categories": "AI/Machine Learning",
                "containerImage": container["image"],
                "description": "Runs llama-stack servers by short resources, which it checks and completes.",
                "operatorframework.io/suggested-namespace": f"{PACKAGE}-system",
                "repository": HOME,
            },
        },
        "spec": {
            "displayName": "Llama Stack",
            "description": DESCRIPTION,
            "version": version,
            "maturity": "alpha",
            "minKubeVersion": "1.31.0",
            "keywords": ["llama-stack", "ogx", "AI", "LLM"],
            "links": [{"name": "Documentation", "url": f"{HOME}/blob/main/docs/operator.md"}],
            "provider": {"name": "llsd", "url": HOME},
            # OLM lets an operator that converts look after all namespaces only.
            "installModes": [
                {"type": kind, "supported": kind == "AllNamespaces"}
                for kind in ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
            ],
            "customresourcedefinitions": {"owned": owned(definition)},
            "install": {
                "strategy": "deployment",
                "spec": {
                    "deployments": [manager],
                    "permissions": permissions(found, ""),
                    "clusterPermissions": permissions(found, "Cluster"),
                },
            },
            "webhookdefinitions": webhooks(found, manager["name"]),
            "relatedImages": [{"name": container["name"], "image": container["image"]}],
        },
    }


def manifests(found: list[dict], version: str) -> dict[str, dict]:
    """The objects of the bundle, by the names of their files."""
    bound = {one["roleRef"]["name"] for one in found if one["kind"] == "ClusterRoleBinding"}
    # OLM makes a Service for the webhooks, and says what the definition converts by.
    [webhook] = {
        one["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"]
        for one in found
        if one["kind"] == "CustomResourceDefinition"
    }
    files = {"clusterserviceversion": cluster_service_version(found, version)}
    for one in found:
        kind, name = one["kind"], one["metadata"]["name"]
        if kind in TAKEN_IN | LEFT_OUT or (kind == "ClusterRole" and name in bound) or name == webhook:
            continue
        if kind == "CustomResourceDefinition":
            del one["spec"]["conversion"]
        files[f"{name}_{kind.lower()}"] = one
    return files


def annotations() -> dict[str, str]:
    """What a registry reads of the bundle, as labels of its image and as a file in it."""
    prefix = "operators.operatorframework.io.bundle"
    return {
        f"{prefix}.mediatype.v1": "registry+v1",
        f"{prefix}.manifests.v1": "manifests/",
        f"{prefix}.metadata.v1": "metadata/",
        f"{prefix}.package.v1": PACKAGE,
        f"{prefix}.channels.v1": "alpha",
        f"{prefix}.channel.default.v1": "alpha",
    }


def main() -> None:
    """Writes the bundle."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    if out.exists():
        sys.exit(f"bundle.py: {out} is there already")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    files = manifests(objects(kubectl(["kustomize", str(ROOT / "operator/deploy/overlays/cert-manager")])), version)
    texts = {f"manifests/{PACKAGE}.{name}.yaml": rewritten(json.dumps(one), "yaml") for name, one in files.items()}
    listed = "".join(f"  {key}: {value}\n" for key, value in annotations().items())
    texts["metadata/annotations.yaml"] = f"annotations:\n{listed}"
    labels = "".join(f"LABEL {key}={value}\n" for key, value in annotations().items())
    texts["bundle.Dockerfile"] = f"FROM scratch\n{labels}COPY manifests /manifests/\nCOPY metadata /metadata/\n"
    for name, text in texts.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
