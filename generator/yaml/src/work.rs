//! How much the parser looks at. Counted in tests only, to show that it grows with the text and not with its square.

/// Counts bytes, lines or levels that were looked at.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    tests::STEPS.with(|sum| sum.set(sum.get() + 1 + steps));
    #[cfg(not(test))]
    let _ = steps;
}

#[cfg(test)]
#[path = "../tests/common/hostile.rs"]
mod hostile;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::hostile;
    use crate::Stream;

    thread_local! {
        pub(super) static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// Steps for each byte of the text, in hundredths.
    fn steps_per_byte(text: &str) -> usize {
        STEPS.with(|sum| sum.set(0));
        let _ = Stream::parse(text);
        STEPS.with(Cell::get) * 100 / text.len()
    }

    #[test]
    fn work_grows_with_the_text() {
        let mut shown = String::new();
        for (name, make) in hostile::TEXTS {
            let (small, large) = (steps_per_byte(&make(2_000)), steps_per_byte(&make(32_000)));
            // Work that grows with the square would take sixteen times the steps for each byte.
            if large > 2 * small + 1_000 {
                shown.push_str(&format!("{name}: {small} and {large} hundredths of a step for each byte\n"));
            }
        }
        assert!(shown.is_empty(), "{shown}");
    }
}
