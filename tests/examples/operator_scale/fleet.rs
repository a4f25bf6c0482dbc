//! The resources that the operator looks after here, and what happens to them.

use futures_util::{StreamExt as _, TryStreamExt as _};
use kube::api::{Api, DynamicObject, ListParams, WatchEvent, WatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use llsd_operator::served::Served;
use llsd_tests::cluster::{Answer, Cluster, Request};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

const NAMESPACES: usize = 10;
const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";
/// After so long something is wrong, not slow.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) struct Fleet<'a> {
    cluster: &'a Cluster,
    of: &'static Served,
    /// Namespace and name of every resource.
    members: Vec<(String, String)>,
}

/// The change of one environment value, as a merge patch.
pub(crate) fn changed_value() -> Value {
    json!({"spec": {"workload": {"overrides": {"env": env("changed")}}}})
}

fn env(value: &str) -> Value {
    json!([{"name": "OLLAMA_URL", "value": "http://ollama.models.svc:11434"}, {"name": "SETTING", "value": value}])
}

/// One with a volume. Both kinds say it in the same words.
fn resource(of: &Served, name: &str) -> Value {
    json!({
        "apiVersion": of.version.api_version(),
        "kind": of.kind().name(),
        "metadata": {"name": name},
        "spec": {
            "distribution": {"name": "starter"},
            "workload": {"storage": {"size": "10Gi"}, "overrides": {"env": env("first")}},
        },
    })
}

fn one(of: &Served, namespace: &str, name: &str) -> String {
    format!("/apis/{}/namespaces/{namespace}/{}/{name}", of.version.api_version(), of.plural)
}

fn refuse_failures(answers: &[Answer]) {
    if let Some(answer) = answers.iter().find(|answer| !answer.accepted()) {
        panic!("{}: {}", answer.status, answer.message());
    }
}

fn kind(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// One condition that is waited for.
struct Follow {
    told: mpsc::Receiver<Instant>,
    task: JoinHandle<kube::Result<()>>,
}

/// Conditions that are waited for together.
pub(crate) struct Following(Vec<Follow>);

impl Following {
    /// When the last of them was met.
    pub(crate) fn wait(self, cluster: &Cluster) -> Instant {
        let met = self.0.into_iter().map(|follow| {
            follow.told.recv_timeout(PATIENCE).unwrap_or_else(|_| {
                follow.task.abort();
                panic!("waited in vain: {:?}", cluster.runtime().block_on(follow.task));
            })
        });
        met.max().expect("something to wait for")
    }
}

impl<'a> Fleet<'a> {
    /// Creates the namespaces and the resources, which are of the kind `of`.
    pub(crate) fn new(cluster: &'a Cluster, of: &'static Served, size: usize) -> Self {
        let spaces: Vec<_> = (0..NAMESPACES).map(|number| format!("bench-{number}")).collect();
        let names = spaces.iter().map(String::as_str).chain(["ops"]);
        let namespaces = names.map(|name| {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            Request::post("/api/v1/namespaces", &namespace)
        });
        refuse_failures(&cluster.send_all(namespaces.collect()));
        let members: Vec<_> =
            (0..size).map(|number| (spaces[number % NAMESPACES].clone(), format!("llsd-{number:05}"))).collect();
        let creations = members
            .iter()
            .map(|(namespace, name)| Request::post(one(of, namespace, "").trim_end_matches('/'), &resource(of, name)));
        refuse_failures(&cluster.send_all(creations.collect()));
        Self { cluster, of, members }
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    fn items(&self, path: &str) -> Vec<Value> {
        let mut body = self.cluster.send(Request::get(path)).body;
        match body["items"].take() {
            Value::Array(items) => items,
            other => panic!("{path}: {other}"),
        }
    }

    /// Counts, by a watch that begins now, the objects of a kind of which an event satisfied `holds`, and tells when
    /// every resource has its own. A watch costs the machine, which is the operator's too, less than asking again and
    /// again, and its times are exact.
    fn follow(&self, kind: &ApiResource, holds: impl Fn(&DynamicObject) -> bool + Send + Sync + 'static) -> Follow {
        let root = if kind.group.is_empty() { "/api" } else { "/apis" };
        let first = format!("{root}/{}/{}?limit=1", kind.api_version, kind.plural);
        let start = self.cluster.send(Request::get(first)).body;
        let mut version = start["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
        let api: Api<DynamicObject> = Api::all_with(self.cluster.client(), kind);
        let wanted = self.len();
        let (tell, told) = mpsc::channel();
        let task = self.cluster.runtime().spawn(async move {
            let mut seen = HashSet::new();
            let look = |seen: &mut HashSet<_>, object: &DynamicObject| {
                if object.metadata.namespace.as_deref().is_some_and(|space| space.starts_with("bench-"))
                    && holds(object)
                {
                    seen.insert((object.metadata.namespace.clone(), object.metadata.name.clone()));
                }
            };
            while seen.len() < wanted {
                // The API server ends a watch after some minutes; the next one goes on from there.
                let mut events = api.watch(&WatchParams::default(), &version).await?.boxed();
                while let Some(event) = events.try_next().await? {
                    match event {
                        WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                            look(&mut seen, &object);
                            version = object.metadata.resource_version.unwrap_or_default();
                        }
                        WatchEvent::Bookmark(mark) => version = mark.metadata.resource_version,
                        WatchEvent::Deleted(_) => {}
                        // The definition of the resource has changed, and with it what the API server keeps of the past.
                        WatchEvent::Error(status) if status.code == 410 => {
                            let list = api.list(&ListParams::default()).await?;
                            list.items.iter().for_each(|object| look(&mut seen, object));
                            version = list.metadata.resource_version.unwrap_or_default();
                            break;
                        }
                        WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
                    }
                    if seen.len() >= wanted {
                        break;
                    }
                }
            }
            let _ = tell.send(Instant::now());
            Ok(())
        });
        Follow { told, task }
    }

    /// From now on: every resource has its Deployment, its Service and a phase.
    pub(crate) fn converging(&self) -> Following {
        let of = self.of;
        Following(vec![
            self.follow(&kind("apps", "v1", "Deployment"), |_| true),
            self.follow(&kind("", "v1", "Service"), |_| true),
            self.follow(&kind(of.kind().group(), of.version.name(), of.kind().name()), |resource| {
                resource.data["status"]["phase"].is_string()
            }),
        ])
    }

    /// Creates more resources, each after the one before has its Deployment. Milliseconds from the answer to the
    /// creation until the Deployment is seen by a watch, in ascending order.
    pub(crate) fn one_by_one(&mut self, count: usize) -> Vec<f64> {
        let api: Api<DynamicObject> = Api::all_with(self.cluster.client(), &kind("apps", "v1", "Deployment"));
        let mut taken = Vec::new();
        for number in 0..count {
            let (namespace, name) = (format!("bench-{}", number % NAMESPACES), format!("one-{number:03}"));
            let start = self.cluster.send(Request::get(format!("{DEPLOYMENTS}?limit=1"))).body;
            let version = start["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
            let api = api.clone();
            let wanted = name.clone();
            // The watch is open before the resource is created, so that the answer is not waited for twice.
            let (opened, open) = mpsc::channel();
            let seen = self.cluster.runtime().spawn(async move {
                let mut events = api.watch(&WatchParams::default(), &version).await?.boxed();
                let _ = opened.send(());
                while let Some(event) = events.try_next().await? {
                    if let WatchEvent::Added(object) = event
                        && object.metadata.name.as_deref() == Some(&wanted)
                    {
                        break;
                    }
                }
                Ok::<_, kube::Error>(Instant::now())
            });
            open.recv_timeout(PATIENCE).expect("a watch");
            let answer = self
                .cluster
                .send(Request::post(one(self.of, &namespace, "").trim_end_matches('/'), &resource(self.of, &name)));
            refuse_failures(&[answer]);
            let created = Instant::now();
            let seen = self.cluster.runtime().block_on(seen).expect("a task").expect("a watch");
            taken.push(seen.saturating_duration_since(created).as_secs_f64() * 1000.0);
            self.members.push((namespace, name));
        }
        taken.sort_by(f64::total_cmp);
        taken
    }

    /// Plays the controllers: Deployments are available, claims are bound.
    pub(crate) fn make_available(&self) {
        let path = |object: &Value, group: &str, plural: &str| {
            let part = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
            format!("{group}/namespaces/{}/{plural}/{}/status", part("namespace"), part("name"))
        };
        let deployments = self.items(DEPLOYMENTS).into_iter().map(|mut deployment| {
            let replicas = deployment["spec"]["replicas"].clone();
            deployment["status"] = json!({
                "observedGeneration": deployment["metadata"]["generation"],
                "replicas": replicas,
                "updatedReplicas": replicas,
                "readyReplicas": replicas,
                "availableReplicas": replicas,
                "conditions": [{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}],
            });
            deployment["apiVersion"] = json!("apps/v1");
            deployment["kind"] = json!("Deployment");
            Request::put(path(&deployment, "/apis/apps/v1", "deployments"), &deployment)
        });
        refuse_failures(&self.cluster.send_all(deployments.collect()));
        let claims = self.items("/api/v1/persistentvolumeclaims").into_iter().map(|mut claim| {
            claim["status"] = json!({
                "phase": "Bound",
                "capacity": claim["spec"]["resources"]["requests"],
                "accessModes": claim["spec"]["accessModes"],
            });
            claim["apiVersion"] = json!("v1");
            claim["kind"] = json!("PersistentVolumeClaim");
            Request::put(path(&claim, "/api/v1", "persistentvolumeclaims"), &claim)
        });
        refuse_failures(&self.cluster.send_all(claims.collect()));
    }

    /// How many resources are in the phase Ready.
    pub(crate) fn phases(&self) -> usize {
        let all = format!("/apis/{}/{}", self.of.version.api_version(), self.of.plural);
        self.items(&all).iter().filter(|resource| resource["status"]["phase"] == "Ready").count()
    }

    /// Applies a merge patch to every resource.
    pub(crate) fn change_all(&self, change: &Value) {
        let changes =
            self.members.iter().map(|(namespace, name)| Request::merge(one(self.of, namespace, name), change));
        refuse_failures(&self.cluster.send_all(changes.collect()));
    }

    /// From now on: every Deployment carries the changed value.
    pub(crate) fn changing(&self) -> Following {
        Following(vec![self.follow(&kind("apps", "v1", "Deployment"), |deployment| {
            let variables = &deployment.data["spec"]["template"]["spec"]["containers"][0]["env"];
            variables
                .as_array()
                .is_some_and(|variables| variables.iter().any(|variable| variable["value"] == "changed"))
        })])
    }

    /// Creates ConfigMaps and Secrets of 4 KiB that are nobody's.
    pub(crate) fn make_noise(&self) {
        let text = "x".repeat(4096);
        let object = |kind: &str, number: usize| {
            json!({
                "apiVersion": "v1",
                "kind": kind,
                "metadata": {"name": format!("noise-{number}")},
                if kind == "Secret" { "stringData" } else { "data" }: {"data": text},
            })
        };
        let maps = (0..2000)
            .map(|number| Request::post("/api/v1/namespaces/default/configmaps", &object("ConfigMap", number)));
        let secrets =
            (0..500).map(|number| Request::post("/api/v1/namespaces/default/secrets", &object("Secret", number)));
        refuse_failures(&self.cluster.send_all(maps.chain(secrets).collect()));
    }
}
