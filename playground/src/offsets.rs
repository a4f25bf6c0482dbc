//! Positions: bytes here, UTF-16 in the page.

/// Both ways between bytes and UTF-16 code units of one text.
#[derive(Debug)]
pub(crate) struct Offsets {
    /// For each byte, and the end, how many code units stand in front. `None`: as many, all is ASCII.
    units: Option<Vec<usize>>,
    length: usize,
}

impl Offsets {
    pub(crate) fn new(text: &str) -> Self {
        let units = (!text.is_ascii()).then(|| {
            let mut units = Vec::with_capacity(text.len() + 1);
            let mut before = 0;
            for letter in text.chars() {
                units.extend(std::iter::repeat_n(before, letter.len_utf8()));
                before += letter.len_utf16();
            }
            units.push(before);
            units
        });
        Self { units, length: text.len() }
    }

    /// The byte of a position; of one inside a letter, where that begins. Behind the end is the end.
    pub(crate) fn byte(&self, unit: usize) -> usize {
        let Some(units) = &self.units else { return unit.min(self.length) };
        let behind = units.partition_point(|before| *before <= unit);
        let before = units[behind - 1];
        units.partition_point(|other| *other < before)
    }

    /// The position of a byte.
    pub(crate) fn unit(&self, byte: usize) -> usize {
        let byte = byte.min(self.length);
        self.units.as_ref().map_or(byte, |units| units[byte])
    }
}

#[cfg(test)]
mod tests {
    use super::Offsets;

    #[test]
    fn letters_of_every_width_are_counted_both_ways() {
        let text = "aé€😀z";
        let offsets = Offsets::new(text);
        let mut unit = 0;
        for (byte, letter) in text.char_indices() {
            assert_eq!((offsets.unit(byte), offsets.byte(unit)), (unit, byte), "{letter}");
            unit += letter.len_utf16();
        }
        assert_eq!((offsets.unit(text.len()), offsets.byte(unit)), (unit, text.len()));
    }

    #[test]
    fn places_inside_a_letter_or_behind_the_end_do_not_matter() {
        let offsets = Offsets::new("a😀");
        assert_eq!((offsets.byte(2), offsets.byte(99), offsets.unit(99)), (1, 5, 3));
        let ascii = Offsets::new("ab");
        assert_eq!((ascii.byte(99), ascii.unit(99)), (2, 2));
    }
}
