//! The YAML test suite: every well-formed case has the expected structure and values.

use crate::common::{difference, our_events, strict_events, suite};
use llsd_yaml::Stream;

#[test]
fn valid_cases_are_equal_in_structure_and_values() {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in suite().iter().filter(|c| !c.fail) {
        count += 1;
        if let Some(difference) = difference(&our_events(&case.yaml), &case.events) {
            failures.push(format!("{}: {difference}\n{}", case.id, case.yaml));
        }
    }
    assert_eq!(count, 308);
    assert!(failures.is_empty(), "{} of {count} differ\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn valid_cases_have_no_errors() {
    let mut failures = Vec::new();
    for case in suite().iter().filter(|c| !c.fail) {
        for located in Stream::parse(&case.yaml).documents() {
            for error in located.document.errors() {
                failures.push(format!("{}: {} at {:?}\n{}", case.id, error.message, error.span, case.yaml));
            }
        }
    }
    assert!(failures.is_empty(), "{} false alarms\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn invalid_cases_are_rejected() {
    let (mut own, mut judge, mut either) = (0, 0, 0);
    for case in suite().iter().filter(|c| c.fail) {
        let stream = Stream::parse(&case.yaml);
        let a = stream.documents().iter().any(|d| !d.document.errors().is_empty());
        let b = stream.documents().iter().any(|d| d.document.strict_error().is_some());
        own += usize::from(a);
        judge += usize::from(b);
        either += usize::from(a || b);
    }
    println!("invalid cases rejected: {own} by the tolerant parser, {judge} by the judge, {either} of 94 together");
    assert!(either >= 94, "rejected {either} of 94 (tolerant {own}, judge {judge})");
}

#[test]
fn where_yaml_rust2_accepts_the_suite_both_agree() {
    for case in suite() {
        if let Ok(theirs) = strict_events(&case.yaml) {
            let ours = crate::common::our_events_like_strict(&case.yaml);
            assert_eq!(difference(&ours, &theirs), None, "{}\n{}", case.id, case.yaml);
        }
    }
}
