//! What the system says of a process and its children.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// Time that a process tree has used on processors, from the scheduler's own nanoseconds. Threads that have ended do
/// not count; servers keep theirs while they work.
pub(crate) fn cpu(root: u32) -> Duration {
    let of = |process: u32| -> u64 {
        let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let times = threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
        times.filter_map(|time| time.split_whitespace().next()?.parse::<u64>().ok()).sum()
    };
    Duration::from_nanos(tree(root).into_iter().map(of).sum())
}

/// The most memory that the processes of a tree have had, in MB.
pub(crate) fn peak_memory(root: u32) -> f64 {
    let of = |process: u32| -> f64 {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
    };
    tree(root).into_iter().map(of).sum()
}

/// The load of the machine over the last minute.
pub(crate) fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split_whitespace().next().unwrap_or("?").to_owned()
}

fn tree(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        if let Some(parent) = parent {
            children.entry(parent).or_default().push(id);
        }
    }
    let (mut all, mut open) = (Vec::new(), vec![root]);
    while let Some(id) = open.pop() {
        all.push(id);
        open.extend(children.get(&id).into_iter().flatten());
    }
    all
}
