//! Commands that are printed for a shell. What a file says gets into one as a single word, whatever it says.

use shlex::Quoter;

/// A word of a command, quoted where a shell would make more of it.
#[must_use]
pub fn quoted(word: &str) -> String {
    // No shell takes the character NUL, and without it no word is refused.
    let word = word.replace('\0', "\u{fffd}");
    Quoter::new().quote(&word).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_stays_one() {
        assert_eq!(quoted("deploy/my-stack.yaml"), "deploy/my-stack.yaml");
        for word in ["a b", "a; touch b", "$(id)", "`id`", "it's", "a\nb", "", "a\0b", "*"] {
            let read = shlex::split(&quoted(word)).expect("a command");
            assert_eq!(read, [word.replace('\0', "\u{fffd}")]);
        }
    }
}
