//! The steps of the move to ogx, as `llsd migrate --to ogx --plan` prints them.

use super::ogx::{CONFIG, OLD};
use super::*;

#[test]
fn the_plan_shows_the_new_operator_what_is_to_be_adopted_before_anything_is_deleted() {
    let folder = Folder::new("ogx-plan");
    folder.write("old.yaml", OLD);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--plan", "old.yaml"]);
    expect![[r##"
        # 1. Stop the old operator. Its CRD stays: deleting it deletes every resource.
        kubectl -n llama-stack-k8s-operator-system scale deployment llama-stack-k8s-operator-controller-manager --replicas=0

        # 2. Save what there is, and keep the volumes whatever happens.
        kubectl -n ai get llamastackdistribution chat -o yaml | sed '/^  \(creationTimestamp\|generation\|resourceVersion\|uid\): /d' > chat.yaml.saved
        kubectl patch persistentvolume "$(kubectl -n ai get pvc chat-pvc -o jsonpath={.spec.volumeName})" -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'

        # 3. Show the new operator what the old one made.
        kubectl -n ai label deployment/chat pvc/chat-pvc service/chat-service app.kubernetes.io/managed-by=ogx-operator --overwrite
        kubectl -n ai label ingress/chat-ingress app.kubernetes.io/managed-by=ogx-operator --overwrite || true   # only if there is one

        # 4. Label the Secrets and ConfigMaps that are in none of the files.
        kubectl -n ai label configmap/config ogx.io/watch=true --overwrite

        # 5. Name the owner as the new operator knows it: it refuses children of v1alpha2.
        kubectl -n ai patch pvc/chat-pvc --type=json -p '[{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"llamastack.io/v1alpha1"}]' || true   # only if it has an owner
        kubectl -n ai patch service/chat-service --type=json -p '[{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"llamastack.io/v1alpha1"}]' || true   # only if it has an owner
        kubectl -n ai patch ingress/chat-ingress --type=json -p '[{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"llamastack.io/v1alpha1"}]' || true   # only if it has an owner

        # 6. Write the new resources (`llsd migrate --to ogx --write`), and apply them.
        kubectl apply -f old.yaml

        # 7. Wait, and look whether the volumes belong to nobody any more.
        kubectl -n ai wait ogxserver/chat-ogx --for=jsonpath={.status.phase}=Ready --timeout=10m
        kubectl -n ai get pvc chat-pvc -o jsonpath={.metadata.ownerReferences}   # must print nothing

        # 8. Delete the old resources. Not before.
        kubectl -n ai delete llamastackdistribution chat

        # 9. Move clients to the new Services (<new name>-service); then give up the adopted ones, which deletes them.
        kubectl -n ai annotate ogxserver/chat-ogx ogx.io/adopt-networking-

        # 10. To go back, up to the deletion of the old resources:
        kubectl -n ai delete ogxserver chat-ogx   # the volume stays
        kubectl -n ai label pvc/chat-pvc app.kubernetes.io/managed-by=llama-stack-operator app.kubernetes.io/instance=chat ogx.io/adopted-from- --overwrite
        kubectl -n ai label deployment/chat app.kubernetes.io/managed-by=llama-stack-operator --overwrite
        kubectl -n llama-stack-k8s-operator-system scale deployment llama-stack-k8s-operator-controller-manager --replicas=1
    "##]]
    .assert_eq(&ran.out);
    assert_eq!(folder.read("old.yaml"), OLD);
    let ran = folder.llsd(&["migrate", "--to", "0.9.9", "old.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn the_plan_applies_the_folders_that_are_built() {
    let folder = Folder::new("ogx-plan-built");
    folder.write("base/old.yaml", OLD);
    folder.write("base/kustomization.yaml", "resources: [old.yaml]\n");
    folder.write("test/kustomization.yaml", "resources: [../base]\npatches:\n- path: more.yaml\n");
    folder.write("test/more.yaml", OLD.split("spec:").next().unwrap().to_owned() + "spec:\n  replicas: 3\n");
    folder.write(
        "live/kustomization.yaml",
        "resources: [../base]\nconfigMapGenerator:\n- {name: c, files: [config.yaml]}\n",
    );
    folder.write("alone.yaml", OLD.replace("name: chat", "name: alone"));
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--plan", "."]);
    let applied: Vec<&str> =
        ran.out.lines().filter(|line| line.starts_with("kubectl apply") && !line.ends_with("saved")).collect();
    assert_eq!(
        applied,
        ["kubectl apply -f alone.yaml", "kubectl apply -k live", "kubectl apply -k test"],
        "{}",
        ran.err
    );
}

#[test]
fn the_plan_of_what_a_cluster_has_is_made_of_what_kubectl_prints() {
    let item = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect::<String>().replacen("  ", "- ", 1);
    let list = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item(OLD), item(CONFIG));
    let ran = llsd_reads(&["migrate", "--to", "ogx", "--plan", "-"], list.as_bytes());
    assert!(ran.out.contains("get configmap config -o yaml"), "{}", ran.out);
    let step = "Apply the new resources. resources.yaml: what this plan was made of.\nllsd migrate --to ogx \
                --allow-changes - < resources.yaml | kubectl apply -f -\n";
    assert!(ran.out.contains(step), "{}", ran.out);
}

#[test]
fn there_is_no_plan_for_nothing() {
    let folder = Folder::new("ogx-plan-nothing");
    folder.write("new.yaml", "apiVersion: ogx.io/v1beta1\nkind: OGXServer\nmetadata: {name: a}\n");
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--plan", "new.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("new.yaml has no LlamaStackDistribution; nothing to migrate"), "{}", ran.err);
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--plan", "missing.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    for option in ["--plan", "--same-name"] {
        let ran = folder.llsd(&["migrate", "--to", "1.5.0", option, "new.yaml"]);
        let told = format!("{option} is for resources: use it with --to ogx");
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(&told), "{} {}", ran.out, ran.err);
    }
}

#[test]
fn what_files_say_stays_one_word_of_a_command() {
    let folder = Folder::new("ogx-plan-words");
    folder.write("a; b.yaml", OLD.replace("configMapName: config", "configMapName: \"x; touch y\""));
    let ran = folder.llsd(&["migrate", "--to", "ogx", "--plan", "."]);
    assert!(ran.out.contains("kubectl apply -f 'a; b.yaml'\n"), "{}", ran.out);
    let label = "kubectl -n ai label 'configmap/x; touch y' ogx.io/watch=true --overwrite";
    assert!(ran.out.contains(label) && ran.err.contains(label), "{} {}", ran.out, ran.err);
}
