//! Integer functions of a device `i` and a number of devices `d` that are linear once the residues of
//! both are known: what the formulas of families are, as long as no condition of theirs compares what
//! grows.

use num_integer::Integer;
use serde::{Deserialize, Serialize};

use super::Irregular;
use crate::block::family::{Condition, Formula, Variable};
use crate::prove::linear::Linear;

/// More residues than any family needs; beyond, the tables would not fit a memory.
const MOST_RESIDUES: i128 = 360;

/// With `i = P*a + r` and `d = P*b + s`, where `0 <= r, s < P`: the function
/// `per_device*a + per_devices*b + constants[s*P + r]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quasi {
    /// The common period P of the residues.
    period: i128,
    per_device: i128,
    per_devices: i128,
    constants: Vec<i128>,
}

/// The end of the devices from which they are counted: what lies there lies there for more devices too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

impl Quasi {
    /// The constants by `s` and `r`.
    pub fn new(period: i128, per_device: i128, per_devices: i128, constants: Vec<i128>) -> Self {
        Self { period, per_device, per_devices, constants }
    }

    fn constant(value: i128) -> Self {
        Self { period: 1, per_device: 0, per_devices: 0, constants: vec![value] }
    }

    fn variable(variable: Variable) -> Result<Self, Irregular> {
        let zero = Self::constant(0);
        match variable {
            Variable::Device => Ok(Self { per_device: 1, ..zero }),
            Variable::Devices => Ok(Self { per_devices: 1, ..zero }),
            _ => Err(Irregular::Variable(variable)),
        }
    }

    /// The function that a formula over `i` and `d` is.
    pub fn of(formula: &Formula) -> Result<Self, Irregular> {
        let constant = |value: i64| Self::constant(value.into());
        match formula {
            Formula::Integer(value) => Ok(constant(*value)),
            Formula::Variable(variable) => Self::variable(*variable),
            Formula::Sum(left, right) => Self::of(left)?.combine(&Self::of(right)?, i128::checked_add),
            Formula::Difference(left, right) => Self::of(left)?.combine(&Self::of(right)?, i128::checked_sub),
            Formula::Times(factor, formula) => {
                Self::of(formula)?.map(|value| value.checked_mul((*factor).into()))
            }
            Formula::Quotient(formula, divisor) => Self::of(formula)?.quotient((*divisor).into()),
            Formula::Remainder(formula, divisor) => {
                let whole = Self::of(formula)?;
                let divisor = i128::from(*divisor);
                let quotient = whole.quotient(divisor)?.map(|value| value.checked_mul(divisor))?;
                whole.combine(&quotient, i128::checked_sub)
            }
            Formula::If(condition, then, otherwise) => {
                let (then, otherwise) = (Self::of(then)?, Self::of(otherwise)?);
                let condition = Truth::of(condition)?;
                let period = then.period.lcm(&otherwise.period).lcm(&condition.period);
                let (then, otherwise) = (then.refined(period)?, otherwise.refined(period)?);
                if (then.per_device, then.per_devices) != (otherwise.per_device, otherwise.per_devices) {
                    return Err(Irregular::Slopes);
                }
                let pairs = then.constants.iter().zip(&otherwise.constants);
                let constants = condition.refined(period).zip(pairs);
                let chosen =
                    constants.map(|(holds, (&then, &otherwise))| if holds { then } else { otherwise });
                Ok(Self { constants: chosen.collect(), ..then.clone() })
            }
        }
    }

    pub fn period(&self) -> i128 {
        self.period
    }

    /// The largest size of its numbers.
    pub fn largest(&self) -> u128 {
        let slopes = [&self.per_device, &self.per_devices];
        self.constants.iter().chain(slopes).map(|value| value.unsigned_abs()).max().unwrap_or(0)
    }

    /// The same function over the residues of a multiple of its period.
    pub fn refined(&self, period: i128) -> Result<Self, Irregular> {
        if period > MOST_RESIDUES {
            return Err(Irregular::Residues(period));
        }
        let factor = period / self.period;
        let mut constants = Vec::new();
        for s in 0..period {
            for r in 0..period {
                let (device, devices) = (r / self.period, s / self.period);
                let here = self.constants[index(self.period, s % self.period, r % self.period)];
                let more = self.per_device.checked_mul(device).zip(self.per_devices.checked_mul(devices));
                let value = more.and_then(|(a, b)| here.checked_add(a)?.checked_add(b));
                constants.push(value.ok_or(Irregular::Overflow)?);
            }
        }
        let scaled = |slope: i128| slope.checked_mul(factor).ok_or(Irregular::Overflow);
        Ok(Self {
            period,
            per_device: scaled(self.per_device)?,
            per_devices: scaled(self.per_devices)?,
            constants,
        })
    }

    /// The same function over residues so many that its slopes are multiples of a number: its own
    /// residues by that number depend on those of `i` and `d` alone.
    pub fn refined_for(&self, divisor: i128) -> Result<Self, Irregular> {
        let factor = |slope: i128| divisor / slope.gcd(&divisor);
        self.refined(self.period * factor(self.per_device).lcm(&factor(self.per_devices)))
    }

    /// The function divided by a positive constant, rounded towards minus infinity.
    pub fn quotient(&self, divisor: i128) -> Result<Self, Irregular> {
        if divisor <= 0 {
            return Err(Irregular::Overflow);
        }
        self.refined_for(divisor)?.map(|value| Some(Integer::div_floor(&value, &divisor)))
    }

    /// Another constant for every pair of residues, given as `s` and `r`.
    pub fn with_constants(
        &self,
        constant: impl Fn(i128, i128) -> Result<i128, Irregular>,
    ) -> Result<Self, Irregular> {
        let residues = (0..self.period).flat_map(|s| (0..self.period).map(move |r| (s, r)));
        let constants = residues.map(|(s, r)| constant(s, r)).collect::<Result<_, _>>()?;
        Ok(Self { constants, ..self.clone() })
    }

    /// By how much it grows with each further period of devices on a device counted from an end.
    pub fn growth(&self, end: End) -> i128 {
        match end {
            End::First => self.per_devices,
            End::Last => self.per_device + self.per_devices,
        }
    }

    /// Its value on device `i` of `d`.
    pub fn value(&self, device: i128, devices: i128) -> i128 {
        let (a, r) = device.div_mod_floor(&self.period);
        let (b, s) = devices.div_mod_floor(&self.period);
        self.per_device * a + self.per_devices * b + self.constants[index(self.period, s, r)]
    }

    /// Its value on the devices `i + shift`, where `i` has the residue `r` and `d` the residue `s`.
    pub fn on(&self, s: i128, r: i128, shift: i128) -> Linear {
        let (periods, r) = (r + shift).div_mod_floor(&self.period);
        let constant = self.constants[index(self.period, s, r)] + self.per_device * periods;
        Linear { per_device: self.per_device, per_devices: self.per_devices, constant }
    }

    /// Its value on the first device, where `d` has the residue `s`.
    pub fn on_first(&self, s: i128) -> Linear {
        Linear { per_device: 0, ..self.on(s, 0, 0) }
    }

    /// Its value on the last device, where `d` has the residue `s`.
    pub fn on_last(&self, s: i128) -> Linear {
        let Linear { per_device, per_devices, constant } = self.on(s, s, -1);
        Linear { per_device: 0, per_devices: per_devices + per_device, constant }
    }

    fn map(self, change: impl Fn(i128) -> Option<i128>) -> Result<Self, Irregular> {
        let changed = |value: i128| change(value).ok_or(Irregular::Overflow);
        Ok(Self {
            period: self.period,
            per_device: changed(self.per_device)?,
            per_devices: changed(self.per_devices)?,
            constants: self.constants.iter().map(|&value| changed(value)).collect::<Result<_, _>>()?,
        })
    }

    fn combine(&self, other: &Self, both: impl Fn(i128, i128) -> Option<i128>) -> Result<Self, Irregular> {
        let period = self.period.lcm(&other.period);
        let (left, right) = (self.refined(period)?, other.refined(period)?);
        let both = |left: i128, right: i128| both(left, right).ok_or(Irregular::Overflow);
        let constants = left.constants.iter().zip(&right.constants);
        Ok(Self {
            period,
            per_device: both(left.per_device, right.per_device)?,
            per_devices: both(left.per_devices, right.per_devices)?,
            constants: constants.map(|(&left, &right)| both(left, right)).collect::<Result<_, _>>()?,
        })
    }
}

/// A condition that depends on residues alone.
struct Truth {
    period: i128,
    holds: Vec<bool>,
}

impl Truth {
    fn of(condition: &Condition) -> Result<Self, Irregular> {
        match condition {
            Condition::Compare(left, comparison, right) => {
                let difference = Quasi::of(left)?.combine(&Quasi::of(right)?, i128::checked_sub)?;
                if (difference.per_device, difference.per_devices) != (0, 0) {
                    return Err(Irregular::Condition(condition.to_string()));
                }
                let holds = difference.constants.iter().map(|value| comparison.holds(*value, 0)).collect();
                Ok(Self { period: difference.period, holds })
            }
            Condition::And(left, right) => Ok(Self::of(left)?.combine(&Self::of(right)?, |a, b| a && b)),
            Condition::Or(left, right) => Ok(Self::of(left)?.combine(&Self::of(right)?, |a, b| a || b)),
        }
    }

    fn combine(&self, other: &Self, both: impl Fn(bool, bool) -> bool) -> Self {
        let period = self.period.lcm(&other.period);
        let holds = self.refined(period).zip(other.refined(period)).map(|(a, b)| both(a, b)).collect();
        Self { period, holds }
    }

    fn refined(&self, period: i128) -> impl Iterator<Item = bool> {
        let own = self.period;
        let residues = (0..period).flat_map(move |s| (0..period).map(move |r| (s, r)));
        residues.map(move |(s, r)| self.holds[index(own, s % own, r % own)])
    }
}

/// Where a table over `s` and `r` has an entry.
fn index(period: i128, s: i128, r: i128) -> usize {
    usize::try_from(s * period + r).expect("residues are few")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::block::family::parse_formula;

    proptest! {
        #[test]
        fn a_formula_and_its_table_agree(
            slopes in (-4..5_i64, -4..5_i64, -9..9_i64),
            every in (1..5_i64, 1..5_i64),
            other in (-3..4_i64, 0..4_i64),
        ) {
            let ((i, d, constant), (each, part), (jump, at)) = (slopes, every, other);
            let text = format!(
                "({i}*i + {d}*d + {constant}) div {part} \
                 + if((i + {at}*d) mod {each} = 0 and d mod {part} != 1, {jump}, {jump}*((i - d) mod {part}))"
            );
            let formula = parse_formula(&text, &[Variable::Device, Variable::Devices]).expect("a formula");
            let quasi = Quasi::of(&formula).expect("regular");
            for devices in 0..40_i64 {
                for device in 0..=devices {
                    let values = |variable| match variable {
                        Variable::Device => Some(device),
                        Variable::Devices => Some(devices),
                        _ => None,
                    };
                    let expected = formula.evaluate(&values).expect("small");
                    prop_assert_eq!(quasi.value(device.into(), devices.into()), i128::from(expected), "{}", text);
                }
            }
        }
    }
}
