//! Flags and environment of the process. They are those of the Go operator where they mean the same.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Where the operator runs unless something says otherwise.
pub const DEFAULT_NAMESPACE: &str = "llama-stack-k8s-operator-system";
const ACCOUNT_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The operator for LlamaStackDistribution resources, and for OGXServer ones where it is told to
#[derive(Debug, Parser)]
#[command(name = "llsd-operator", version, about, max_term_width = 100)]
pub struct CommandLine {
    /// What to do; without one, run the operator
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to run
    #[command(flatten)]
    pub run: Settings,
}

/// Everything but running the operator.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the operator (the default)
    Run,
    /// Print the roles and bindings that the operator needs
    Manifests,
    /// Merge external providers into the config, in an init container
    #[command(name = "merge-config")]
    MergeConfig(crate::external::merge::Arguments),
}

/// How the operator runs.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// Address of the metrics, as ADDRESS:PORT or :PORT; 0 serves none
    #[arg(long, default_value = ":8080", value_parser = bind_address)]
    pub metrics_bind_address: Bind,
    /// Serve the metrics over TLS, and only to accounts that may "get" the non-resource URL /metrics
    #[arg(long, num_args = 0..=1, default_value_t = false, default_missing_value = "true", require_equals = true)]
    pub metrics_secure: bool,
    /// Address of /healthz and /readyz; 0 serves none
    #[arg(long, default_value = ":8081", value_parser = bind_address)]
    pub health_probe_bind_address: Bind,
    /// Work only while holding the lease, so that of several replicas one works
    #[arg(long, num_args = 0..=1, default_value_t = false, default_missing_value = "true", require_equals = true)]
    pub leader_elect: bool,
    /// A kubeconfig, for runs outside of a cluster
    #[arg(long, env = "KUBECONFIG")]
    pub kubeconfig: Option<PathBuf>,
    /// Namespaces to look after, separated by commas; empty means all
    #[arg(long, env = "WATCH_NAMESPACE", value_delimiter = ',', default_value = "")]
    pub namespaces: Vec<String>,
    /// Resources of a kind to work on at the same time
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub max_concurrent_reconciles: u16,
    /// Look for base configs in the labels of images
    #[arg(long, num_args = 0..=1, default_value_t = true, default_missing_value = "true", require_equals = true)]
    pub registry_lookups: bool,
    /// Registries whose images are looked at, separated by commas, such as quay.io or *.example.com:5000; without it all
    #[arg(long, value_delimiter = ',')]
    pub registries: Vec<String>,
    /// Registries that are spoken to without TLS, such as 127.0.0.1:5000
    #[arg(long, value_delimiter = ',')]
    pub insecure_registries: Vec<String>,
    /// Ask running servers for their version and providers
    #[arg(long, num_args = 0..=1, default_value_t = true, default_missing_value = "true", require_equals = true)]
    pub server_probes: bool,
    /// Where servers are asked in place of their Services, with {namespace} and {name}
    #[arg(long, hide = true)]
    pub server_url_template: Option<String>,

    /// Look after OGXServer resources of ogx.io, too
    #[arg(long, num_args = 0..=1, default_value_t = false, default_missing_value = "true", require_equals = true)]
    pub ogx_servers: bool,

    /// Serve the conversion and admission webhooks
    #[arg(long, num_args = 0..=1, default_value_t = true, default_missing_value = "true", require_equals = true)]
    pub enable_webhooks: bool,
    /// Address of the webhooks
    #[arg(long, default_value = ":9443", value_parser = bind_address)]
    pub webhook_bind_address: Bind,
    /// Folder with tls.crt and tls.key that something else keeps up to date; without it the operator makes its own
    #[arg(long)]
    pub webhook_cert_dir: Option<PathBuf>,
    /// Name of the Service in front of the webhooks
    #[arg(long, default_value = "llama-stack-k8s-operator-webhook-service")]
    pub webhook_service_name: String,
    /// Name of the ValidatingWebhookConfiguration
    #[arg(long, default_value = "llama-stack-k8s-operator-validating-webhook-configuration")]
    pub webhook_configuration: String,
    /// Address at which the API server reaches the webhooks, for runs outside of the cluster
    #[arg(long)]
    pub webhook_url: Option<String>,
    /// Days that a certificate of the operator is valid
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u16).range(1..=3650))]
    pub webhook_certificate_days: u16,

    /// Least weight of what is logged
    #[arg(long, default_value = "info")]
    pub zap_log_level: String,
    /// Form of the log
    #[arg(long, value_enum, default_value_t = Encoder::Json)]
    pub zap_encoder: Encoder,
    /// The same as --zap-log-level=debug --zap-encoder=console
    #[arg(long, num_args = 0..=1, default_value_t = false, default_missing_value = "true", require_equals = true)]
    pub zap_devel: bool,
    /// Accepted for the Go operator's sake; it has no effect
    #[arg(long, hide = true)]
    pub zap_stacktrace_level: Option<String>,
    /// Accepted for the Go operator's sake; times are RFC 3339
    #[arg(long, hide = true)]
    pub zap_time_encoding: Option<String>,

    /// What status.version.operatorVersion says
    #[arg(long, env = "OPERATOR_VERSION", default_value = env!("CARGO_PKG_VERSION"))]
    pub operator_version: String,
    /// The operator's namespace; by default that of its service account
    #[arg(long, env = "OPERATOR_NAMESPACE", default_value = "")]
    pub operator_namespace: String,
    /// The operator's image, which merges the config of external providers in the pod
    #[arg(long, env = "OPERATOR_IMAGE")]
    pub operator_image: Option<String>,
}

/// Form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Encoder {
    /// One JSON object a line
    Json,
    /// For people
    Console,
}

/// An address to listen on, or none.
pub type Bind = Bound;

/// An address to listen on; `None` listens nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound(pub Option<SocketAddr>);

fn bind_address(text: &str) -> Result<Bound, String> {
    if text == "0" {
        return Ok(Bound(None));
    }
    // Over IPv4 and IPv6, as in Go.
    let full = if text.starts_with(':') { format!("[{}]{text}", Ipv6Addr::UNSPECIFIED) } else { text.to_owned() };
    full.parse()
        .map(|address| Bound(Some(address)))
        .map_err(|_| format!("{text:?} is neither ADDRESS:PORT, :PORT nor 0"))
}

impl Settings {
    /// The namespaces to look after; `None` stands for all of them.
    #[must_use]
    pub fn scopes(&self) -> Vec<Option<String>> {
        let named: Vec<_> = self.namespaces.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
        if named.is_empty() { vec![None] } else { named.into_iter().map(|name| Some(name.to_owned())).collect() }
    }

    /// The operator's namespace: the setting, else the service account's, else the default.
    #[must_use]
    pub fn namespace(&self) -> String {
        if !self.operator_namespace.is_empty() {
            return self.operator_namespace.clone();
        }
        // The file may end with a line break, which is not part of the name.
        let account = std::fs::read_to_string(ACCOUNT_NAMESPACE).map(|text| text.trim().to_owned());
        account.ok().filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
    }

    /// How long a certificate of the operator is valid.
    #[must_use]
    pub fn certificate_lifetime(&self) -> Duration {
        Duration::from_secs(u64::from(self.webhook_certificate_days) * 24 * 60 * 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn parse(arguments: &[&str]) -> Settings {
        CommandLine::try_parse_from([&["llsd-operator"], arguments].concat()).unwrap().run
    }

    #[test]
    fn flags_of_the_go_operator_mean_the_same() {
        CommandLine::command().debug_assert();
        let settings = parse(&["--leader-elect", "--metrics-bind-address=:9090", "--health-probe-bind-address=0"]);
        assert!(settings.leader_elect);
        assert_eq!(settings.metrics_bind_address.0.unwrap().to_string(), "[::]:9090");
        assert_eq!(settings.health_probe_bind_address, Bound(None));
        assert!(!parse(&["--enable-webhooks=false"]).enable_webhooks);
        assert!(!parse(&["--leader-elect=false"]).leader_elect);
        assert!(!parse(&[]).ogx_servers && parse(&["--ogx-servers"]).ogx_servers);
        parse(&["--zap-devel", "--zap-encoder=console", "--zap-stacktrace-level=error", "--zap-time-encoding=iso8601"]);
    }

    #[test]
    fn no_namespace_means_all() {
        assert_eq!(parse(&["--namespaces="]).scopes(), [None]);
        assert_eq!(parse(&["--namespaces=a, b"]).scopes(), [Some("a".to_owned()), Some("b".to_owned())]);
    }

    #[test]
    fn a_bad_address_is_named() {
        let error = CommandLine::try_parse_from(["llsd-operator", "--metrics-bind-address=8080"]).unwrap_err();
        assert!(error.to_string().contains("neither ADDRESS:PORT, :PORT nor 0"), "{error}");
    }
}
