//! Points in time and durations, as Go reads and prints them.

/// A point in time: seconds since 1970 in UTC, and nanoseconds into that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

/// The parts of a point in time on a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: i64,
    /// Day of the month, from 1.
    pub(crate) day: i64,
    /// Day of the year, from 0, as `getDayOfYear()` counts.
    pub(crate) day_of_year: i64,
    /// Day of the week, from 0 for Sunday, as `getDayOfWeek()` counts.
    pub(crate) day_of_week: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

/// Seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z: what CEL can express.
const FIRST_SECOND: i64 = -62_135_596_800;
const LAST_SECOND: i64 = 253_402_300_799;

impl Timestamp {
    /// A point in time inside the years 1 to 9999.
    pub(crate) fn new(seconds: i64, nanos: u32) -> Option<Self> {
        (FIRST_SECOND..=LAST_SECOND).contains(&seconds).then_some(Self { seconds, nanos })
    }

    /// Reads RFC 3339; a missing zone is UTC if `zone_optional`.
    pub(crate) fn parse(text: &str, zone_optional: bool) -> Option<Self> {
        let bytes = text.as_bytes();
        if !text.is_ascii() || bytes.len() < 19 || bytes[10] != b'T' || bytes[13] != b':' || bytes[16] != b':' {
            return None;
        }
        let days = parse_date(&text[..10])?;
        let pair = |at: usize| digits(&text[at..at + 2]);
        let (hour, minute, second) = (pair(11)?, pair(14)?, pair(17)?);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let mut rest = &text[19..];
        let mut nanos = 0;
        if let Some(fraction) = rest.strip_prefix(['.', ',']) {
            let count = fraction.bytes().take_while(u8::is_ascii_digit).count();
            if count == 0 {
                return None;
            }
            nanos = format!("{:0<9}", &fraction[..count.min(9)]).parse().ok()?;
            rest = &fraction[count..];
        }
        let offset = match rest {
            "Z" => 0,
            "" if zone_optional => 0,
            _ => zone_offset(rest)?,
        };
        Self::new(days * 86_400 + hour * 3600 + minute * 60 + second - offset, nanos)
    }

    pub(crate) fn plus(self, nanos: i64) -> Option<Self> {
        let total = i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos) + i128::from(nanos);
        let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok()?;
        Self::new(seconds, total.rem_euclid(1_000_000_000) as u32)
    }

    /// Nanoseconds from `other` to this.
    pub(crate) fn since(self, other: Self) -> Option<i64> {
        let nanos = |t: Self| i128::from(t.seconds) * 1_000_000_000 + i128::from(t.nanos);
        i64::try_from(nanos(self) - nanos(other)).ok()
    }

    /// The clock `offset` seconds east of UTC.
    pub(crate) fn civil(self, offset: i64) -> Civil {
        let seconds = self.seconds + offset;
        let (days, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        Civil {
            year,
            month,
            day,
            day_of_year: days - days_from_civil(year, 1, 1),
            day_of_week: (days + 4).rem_euclid(7),
            hour: clock / 3600,
            minute: clock / 60 % 60,
            second: clock % 60,
        }
    }

    /// RFC 3339 in UTC, with as much of a fraction as is needed.
    pub(crate) fn print(self) -> String {
        let c = self.civil(0);
        let fraction = if self.nanos == 0 {
            String::new()
        } else {
            format!(".{:09}", self.nanos).trim_end_matches('0').to_owned()
        };
        format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{fraction}Z", c.year, c.month, c.day, c.hour, c.minute, c.second)
    }
}

/// Seconds east of UTC of `+02:00` or `-02:00`.
pub(crate) fn zone_offset(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text[1..].split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn digits(text: &str) -> Option<i64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Days since 1970-01-01 of `2006-01-02`.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=last).contains(&day).then(|| days_from_civil(year, month, day))
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March here, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Nanoseconds of `1h30m`, `-1.5s` and the like.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (whole_text, behind) = rest.split_at(whole);
        let (fraction, behind) = match behind.strip_prefix('.') {
            None => ("", behind),
            Some(behind) => behind.split_at(behind.bytes().take_while(u8::is_ascii_digit).count()),
        };
        if whole_text.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = behind.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let scale = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        let whole: i128 = if whole_text.is_empty() { 0 } else { whole_text.parse().ok()? };
        total = total.checked_add(whole.checked_mul(i128::from(scale))?)?;
        if !fraction.is_empty() {
            let kept = &fraction[..fraction.len().min(18)];
            let value: i128 = kept.parse().ok()?;
            total += value * i128::from(scale) / 10_i128.pow(kept.len() as u32);
        }
        if total > i128::from(i64::MAX) + i128::from(negative) {
            return None;
        }
        rest = behind;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// Like [`parse_duration`], and with the words and blanks that the format `duration` allows: `3 weeks`.
pub(crate) fn parse_duration_loosely(text: &str) -> Option<i64> {
    if let Some(nanos) = parse_duration(text) {
        return Some(nanos);
    }
    let mut total = 0_i64;
    let mut found = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at(count);
        let behind = behind.trim_start_matches([' ', '\t', '\n', '\u{c}', '\r']);
        let end = behind.find(|c: char| !(c.is_ascii_alphabetic() || c == 'µ')).unwrap_or(behind.len());
        rest = &behind[end..];
        let unit = behind[..end].to_lowercase();
        if unit.is_empty() {
            continue;
        }
        let factor: i64 = number.parse().ok()?;
        if let Some(scale) = loose_unit(&unit) {
            found = true;
            total = total.wrapping_add(factor.wrapping_mul(scale));
        }
    }
    found.then_some(total)
}

fn loose_unit(unit: &str) -> Option<i64> {
    const DAY: i64 = 86_400_000_000_000;
    // The last spelling of each may go on: `seconds`.
    let units: [(&[&str], i64); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hr", "hour"], 3_600_000_000_000),
        (&["d", "day"], DAY),
        (&["w", "wk", "week"], 7 * DAY),
    ];
    let fits = |names: &[&str]| names.contains(&unit) || names.last().is_some_and(|last| unit.starts_with(last));
    units.iter().find(|(names, _)| fits(names)).map(|(_, scale)| *scale)
}

/// A duration as CEL prints it: in seconds.
pub(crate) fn print_duration(nanos: i64) -> String {
    format!("{}s", nanos as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_points_in_time() {
        for text in ["2025-01-01T00:00:00Z", "1969-12-31T23:59:59.5Z", "0001-01-01T00:00:00Z", "2024-02-29T12:30:00Z"] {
            assert_eq!(Timestamp::parse(text, false).unwrap().print(), text);
        }
        let shifted = Timestamp::parse("2025-01-01T00:00:00.5+02:00", false).unwrap();
        assert_eq!(shifted.print(), "2024-12-31T22:00:00.5Z");
        assert!(Timestamp::parse("2025-01-01T00:00:00", false).is_none());
        let civil = Timestamp::parse("2024-12-31T01:02:03Z", false).unwrap().civil(0);
        assert_eq!((civil.day_of_year, civil.day_of_week, civil.hour), (365, 2, 1));
    }

    #[test]
    fn reads_durations() {
        assert_eq!(parse_duration("1h30m"), Some(5_400_000_000_000));
        assert_eq!(parse_duration("-1.5s"), Some(-1_500_000_000));
        assert_eq!(parse_duration("1x"), None);
        assert_eq!(parse_duration(""), None);
        assert_eq!(parse_duration_loosely("3 weeks"), Some(3 * 7 * 86_400_000_000_000));
        assert_eq!(print_duration(90_000_000_000), "90s");
    }
}
