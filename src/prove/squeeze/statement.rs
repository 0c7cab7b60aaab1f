//! The theorems about squeezed orders in words.

use itertools::Itertools;
use num_rational::Ratio;

use super::form::Rate;
use super::interval::SqueezedIntervals;
use super::makespan::Makespan;
use crate::block::family::Family;

/// What the intervals of a family say.
pub(super) fn of_intervals(family: &Family, intervals: &SqueezedIntervals) -> String {
    let durations = if intervals.latency {
        "all durations tF, tI and tW of its passes and every latency c between devices"
    } else {
        "all durations tF, tI and tW of its passes, without latency"
    };
    let cases = intervals.cases.iter().map(|case| (largest(&case.rates()), case.residue)).collect_vec();
    let exactly = match intervals.exact_from() {
        Some(1) => ", and exactly that".to_owned(),
        Some(devices) => format!(", and exactly that for d >= {devices}"),
        None => String::new(),
    };
    format!(
        "for every d with {} and {durations}: the squeezed order takes at most {} ticks per microbatch in the \
         long run{exactly}",
        family.domain,
        by_residue(&cases, intervals.residues)
    )
}

/// What the bounds on the makespan of a family say.
pub(super) fn of_makespans(family: &Family, makespans: &[Makespan], residues: i128) -> String {
    let case = |makespan: &Makespan| {
        let (slope, constant) = makespan.line(residues);
        let line = sum(&[(makespan.interval(), "m"), (slope, "d")], constant - makespan.interval());
        (line, makespan.rotor.is_some())
    };
    // With the same words for several residues, exactness begins where it does for all of them.
    let words = |makespan: &Makespan| {
        let same = makespans.iter().filter(|other| case(other) == case(makespan));
        let rotors = same.filter_map(|other| other.rotor.as_ref()).map(|rotor| rotor.devices - residues + 1);
        let (line, _) = case(makespan);
        let words = match rotors.max() {
            None => format!("at most {line}"),
            Some(..=1) => format!("exactly {line}"),
            Some(devices) => format!("at most {line}, and exactly that for d >= {devices},"),
        };
        (words, makespan.residue)
    };
    let cases = makespans.iter().map(words).collect_vec();
    let exceptions = makespans.iter().filter_map(|makespan| {
        let line = sum(&[(makespan.interval(), "m")], makespan.exception()? - makespan.interval());
        Some(format!("; for d = {}, at most {line}", makespan.residue))
    });
    format!(
        "for every d with {} and every m >= 1, at the durations of the family and without latency: the makespan of \
         the squeezed order is {}{}",
        family.domain,
        by_residue(&cases, residues),
        exceptions.collect::<String>()
    )
}

fn largest(rates: &[Rate]) -> String {
    match rates {
        [rate] => rate.to_string(),
        rates => format!("max({})", rates.iter().join(", ")),
    }
}

/// What holds where: the same words once for all their residues.
fn by_residue(cases: &[(String, i128)], residues: i128) -> String {
    let words = cases.iter().map(|(words, _)| words).unique().collect_vec();
    let [all] = words.as_slice() else {
        let case = |words: &&String| {
            let own = cases.iter().filter(|case| case.0 == **words).map(|(_, residue)| residue);
            format!(
                "{words} where d mod {residues} is {}",
                own.map(ToString::to_string).collect_vec().join(" or ")
            )
        };
        return words.iter().map(case).join("; ");
    };
    (*all).clone()
}

/// A sum of multiples and a constant.
fn sum(terms: &[(Ratio<i128>, &str)], constant: Ratio<i128>) -> String {
    let zero = Ratio::from_integer(0);
    let mut text = String::new();
    for (factor, name) in terms.iter().copied().chain([(constant, "")]).filter(|(factor, _)| *factor != zero)
    {
        let negative = factor < zero;
        let factor = if negative { -factor } else { factor };
        text.push_str(match (text.is_empty(), negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        });
        let (whole, one) = (factor.is_integer(), factor == Ratio::from_integer(1));
        let term = match (name, one, whole) {
            ("", ..) => factor.to_string(),
            (name, true, _) => name.to_owned(),
            (name, false, true) => format!("{factor}*{name}"),
            (name, false, false) => format!("({factor})*{name}"),
        };
        text.push_str(&term);
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_printed_as_people_write_them() {
        let whole = Ratio::from_integer;
        assert_eq!(sum(&[(whole(6), "m"), (whole(4), "d")], whole(-5)), "6*m + 4*d - 5");
        assert_eq!(sum(&[(whole(1), "m"), (Ratio::new(7, 2), "d")], whole(0)), "m + (7/2)*d");
        assert_eq!(sum(&[(whole(0), "m"), (whole(-2), "d")], whole(1)), "-2*d + 1");
        assert_eq!(sum(&[], whole(0)), "0");
    }
}
