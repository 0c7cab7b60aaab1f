//! The residues of all numbers of devices in the domain of a family, not only of those that can be listed.
//!
//! A formula over `d` without anything but sums, constant factors, `div`, `mod` and `if` grows from some
//! number of devices on by the same amount with every further period. The result of comparing two such formulas is then
//! periodic as well: where their difference does not grow, because it repeats; where it grows, because its sign stays.
//! So the domain is periodic from a *settled* number on, and the numbers up to there and of one period more show all
//! residues.

use std::collections::BTreeSet;

use num_integer::Integer;

use super::Irregular;
use crate::block::family::{Condition, EvaluationError, Formula, Variable};

/// At most this many numbers of devices are searched.
const MOST_DEVICES: i128 = 1 << 20;

/// What repeats from the number of devices `from` on: after `period` more it is larger by `growth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Repeating {
    from: i128,
    period: i128,
    growth: i128,
}

/// The residues that some number of devices in the domain has.
///
/// # Errors
/// When the domain repeats too late to be looked at, or grows in ways that are not told.
pub(in super::super) fn occurring(domain: &Condition, residues: i128) -> Result<Vec<i128>, Irregular> {
    let settled = truth(domain)?;
    let most = settled.from.checked_add(settled.period.lcm(&residues)).ok_or(Irregular::Overflow)?;
    if most > MOST_DEVICES {
        return Err(Irregular::Condition(domain.to_string()));
    }
    let mut found = BTreeSet::new();
    for devices in 1..=most {
        if holds(domain, devices)? {
            found.insert(devices.mod_floor(&residues));
        }
    }
    Ok(found.into_iter().collect())
}

/// From where on the truth of a condition repeats, and after how many devices.
fn truth(condition: &Condition) -> Result<Repeating, Irregular> {
    match condition {
        Condition::And(left, right) | Condition::Or(left, right) => {
            both(condition, truth(left)?, truth(right)?, |_, _| Some(0))
        }
        Condition::Compare(left, _, right) => {
            let difference = both(condition, formula(left)?, formula(right)?, i128::checked_sub)?;
            if difference.growth == 0 {
                return Ok(difference);
            }
            let mut largest = 0;
            for devices in difference.from..difference.from + difference.period {
                let value = i128::from(at(left, devices)?) - i128::from(at(right, devices)?);
                largest = largest.max(value.abs());
            }
            // After this many periods what has grown outweighs every value of the first.
            let periods = largest / difference.growth.abs() + 2;
            let from =
                periods.checked_mul(difference.period).and_then(|more| more.checked_add(difference.from));
            let from = from.filter(|from| *from <= MOST_DEVICES);
            let from = from.ok_or_else(|| Irregular::Condition(condition.to_string()))?;
            Ok(Repeating { from, period: 1, growth: 0 })
        }
    }
}

fn formula(whole: &Formula) -> Result<Repeating, Irregular> {
    match whole {
        Formula::Integer(_) => Ok(Repeating { from: 1, period: 1, growth: 0 }),
        Formula::Variable(Variable::Devices) => Ok(Repeating { from: 1, period: 1, growth: 1 }),
        Formula::Variable(variable) => Err(Irregular::Variable(*variable)),
        Formula::Sum(left, right) => both(whole, formula(left)?, formula(right)?, i128::checked_add),
        Formula::Difference(left, right) => both(whole, formula(left)?, formula(right)?, i128::checked_sub),
        Formula::Times(factor, inner) => {
            let inner = formula(inner)?;
            let growth = inner.growth.checked_mul((*factor).into()).ok_or(Irregular::Overflow)?;
            Ok(Repeating { growth, ..inner })
        }
        Formula::Quotient(inner, divisor) => {
            let inner = divisible(whole, formula(inner)?, (*divisor).into())?;
            Ok(Repeating { growth: inner.growth / i128::from(*divisor), ..inner })
        }
        Formula::Remainder(inner, divisor) => {
            let inner = divisible(whole, formula(inner)?, (*divisor).into())?;
            Ok(Repeating { growth: 0, ..inner })
        }
        Formula::If(condition, then, otherwise) => {
            let (settled, then, otherwise) = (truth(condition)?, formula(then)?, formula(otherwise)?);
            let mut chosen = BTreeSet::new();
            for devices in settled.from..settled.from + settled.period {
                chosen.insert(holds(condition, devices)?);
            }
            // Where one branch is never taken any more, only the other one matters.
            let branches = match (chosen.contains(&true), chosen.contains(&false)) {
                (true, false) => then,
                (false, _) => otherwise,
                (true, true) => {
                    let same = both(whole, then, otherwise, i128::checked_sub)?;
                    if same.growth != 0 {
                        return Err(Irregular::Slopes);
                    }
                    Repeating { growth: refined(whole, then, same.period)?.growth, ..same }
                }
            };
            both(whole, settled, branches, i128::checked_add)
        }
    }
}

/// Two that repeat, as one; `growth` says how what they make grows.
fn both(
    whole: &impl ToString,
    left: Repeating,
    right: Repeating,
    growth: impl Fn(i128, i128) -> Option<i128>,
) -> Result<Repeating, Irregular> {
    let period = left.period.lcm(&right.period);
    let (left, right) = (refined(whole, left, period)?, refined(whole, right, period)?);
    let growth = growth(left.growth, right.growth).ok_or(Irregular::Overflow)?;
    Ok(Repeating { from: left.from.max(right.from), period, growth })
}

/// The same with a period after which it has grown by a multiple of a number.
fn divisible(whole: &impl ToString, inner: Repeating, divisor: i128) -> Result<Repeating, Irregular> {
    if divisor <= 0 {
        return Err(Irregular::Overflow);
    }
    let factor = divisor / inner.growth.gcd(&divisor);
    let period = inner.period.checked_mul(factor).ok_or(Irregular::Overflow)?;
    refined(whole, inner, period)
}

/// The same with a multiple of its period, if that is not too long to be looked at.
fn refined(whole: &impl ToString, inner: Repeating, period: i128) -> Result<Repeating, Irregular> {
    if period > MOST_DEVICES {
        return Err(Irregular::Condition(whole.to_string()));
    }
    let growth = inner.growth.checked_mul(period / inner.period).ok_or(Irregular::Overflow)?;
    Ok(Repeating { period, growth, ..inner })
}

fn holds(condition: &Condition, devices: i128) -> Result<bool, Irregular> {
    condition.evaluate(&of(devices)?).map_err(irregular)
}

fn at(formula: &Formula, devices: i128) -> Result<i64, Irregular> {
    formula.evaluate(&of(devices)?).map_err(irregular)
}

/// The values of variables at a number of devices.
fn of(devices: i128) -> Result<impl Fn(Variable) -> Option<i64>, Irregular> {
    let devices = i64::try_from(devices).map_err(|_| Irregular::Overflow)?;
    Ok(move |variable| (variable == Variable::Devices).then_some(devices))
}

fn irregular(error: EvaluationError) -> Irregular {
    match error {
        EvaluationError::Overflow | EvaluationError::Divisor(_) => Irregular::Overflow,
        EvaluationError::Undefined(variable) => Irregular::Variable(variable),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::block::family::{parse_condition, shipped};
    use crate::prove::squeeze::Witness;
    use crate::stop::Stop;

    fn residues(domain: &str, residues: i128) -> Result<Vec<i128>, Irregular> {
        occurring(&parse_condition(domain, &[Variable::Devices]).expect(domain), residues)
    }

    #[test]
    fn residues_are_those_of_all_devices_however_late_they_come() {
        for (domain, expected) in [
            ("d >= 1", vec![0, 1, 2]),
            ("d < 3", vec![1, 2]),
            ("d < 1", vec![]),
            ("d mod 3 = 1 or d mod 3 = 2 or d >= 4098", vec![0, 1, 2]),
            ("d mod 3 = 1 or d mod 3 = 2 or d = 90000", vec![0, 1, 2]),
            ("d mod 3 = 1 or d mod 3 = 2 or d = 90001", vec![1, 2]),
            ("d div 5000 >= 1 and d mod 3 = 0", vec![0]),
            ("2*d - d div 2 > 9000 and d mod 6 = 4", vec![1]),
            ("if(d >= 5000, d mod 3, 1) = 1", vec![0, 1, 2]),
            ("if(d < 7, d, 1) = 2", vec![2]),
            ("d - 100 >= 100 - d", vec![0, 1, 2]),
            ("d - 100 = 100 - d", vec![1]),
            ("if(d mod 2 = 0, d + 1, d) >= 6001 and d mod 3 = 0", vec![0]),
            ("d mod 5 = 4 and d mod 7 = 6 and d mod 9000 = 5 and d mod 3 = 2", vec![]),
        ] {
            assert_eq!(residues(domain, 3), Ok(expected), "{domain}");
        }
    }

    #[test]
    fn quotients_repeat_as_soon_as_what_is_divided_has_grown_by_a_multiple() {
        let devices = |factor| Formula::Times(factor, Box::new(Formula::Variable(Variable::Devices)));
        let remainder = |factor, divisor| formula(&Formula::Remainder(Box::new(devices(factor)), divisor));
        let quotient = |factor, divisor| formula(&Formula::Quotient(Box::new(devices(factor)), divisor));
        assert_eq!(remainder(6, 9), Ok(Repeating { from: 1, period: 3, growth: 0 }));
        assert_eq!(quotient(6, 9), Ok(Repeating { from: 1, period: 3, growth: 2 }));
        assert_eq!(
            [0, -3].map(|divisor| remainder(1, divisor)),
            [Err(Irregular::Overflow), Err(Irregular::Overflow)]
        );
    }

    #[test]
    fn a_domain_is_searched_up_to_a_number_of_devices() {
        // It is settled two periods after the sign changes, and one more shows all residues.
        let until = |least: i64| residues(&format!("d >= {least}"), 1);
        assert_eq!(until((1 << 20) - 3), Ok(vec![0]));
        assert!(until((1 << 20) - 2).is_err());
    }

    #[test]
    fn domains_that_repeat_too_late_are_refused() {
        for domain in [
            "d >= 2000000",
            "d mod 2000000 = 0",
            "d mod 1021 = 0 or d mod 1031 = 0",
            "if(d mod 2 = 0, d, 2*d) > 7",
            "9223372036854775807*d > 0",
        ] {
            assert!(residues(domain, 3).is_err(), "{domain}");
        }
    }

    #[test]
    fn an_interval_has_a_case_for_residues_that_only_large_numbers_of_devices_have() {
        let mut family = shipped("v-min").expect("it is shipped");
        let cases = |witness: &Witness| {
            let cases = witness.intervals()[0].cases.iter();
            cases.map(|case| case.residue.mod_floor(&3)).collect::<BTreeSet<_>>().len()
        };
        let everywhere = Witness::of(&family, &Stop::default()).expect("regular");
        let of = |text: &str| parse_condition(text, &[Variable::Devices]).expect(text);
        family.domain = of("d mod 3 = 1 or d mod 3 = 2");
        let narrow = Witness::of(&family, &Stop::default()).expect("regular");
        family.domain = of("d mod 3 = 1 or d mod 3 = 2 or d >= 4098");
        let late = Witness::of(&family, &Stop::default()).expect("regular");
        assert_eq!((cases(&everywhere), cases(&narrow), cases(&late)), (3, 2, 3));
        assert!(late.check().is_ok());
        assert_eq!(late.intervals()[0].cases, everywhere.intervals()[0].cases);
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_longer_search_finds(
            factor in 1_i64..4, constant in -40_i64..40, modulus in 1_i64..9, kept in 0_i64..9, sign in 0_usize..6,
            other in 1_i64..12,
        ) {
            let signs = ["=", "!=", "<", "<=", ">", ">="];
            let text = format!(
                "{factor}*d - d div {other} {} {constant} + d mod {modulus} and d mod {modulus} != {kept}",
                signs[sign]
            );
            let domain = parse_condition(&text, &[Variable::Devices]).expect("a condition");
            let longer: BTreeSet<i128> = (1..5_000_i128)
                .filter(|devices| holds(&domain, *devices) == Ok(true))
                .map(|devices| devices.mod_floor(&6))
                .collect();
            prop_assert_eq!(occurring(&domain, 6), Ok(longer.into_iter().collect()), "{}", text);
        }
    }
}
