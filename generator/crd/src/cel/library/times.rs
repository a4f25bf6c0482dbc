//! Parts of points in time and of durations.

use super::strings::text;
use crate::cel::eval::{Env, EvalResult, Fail};
use crate::cel::program::Function;
use crate::cel::time::{Civil, zone_offset};
use crate::cel::value::Val;
use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;
use std::sync::LazyLock;

pub(crate) fn function(name: &str, member: bool, count: usize) -> Option<Function> {
    if !member || count > 2 {
        return None;
    }
    Some(match name {
        "getFullYear" => |_, v| part(v, |c| c.year),
        "getMonth" => |_, v| part(v, |c| c.month - 1),
        "getDate" => |_, v| part(v, |c| c.day),
        "getDayOfMonth" => |_, v| part(v, |c| c.day - 1),
        "getDayOfWeek" => |_, v| part(v, |c| c.day_of_week),
        "getDayOfYear" => |_, v| part(v, |c| c.day_of_year),
        "getHours" => |env, v| of_clock(env, v, 3_600_000_000_000, |c| c.hour),
        "getMinutes" => |env, v| of_clock(env, v, 60_000_000_000, |c| c.minute),
        "getSeconds" => |env, v| of_clock(env, v, 1_000_000_000, |c| c.second),
        "getMilliseconds" => |_, v| match &v[0] {
            Val::Timestamp(t) => Ok(Val::Int(i64::from(t.nanos / 1_000_000))),
            Val::Duration(nanos) if v.len() == 1 => Ok(Val::Int(nanos / 1_000_000)),
            _ => Err(Fail::no_overload()),
        },
        _ => return None,
    })
}

fn of_clock<'a>(_: &Env<'a>, v: &[Val<'a>], unit: i64, of: fn(Civil) -> i64) -> EvalResult<'a> {
    match &v[0] {
        Val::Duration(nanos) if v.len() == 1 => Ok(Val::Int(nanos / unit)),
        _ => part(v, of),
    }
}

fn part<'a>(v: &[Val<'a>], of: fn(Civil) -> i64) -> EvalResult<'a> {
    let Val::Timestamp(time) = &v[0] else { return Err(Fail::no_overload()) };
    let offset = match v.get(1) {
        None => 0,
        Some(zone) => match text(zone)? {
            "UTC" | "" => 0,
            zone => {
                let signed = if zone.starts_with(['+', '-']) { zone.to_owned() } else { format!("+{zone}") };
                match zone_offset(&signed) {
                    Some(offset) => offset,
                    None => named_offset(zone, time.seconds)
                        .ok_or_else(|| Fail::Error(format!("unknown time zone {zone}")))?,
                }
            }
        },
    };
    Ok(Val::Int(of(time.civil(offset))))
}

/// Seconds east of UTC that a zone such as `Europe/Berlin` was at a point in time.
fn named_offset(zone: &str, seconds: i64) -> Option<i64> {
    // That of the machine is none of the API server's.
    static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
    // The database forgives the case of letters, Go does not.
    let found = ZONES.get(zone).ok().filter(|found| found.iana_name() == Some(zone))?;
    Some(i64::from(found.to_offset(Timestamp::from_second(seconds).ok()?).seconds()))
}
