//! Random damage of the samples: what is read behind it must not get less. The goal, over samples and files of users
//! together, is 95 % of the keys and at most 1.5 wrong paths per text; the limits here are what the samples, which are
//! small, reach today.

use crate::common::damage::{Tally, run};

#[test]
fn damaged_samples_stay_readable() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("samples").filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    let mut all = Tally::default();
    for (seed, path) in files.iter().enumerate() {
        let text = std::fs::read_to_string(path).expect("a text");
        run(&text, 40, seed as u64 + 1, |_, tally| all.add(tally));
    }
    println!("{} texts, {:.1} % found, {:.2} wrong paths per text", all.texts, all.share(), all.wrong_per_text());
    assert!(all.share() >= 92.2 && all.wrong_per_text() <= 1.26, "{:.1} %, {:.2}", all.share(), all.wrong_per_text());
}
