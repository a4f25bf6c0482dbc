use super::*;
use llsd_generator::api::ApiVersion;
use proptest::prelude::*;

const NAMES: [&str; 3] = ["x", "y", "z"];
const FILES: [&str; 6] = ["d/a", "d/b", "d/c", "e/a", "e/kustomization.yaml", "kustomization.yaml"];

/// What a file has: resources by number, and paths of a list by number.
fn content() -> impl Strategy<Value = Objects> {
    let resource = (0..NAMES.len(), any::<bool>());
    let resources = prop::collection::vec(resource, 0..4);
    let lists = prop::option::of(prop::collection::vec(prop::sample::select(vec!["a", "d/a", "d/b", "e/a"]), 0..4));
    (resources, lists).prop_map(|(resources, lists)| {
        let resource = |(name, old): (usize, bool)| {
            let version = if old { ApiVersion::V1Alpha1 } else { ApiVersion::V1Alpha2 };
            ((String::new(), NAMES[name].to_owned()), version)
        };
        let resources = resources.into_iter().map(resource).collect();
        let lists = lists.map(|all| all.into_iter().map(str::to_owned).collect());
        Objects { resources, lists, ..Objects::default() }
    })
}

type Answers = BTreeMap<(&'static str, &'static str), Option<Namesake>>;

fn answers(applied: &Applied) -> Answers {
    let mut all = BTreeMap::new();
    for (file, name) in FILES.iter().flat_map(|file| NAMES.iter().map(move |name| (*file, *name))) {
        all.insert((file, name), applied.namesake(file, &(String::new(), name.to_owned())));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the way there: the answers are those of the files as they are, and whoever has another answer than
    /// before is told.
    #[test]
    fn answers_follow_the_files_and_are_announced(steps in prop::collection::vec((0..FILES.len(), content()), 1..14)) {
        let mut applied = Applied::default();
        let mut now: BTreeMap<&str, Arc<Objects>> = BTreeMap::new();
        for (number, content) in steps {
            let (file, content) = (FILES[number], Arc::new(content));
            let removed: Vec<_> = now.insert(file, Arc::clone(&content)).into_iter().collect();
            let before = answers(&applied);
            let invalidated = applied.set(&file.into(), &removed, std::slice::from_ref(&content));
            let after = answers(&applied);
            for (query, answer) in &after {
                let (other, name) = *query;
                let asks = now.get(other).is_some_and(|has| has.resources.iter().any(|((_, one), _)| one == name));
                // a file that changes is judged again anyway
                if other != file && asks && before[query] != *answer {
                    // a file stands for the names of its resources, see `Workspace::set`
                    let has = |file: &Arc<str>| {
                        let found = now.get(&**file).map(|has| has.resources.iter().any(|((_, one), _)| one == name));
                        found.unwrap_or_default()
                    };
                    let told = invalidated.names.contains(name) || invalidated.files.iter().any(has);
                    prop_assert!(told, "{query:?} {invalidated:?}");
                }
            }
            let mut fresh = Applied::default();
            for (file, content) in &now {
                fresh.set(&Arc::from(*file), &[], std::slice::from_ref(content));
            }
            prop_assert_eq!(answers(&fresh), after);
        }
    }
}

#[test]
fn a_name_concerns_those_who_are_applied_together() {
    let piece = |names: &[&str]| {
        let key = |name: &&str| ((String::new(), (*name).to_owned()), ApiVersion::V1Alpha2);
        vec![Arc::new(Objects { resources: names.iter().map(key).collect(), ..Objects::default() })]
    };
    let mut applied = Applied::default();
    let list = Arc::new(Objects { lists: Some(vec!["a.yaml".into(), "b.yaml".into()]), ..Objects::default() });
    applied.set(&"dev/kustomization.yaml".into(), &[], &[list]);
    let mut concerned = |file: &str, removed: &[&str], added: &[&str]| {
        let names = applied.set(&file.into(), &piece(removed), &piece(added)).names;
        names.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(concerned("dev/a.yaml", &[], &["x"]), ["x"]);
    assert_eq!(concerned("dev/b.yaml", &["y"], &["x", "y"]), ["x"]);
    assert_eq!(concerned("dev/b.yaml", &["x"], &["x"]), Vec::<String>::new(), "the same");
    assert_eq!(concerned("dev/c.yaml", &[], &["x"]), Vec::<String>::new(), "not listed");
}

#[test]
fn nothing_is_left_of_files_that_are_gone() {
    let key = |name: &str| ((String::new(), name.to_owned()), ApiVersion::V1Alpha2);
    let piece = |names: &[&str]| {
        Arc::new(Objects { resources: names.iter().map(|name| key(name)).collect(), ..Objects::default() })
    };
    let list = Arc::new(Objects { lists: Some(vec!["a.yaml".into(), "b.yaml".into()]), ..Objects::default() });
    let mut applied = Applied::default();
    let (a, b, k): (Arc<str>, Arc<str>, Arc<str>) =
        ("d/a.yaml".into(), "d/b.yaml".into(), "d/kustomization.yaml".into());
    let (one, two) = (piece(&["x", "y"]), piece(&["y"]));
    applied.set(&a, &[], std::slice::from_ref(&one));
    applied.set(&b, &[], std::slice::from_ref(&two));
    let found = |applied: &Applied| applied.namesake("d/a.yaml", &key("y").0);
    assert_eq!(found(&applied), None, "files of one folder may be alternatives");
    let invalidated = applied.set(&k, &[], std::slice::from_ref(&list));
    assert_eq!(invalidated.files.len(), 2, "{invalidated:?}");
    assert!(found(&applied).is_some_and(|one| one.file == "d/b.yaml" && one.kustomization == "kustomization.yaml"));
    applied.set(&k, std::slice::from_ref(&list), &[]);
    assert_eq!(found(&applied), None);
    applied.set(&a, std::slice::from_ref(&one), &[]);
    applied.set(&b, std::slice::from_ref(&two), &[]);
    let Applied { resources, lists, listed } = &applied;
    assert!(resources.is_empty() && lists.is_empty() && listed.is_empty(), "{applied:?}");
}
