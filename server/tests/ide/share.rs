//! How often what a person wants is among the first offers.

use crate::ide::replay::ask::{Wish, wishes};
use crate::ide::replay::files::{self, File};
use llsd::ide::{self, CompletionItem, Workspace};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What is seen without scrolling or typing on.
const FIRST: usize = 5;

/// How much of the wanted word is written: 0 to 3 letters.
const LETTERS: usize = 3;

/// How many positions were asked about, and how many had an answer.
#[derive(Clone, Copy, Default)]
struct Share {
    asked: usize,
    /// The wanted word was among the first.
    first: usize,
    /// Nothing was typed, more than fit were offered, and the wanted one was further down: no order can avoid that
    /// for all of them.
    further: usize,
}

impl Share {
    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.first += other.first;
        self.further += other.further;
    }
}

#[derive(Default)]
struct Tally {
    shares: BTreeMap<(&'static str, usize), Share>,
    missed: Vec<String>,
}

impl Tally {
    fn ask(&mut self, wish: &Wish, letters: usize, text: &str, cursor: usize, items: &[CompletionItem], name: &str) {
        let typed = &wish.text[..letters];
        let is_it = |item: &&CompletionItem| {
            let shown = item.filter.to_lowercase().starts_with(&typed.to_lowercase());
            let long_for_short = letters == 0 && item.detail == wish.text;
            shown && (item.label == wish.text || long_for_short)
        };
        let mut share = Share { asked: 1, ..Share::default() };
        match items.iter().position(|item| is_it(&item)) {
            Some(place) if place < FIRST => share.first = 1,
            place => {
                share.further = usize::from(letters == 0 && place.is_some());
                let mut shown = text.to_owned();
                shown.insert(cursor, '█');
                let line = text[..cursor].matches('\n').count();
                let lines: Vec<_> = shown.lines().skip(line.saturating_sub(3)).take(5).collect();
                let offered: Vec<_> = items.iter().take(FIRST).map(|item| item.label.as_str()).collect();
                self.missed.push(format!(
                    "{} `{}` at {place:?}, offered {offered:?} in {name}:\n{}",
                    wish.class,
                    wish.text,
                    lines.join("\n")
                ));
            }
        }
        self.shares.entry((wish.class, letters)).or_default().add(share);
    }
}

/// Each word is wanted twice: while the file is typed, with nothing behind it, and while it is put into the finished
/// file.
fn measure(text: &str, name: &str) -> Tally {
    let mut tally = Tally::default();
    let (mut typed, mut edited) = (None, None);
    for wish in wishes(text) {
        let lengths =
            (0..=LETTERS).filter(|letters| *letters < wish.text.len() && wish.text.is_char_boundary(*letters));
        for letters in lengths {
            let cursor = wish.start + letters;
            let front = format!("{}{}", &text[..wish.start], &wish.text[..letters]);
            let whole = format!("{front}{}", &text[wish.end..]);
            let referring =
                ["Secret, ConfigMap", "key of Secret, ConfigMap", "provider id", "shield", "volume", "model"];
            // what is declared further down cannot be known while it is not written
            if !referring.contains(&wish.class) {
                let now = ide::analyse(front.as_str().into(), typed.as_ref(), &Workspace::new());
                tally.ask(&wish, letters, &front, cursor, &ide::complete(&now, cursor), name);
                typed = Some(now);
            }
            let now = ide::analyse(whole.as_str().into(), edited.as_ref(), &Workspace::new());
            tally.ask(&wish, letters, &whole, cursor, &ide::complete(&now, cursor), name);
            edited = Some(now);
        }
    }
    tally
}

/// Each key is wanted once more, in front of its colon and its value.
fn measure_anew(text: &str, name: &str) -> Tally {
    let (mut tally, mut before) = (Tally::default(), None);
    for mut wish in wishes(text).into_iter().filter(|wish| text[wish.start..].starts_with(&wish.text)) {
        let end = wish.start + wish.text.len();
        if !text[end..].trim_start_matches(['"', '\'', ' ']).starts_with(':') {
            continue;
        }
        wish.class = "key in front of its colon";
        for letters in (0..=LETTERS).filter(|letters| *letters < wish.text.len()) {
            let cursor = wish.start + letters;
            let now = format!("{}{}", &text[..cursor], &text[end..]);
            let analysis = ide::analyse(now.as_str().into(), before.as_ref(), &Workspace::new());
            tally.ask(&wish, letters, &now, cursor, &ide::complete(&analysis, cursor), name);
            before = Some(analysis);
        }
    }
    tally
}

/// The answers in all files.
struct Result {
    /// The share of all positions, in percent.
    every: f64,
    /// The share of those where what could follow fits or something is typed, in percent.
    reachable: f64,
    /// The shares by class and by letters, and what was missed.
    shown: String,
}

fn share(files: &[File], measure: impl Fn(&str, &str) -> Tally + Sync) -> Result {
    let all: Vec<_> = files.par_iter().map(|file| measure(&file.text, &file.name)).collect();
    let mut classes: BTreeMap<&str, [Share; LETTERS + 1]> = BTreeMap::new();
    let mut total = Share::default();
    for tally in &all {
        for ((class, letters), share) in &tally.shares {
            classes.entry(class).or_default()[*letters].add(*share);
            total.add(*share);
        }
    }
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let [every, reachable] = [total.asked, total.asked - total.further].map(|asked| percent(total.first, asked));
    let classes = classes.iter().map(|(class, shares)| {
        let shown = shares.map(|share| format!("{:5.1} % of {:5}", percent(share.first, share.asked), share.asked));
        format!("{class:26} {}", shown.join("  "))
    });
    let totals = [
        format!("{every:.2} % of {} positions", total.asked),
        format!("{reachable:.2} % without {} where more than {FIRST} could follow and nothing is typed", total.further),
    ];
    let missed = all.iter().flat_map(|tally| &tally.missed).take(400).map(|miss| format!("{miss}\n"));
    let shown: Vec<_> = classes.chain(totals).chain(missed).collect();
    Result { every, reachable, shown: shown.join("\n") }
}

/// The order of the offers was tuned while looking at these files. Measured: 99.57 % of all positions; in front of colons
/// 99.74 %. The bounds are a little below.
#[test]
fn what_is_wanted_is_among_the_first_offers() {
    let files = files::all();
    for (measure, least) in [(measure as fn(&str, &str) -> Tally, 99.4), (measure_anew, 99.6)] {
        let found = share(&files, measure);
        println!("{}", found.shown);
        assert!(found.every >= least, "{} {}", found.every, found.reachable);
    }
}

/// These files were written, and put away, before anybody asked in them; of them only the totals are looked at. (Their
/// names, which tell some backends, had been seen when offers began to depend on what a resource speaks of: without that
/// it is 98.92 % of all positions. Some of what is missed without it has been seen since.) Measured:
/// 99.18 % of all positions, 99.73 % of those that can be reached; in front of colons 99.89 and 100 %. The bounds are a
/// little below.
#[test]
fn what_is_wanted_in_files_never_seen_is_among_the_first_offers() {
    let files = files::held_out();
    for (measure, every, reachable) in [(measure as fn(&str, &str) -> Tally, 99.0, 99.6), (measure_anew, 99.7, 99.9)] {
        let found = share(&files, measure);
        println!("{}", found.shown);
        assert!(found.every >= every && found.reachable >= reachable, "{} {}", found.every, found.reachable);
    }
}
