//! What the operator asked the API server for, from the server's own audit log.

use crate::cluster::Cluster;
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// One request of the user `operator`.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: String,
    /// The plural name, with the subresource after a slash if there is one.
    pub resource: String,
    /// The namespace; empty for what has none.
    pub namespace: String,
    /// The name; empty for collections.
    pub name: String,
    /// The status of the answer.
    pub code: u64,
}

impl fmt::Debug for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}/{} {}", self.verb, self.resource, self.namespace, self.name, self.code)
    }
}

impl Entry {
    fn of(line: &str) -> Option<Self> {
        let event: Value = serde_json::from_str(line).ok()?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let object = &event["objectRef"];
        let mut resource = text(&object["resource"]);
        if let Some(part) = object["subresource"].as_str() {
            resource = format!("{resource}/{part}");
        }
        Some(Self {
            verb: text(&event["verb"]),
            resource,
            namespace: text(&object["namespace"]),
            name: text(&object["name"]),
            code: event["responseStatus"]["code"].as_u64().unwrap_or_default(),
        })
    }

    /// Whether the request changes something. Renewals of the lease and Events are no changes of what they tell about.
    #[must_use]
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
            && !matches!(self.resource.as_str(), "leases" | "events")
    }

    /// Whether the request reads without watching.
    #[must_use]
    pub fn is_read(&self) -> bool {
        matches!(self.verb.as_str(), "get" | "list")
    }
}

/// The requests since a moment.
pub struct Audit {
    log: PathBuf,
    start: u64,
}

impl Audit {
    /// Looks at requests that are answered from now on.
    #[must_use]
    pub fn from_now(cluster: &Cluster) -> Self {
        let log = cluster.folder().join("audit/log");
        let start = log.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        Self { log, start }
    }

    /// The requests so far.
    ///
    /// # Panics
    ///
    /// If the log cannot be read.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let mut text = String::new();
        if let Ok(mut file) = File::open(&self.log) {
            file.seek(SeekFrom::Start(self.start)).expect("the log can be read from the middle");
            file.read_to_string(&mut text).expect("the log is text");
        }
        text.lines().filter_map(Entry::of).collect()
    }

    /// The requests in a namespace that change something.
    #[must_use]
    pub fn writes(&self, namespace: &str) -> Vec<Entry> {
        self.entries().into_iter().filter(|entry| entry.namespace == namespace && entry.is_write()).collect()
    }

    /// Waits until two seconds go by in which nothing in the namespace is changed, and returns all changes.
    #[must_use]
    pub fn settled(&self, namespace: &str) -> Vec<Entry> {
        let mut writes = self.writes(namespace);
        loop {
            thread::sleep(Duration::from_secs(2));
            let now = self.writes(namespace);
            if now.len() == writes.len() {
                return now;
            }
            writes = now;
        }
    }
}
