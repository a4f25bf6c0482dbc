//! The kinds of children: where each lives in the API, and what it is called.

use kube::core::{ApiResource, GroupVersionKind};

/// A kind of child, by its role: two roles may be one Kubernetes kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The trusted certificates: ConfigMap `<cr>-ca-bundle`.
    CaBundle,
    /// The generated configuration: ConfigMap `<cr>-config-<8 hex digits>`. Immutable, several at a time.
    GeneratedConfig,
    /// Secrets made from Secrets of the user: `<cr>-storage-sql`, `<cr>-storage-kv`.
    DerivedSecret,
    /// `<cr>-pvc`. Created once, never changed, never deleted by the operator.
    PersistentVolumeClaim,
    /// Named `<cr>-sa`.
    ServiceAccount,
    /// Named `<cr>-service`.
    Service,
    /// Named `<cr>-network-policy`.
    NetworkPolicy,
    /// Named as the resource, `<cr>`.
    Deployment,
    /// Named `<cr>-hpa`.
    HorizontalPodAutoscaler,
    /// Named `<cr>-pdb`.
    PodDisruptionBudget,
    /// Named `<cr>-rb`.
    RoleBinding,
    /// Named `<cr>-ingress`.
    Ingress,
}

impl Kind {
    /// Every kind, in the order in which children are applied: what the Deployment mounts comes before it.
    pub const ALL: [Self; 12] = [
        Self::CaBundle,
        Self::GeneratedConfig,
        Self::DerivedSecret,
        Self::PersistentVolumeClaim,
        Self::ServiceAccount,
        Self::Service,
        Self::NetworkPolicy,
        Self::Deployment,
        Self::HorizontalPodAutoscaler,
        Self::PodDisruptionBudget,
        Self::RoleBinding,
        Self::Ingress,
    ];

    /// Group, version and kind; the group is empty for the core API.
    #[must_use]
    pub const fn gvk(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::CaBundle | Self::GeneratedConfig => ("", "v1", "ConfigMap"),
            Self::DerivedSecret => ("", "v1", "Secret"),
            Self::PersistentVolumeClaim => ("", "v1", "PersistentVolumeClaim"),
            Self::ServiceAccount => ("", "v1", "ServiceAccount"),
            Self::Service => ("", "v1", "Service"),
            Self::NetworkPolicy => ("networking.k8s.io", "v1", "NetworkPolicy"),
            Self::Deployment => ("apps", "v1", "Deployment"),
            Self::HorizontalPodAutoscaler => ("autoscaling", "v2", "HorizontalPodAutoscaler"),
            Self::PodDisruptionBudget => ("policy", "v1", "PodDisruptionBudget"),
            Self::RoleBinding => ("rbac.authorization.k8s.io", "v1", "RoleBinding"),
            Self::Ingress => ("networking.k8s.io", "v1", "Ingress"),
        }
    }

    /// Where objects of this kind are in the API.
    #[must_use]
    pub fn api_resource(self) -> ApiResource {
        let (group, version, kind) = self.gvk();
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), self.plural())
    }

    /// The resource's name in URLs and in RBAC rules.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::CaBundle | Self::GeneratedConfig => "configmaps",
            Self::DerivedSecret => "secrets",
            Self::PersistentVolumeClaim => "persistentvolumeclaims",
            Self::ServiceAccount => "serviceaccounts",
            Self::Service => "services",
            Self::NetworkPolicy => "networkpolicies",
            Self::Deployment => "deployments",
            Self::HorizontalPodAutoscaler => "horizontalpodautoscalers",
            Self::PodDisruptionBudget => "poddisruptionbudgets",
            Self::RoleBinding => "rolebindings",
            Self::Ingress => "ingresses",
        }
    }

    /// The name of the child of the resource `cr`. Of kinds with several children it is what their names begin with.
    #[must_use]
    pub fn name(self, cr: &str) -> String {
        match self {
            Self::Deployment => cr.to_owned(),
            _ => format!("{cr}-{}", self.suffix()),
        }
    }

    /// What comes after `<cr>-`; nothing for the Deployment.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::CaBundle => "ca-bundle",
            Self::GeneratedConfig => "config",
            Self::DerivedSecret => "storage",
            Self::PersistentVolumeClaim => "pvc",
            Self::ServiceAccount => "sa",
            Self::Service => "service",
            Self::NetworkPolicy => "network-policy",
            Self::Deployment => "",
            Self::HorizontalPodAutoscaler => "hpa",
            Self::PodDisruptionBudget => "pdb",
            Self::RoleBinding => "rb",
            Self::Ingress => "ingress",
        }
    }

    /// Whether the operator deletes an owned child that is no longer wanted. A volume claim holds data and stays until
    /// the resource goes; generated configurations are kept for a while, by a rule of their own.
    #[must_use]
    pub const fn is_removable(self) -> bool {
        !matches!(self, Self::PersistentVolumeClaim | Self::GeneratedConfig)
    }

    /// Whether the operator only creates it, and never changes one that exists.
    #[must_use]
    pub const fn is_create_only(self) -> bool {
        matches!(self, Self::PersistentVolumeClaim | Self::GeneratedConfig)
    }
}
