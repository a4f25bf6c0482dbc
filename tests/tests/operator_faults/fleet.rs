//! Some resources and what has to become of them.

use llsd_generator::api::crd::crd;
use llsd_test_client::comes_about;
use llsd_tests::cluster::{Cluster, Lent, Request};
use llsd_tests::operator::{Audit, Namespace, Operator, wait_until};
use serde_json::{Value, json};

/// An API server of a test's own.
pub(crate) fn cluster() -> Lent {
    let cluster = Cluster::own();
    cluster.install_crds(std::slice::from_ref(crd())).unwrap();
    cluster.lend()
}

/// Starts an operator without webhooks and waits until it is ready.
pub(crate) fn operator(cluster: &Cluster, arguments: &[&str], env: &[(&str, &str)]) -> Operator {
    let all = [&["--enable-webhooks=false"], arguments].concat();
    let mut operator = Operator::start_with(cluster, "default", &all, env);
    operator.wait_ready();
    operator
}

/// Resources `r-0` to `r-N` of a namespace.
#[derive(Clone)]
pub(crate) struct Fleet {
    pub(crate) namespace: Namespace,
    count: usize,
}

impl Fleet {
    pub(crate) fn new(cluster: &'static Cluster, name: &str, count: usize) -> Self {
        Self { namespace: Namespace::create(cluster, name), count }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        (0..self.count).map(|number| format!("r-{number}"))
    }

    /// What a resource of the fleet asks for.
    pub(crate) fn spec(port: u16) -> Value {
        json!({
            "distribution": {"name": "starter"},
            "providers": {"inference": [{"provider": "vllm", "endpoint": format!("http://vllm:{port}/v1")}]},
            "networking": {"port": port},
        })
    }

    /// Asks for all of them to have this port, whether they are there yet or not. Returns how many requests were
    /// carried out: the API server may be gone.
    pub(crate) fn try_write(&self, port: u16) -> usize {
        let cluster = self.namespace.cluster();
        let written = self.names().filter(|name| {
            let object = json!({
                "apiVersion": "llamastack.io/v1alpha2",
                "kind": "LlamaStackDistribution",
                "metadata": {"name": name},
                "spec": Self::spec(port),
            });
            let place = self.namespace.path("llamastackdistributions", name);
            cluster.try_send(Request::apply(place, "tests", &object)).is_ok_and(|answer| answer.accepted())
        });
        written.count()
    }

    /// As [`Fleet::try_write`], until all are.
    pub(crate) fn write(&self, port: u16) {
        wait_until("all resources are written", || self.try_write(port) == self.count);
    }

    /// Waits until every resource has its children with this port, and its status speaks of what is asked for now.
    pub(crate) fn converges(&self, port: u16) {
        let mut late = None;
        let converged = comes_about(|| {
            late = self.names().find_map(|name| self.is_late(&name, port));
            late.is_none()
        });
        assert!(converged, "not converged on port {port}: {late:?}");
    }

    fn is_late(&self, name: &str, port: u16) -> Option<String> {
        let get = |plural: &str, name: &str| {
            let request = Request::get(self.namespace.path(plural, name));
            let answer = self.namespace.cluster().try_send(request).ok()?;
            answer.accepted().then_some(answer.body)
        };
        let Some(deployment) = get("deployments", name) else { return Some(format!("{name} has no Deployment")) };
        let pod = &deployment["spec"]["template"]["spec"];
        if pod["containers"][0]["ports"][0]["containerPort"] != port {
            return Some(format!("the Deployment of {name} has another port"));
        }
        let Some(service) = get("services", &format!("{name}-service")) else {
            return Some(format!("{name} has no Service"));
        };
        if service["spec"]["ports"][0]["port"] != port {
            return Some(format!("the Service of {name} has another port"));
        }
        let volumes = pod["volumes"].as_array().into_iter().flatten();
        let config = volumes.filter_map(|volume| volume["configMap"]["name"].as_str()).next().unwrap_or_default();
        let text = get("configmaps", config).map(|map| map["data"]["config.yaml"].to_string()).unwrap_or_default();
        if !text.contains(&format!("vllm:{port}/v1")) {
            return Some(format!("the configuration {config:?} of {name} has another endpoint"));
        }
        let status = get("llamastackdistributions", name).unwrap_or_default()["status"].take();
        (status["configGeneration"]["configMapName"] != config)
            .then(|| format!("the status of {name} names another configuration than {config:?}"))
    }

    /// What the operator made in the namespace and is still there.
    pub(crate) fn children(&self) -> Vec<String> {
        let label = "app.kubernetes.io/managed-by=llama-stack-operator";
        let kinds = ["configmaps", "deployments", "networkpolicies", "secrets", "serviceaccounts", "services"];
        let names = kinds.iter().flat_map(|kind| {
            let objects = self.namespace.list(kind, label).into_iter();
            objects.map(move |object| format!("{kind}/{}", object["metadata"]["name"].as_str().unwrap_or_default()))
        });
        names.collect()
    }

    /// That nothing is written any more, and nothing by an operator that is new here either.
    pub(crate) fn is_quiet(&self, operator: Operator, arguments: &[&str], env: &[(&str, &str)]) {
        let audit = Audit::from_now(self.namespace.cluster());
        let more = audit.settled(self.namespace.name());
        drop(operator);
        let audit = Audit::from_now(self.namespace.cluster());
        let operator = self::operator(self.namespace.cluster(), arguments, env);
        let again = audit.settled(self.namespace.name());
        assert_eq!(again, [], "after a start with nothing to do; before it: {more:?}");
        drop(operator);
    }
}
