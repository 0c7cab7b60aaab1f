//! Which part of the time an SVG shows: `--from`, `--to` and `--all`.

use clap::Args;
use num_rational::Ratio;

use crate::amounts;
use crate::cli::error::Error;
use crate::draw::Extent;
use crate::model::{Model, Ticks};
use crate::text::quantity::{Quantity, Scale};

/// The options that choose a part of the time.
#[derive(Debug, Clone, Args)]
pub struct ExtentArgs {
    /// Where an SVG begins: a number in the unit of the model file, or a time with a unit such as `200ms`
    #[arg(long, value_name = "TIME")]
    from: Option<String>,

    /// Where an SVG ends: a number in the unit of the model file, or a time with a unit such as `1.2s`
    #[arg(long, value_name = "TIME")]
    to: Option<String>,

    /// Draw all of a very long schedule in an SVG
    ///
    /// By default, an SVG omits a part of the steady phase where the passes would otherwise be too narrow for their
    /// numbers, or the drawing very wide, and says what it omits.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    all: bool,
}

impl ExtentArgs {
    /// The first option that is given, if any.
    pub fn given(&self) -> Option<&'static str> {
        let options = [("--from", self.from.is_some()), ("--to", self.to.is_some()), ("--all", self.all)];
        options.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// What is drawn of a schedule that takes so long.
    ///
    /// # Errors
    /// When a text is no time, or the times are not those of a part of the schedule.
    pub fn of(&self, makespan: Ticks, model: &Model) -> Result<Extent, Error> {
        if self.all {
            return Ok(Extent::Whole);
        }
        let read = |option: &str, text: &Option<String>| {
            text.as_ref().map(|text| instant(option, text, model)).transpose()
        };
        let (from, to) = (read("--from", &self.from)?, read("--to", &self.to)?);
        if from.is_none() && to.is_none() {
            return Ok(Extent::Fitting);
        }
        let (from, to) = (from.unwrap_or(Ticks::ZERO), to.unwrap_or(makespan).min(makespan));
        let shown = |ticks: Ticks| amounts::time(ticks.0, &model.costs().unit);
        if from >= makespan {
            return Err(Error::usage(
                format!("--from {} is not before the end of the schedule, {}", shown(from), shown(makespan)),
                "choose an earlier time",
            ));
        }
        if from >= to {
            return Err(Error::usage(
                format!("--from {} is not before --to {}", shown(from), shown(to)),
                "choose an earlier --from or a later --to",
            ));
        }
        Ok(Extent::Between { from, to })
    }
}

/// An instant as it was given, rounded down to whole ticks: a number in the unit of the model file, or a time with a unit.
fn instant(option: &str, text: &str, model: &Model) -> Result<Ticks, Error> {
    let (costs, one) = (model.costs(), Ratio::from_integer(1));
    let wrong = |message: String| {
        let help = match costs.nanoseconds_per_tick() {
            Some(_) if model.plain_ticks(one) == Some(one) => {
                format!("write a number of ticks, which are {} here, or a time such as 200ms", costs.unit)
            }
            Some(_) => "write a time such as 200ms".to_owned(),
            None => {
                format!("write a number of ticks: the unit of this model, {}, is no unit of time", costs.unit)
            }
        };
        Error::usage(format!("{option} {text}: {message}"), help)
    };
    let quantity = Quantity::parse(text).map_err(|error| wrong(error.to_string()))?;
    let ticks = if quantity.unit.is_empty() {
        let plain = model.plain_ticks(quantity.number);
        plain
            .ok_or_else(|| wrong("the model has times with units, so this time needs one, too".to_owned()))?
    } else if quantity.unit == costs.unit || quantity.unit == "ticks" {
        quantity.number
    } else {
        let Some(tick) = costs.nanoseconds_per_tick() else {
            return Err(wrong(format!("a tick of this model has no length in {}", quantity.unit)));
        };
        quantity.in_base(Scale::Time).map_err(|error| wrong(error.to_string()))? / i128::from(tick)
    };
    let ticks =
        i64::try_from(ticks.floor().to_integer()).map_err(|_| wrong("the time is too long".to_owned()))?;
    Ok(Ticks(ticks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Costs, Placement};

    fn counted_in(unit: &str) -> Model {
        let model = Model::unit(Placement::linear(2).expect("a placement"), 1).expect("a model");
        let costs = Costs { unit: unit.to_owned(), ..model.costs().clone() };
        model.with_costs(costs).expect("a model")
    }

    #[test]
    fn times_are_ticks_or_have_a_unit() {
        let extent = |from: &str, to: &str, unit: &str| {
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            ExtentArgs { from: text(from), to: text(to), all: false }
                .of(Ticks(1_000_000), &counted_in(unit))
                .map_err(|error| error.to_string())
        };
        let between = |from, to| Ok(Extent::Between { from: Ticks(from), to: Ticks(to) });
        for (from, to, unit, found) in [
            ("", "", "us", Ok(Extent::Fitting)),
            ("200ms", "", "us", between(200_000, 1_000_000)),
            ("1234", "0.5 s", "us", between(1234, 500_000)),
            ("0", "9s", "us", between(0, 1_000_000)),
            ("7", "9 ticks", "tick", between(7, 9)),
        ] {
            assert_eq!(extent(from, to, unit), found, "{from} {to}");
        }
        for (from, to, unit, part) in [
            ("2s", "", "us", "--from 2 s is not before the end of the schedule, 1 s"),
            ("5", "5", "us", "--from 5 us is not before --to 5 us"),
            ("early", "", "us", "--from early: \"early\" is not a number with a unit"),
            ("1 fortnight", "", "us", "\"fortnight\" is no unit of time"),
            ("1ms", "", "tick", "a tick of this model has no length in ms"),
        ] {
            let error = extent(from, to, unit).expect_err("it is refused");
            assert!(error.contains(part), "{error}");
        }
    }
}
