//! `llamastack.io/v1alpha1`, as the Go operator defined it. Its schema must not change.
