//! Times as arguments: ticks of a model, or amounts with units.

use std::str::FromStr;

use num_rational::Ratio;

use super::error::Error;
use crate::advice::with_unit_meant;
use crate::model::{Model, Ticks};
use crate::text::quantity::{Quantity, Scale};

/// A time as it was asked for: a number without a unit, or an amount such as `13.08ms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeArg {
    /// In units of the model's file, with how it was written.
    Plain(Ratio<i128>, String),
    /// In nanoseconds, with how it was written.
    Nanoseconds(Ratio<i128>, String),
}

impl FromStr for TimeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is neither a number of ticks, such as 18, nor a time, such as 13.08ms");
        let quantity = Quantity::parse(text).map_err(|_| wrong())?;
        if quantity.unit.is_empty() {
            return Ok(Self::Plain(quantity.number, text.to_owned()));
        }
        let nanoseconds = quantity.in_base(Scale::Time).map_err(|error| with_unit_meant(&error))?;
        Ok(Self::Nanoseconds(nanoseconds, text.to_owned()))
    }
}

impl TimeArg {
    /// The time in ticks of a model, rounded up.
    ///
    /// # Errors
    /// When it has a unit and the model's ticks have none, or it is too long to count.
    pub fn ticks(&self, model: &Model) -> Result<Ticks, Error> {
        let unit = &model.costs().unit;
        let (ticks, text) = match self {
            Self::Plain(number, text) => {
                let Some(ticks) = model.plain_ticks(*number) else {
                    return Err(Error::usage(
                        format!(
                            "{text}: `{}` has times with units, so this time needs one, too",
                            model.name()
                        ),
                        format!("write {text}ms, or the unit that you mean"),
                    ));
                };
                (ticks, text)
            }
            Self::Nanoseconds(nanoseconds, text) => {
                let Some(tick) = model.costs().nanoseconds_per_tick() else {
                    return Err(Error::usage(
                        format!("{text} is a time with a unit, but `{}` counts time in {unit}", model.name()),
                        "give a number of ticks, such as 18; or name the unit in the model: `unit = \"us\"` in [time]",
                    ));
                };
                (nanoseconds / i128::from(tick), text)
            }
        };
        let ticks = ticks.ceil().to_integer();
        i64::try_from(ticks).map(Ticks).map_err(|_| Error::Usage {
            message: format!("{text} is too long to count in {unit}"),
            help: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    #[test]
    fn times_are_ticks_or_amounts() {
        for (text, time) in [
            ("0", TimeArg::Plain(Ratio::from_integer(0), "0".to_owned())),
            ("18", TimeArg::Plain(Ratio::from_integer(18), "18".to_owned())),
            ("13.08ms", TimeArg::Nanoseconds(Ratio::from_integer(13_080_000), "13.08ms".to_owned())),
            ("2 s", TimeArg::Nanoseconds(Ratio::from_integer(2_000_000_000), "2 s".to_owned())),
        ] {
            assert_eq!(text.parse(), Ok(time), "{text}");
        }
        for text in ["", "-1", "18 fortnights", "3GiB", "soon", "-1ms"] {
            assert!(text.parse::<TimeArg>().is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_are_rounded_up_to_ticks_of_the_model() {
        let within = |unit: &str, text: &str| {
            let (unit, forward) = unit.split_once(' ').unwrap_or((unit, "1"));
            let model = format!(
                "name = \"x\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nunit = \"{unit}\"\n\
                 forward = {forward}\nbackward_input = 1\nbackward_weight = 1\n"
            );
            let model = model::parse(&model).expect("a model");
            let time: TimeArg = text.parse().expect("a time");
            time.ticks(&model).map(|ticks| ticks.0).map_err(|error| error.to_string())
        };
        for (unit, text, ticks) in [
            ("us", "13.08ms", 13_080),
            ("ms", "13.08ms", 14),
            ("tick", "7", 7),
            ("ns", "0.5us", 500),
            ("ms 1.5", "7", 7_000_000),
            ("ms 1.5", "0.5", 500_000),
        ] {
            assert_eq!(within(unit, text), Ok(ticks), "{text} in {unit}");
        }
        assert!(within("tick", "13.08ms").is_err());
        assert!(within("ns", "9999999999999 s").is_err());
    }
}
