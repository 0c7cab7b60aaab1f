//! Advice that goes with an error: what to type instead.
//!
//! ```
//! assert_eq!(bubbleproof::advice::nearest("foward", &["forward", "backward_input"]), Some("forward"));
//! ```

use crate::block::family::FormulaFileError;
use crate::model::reading::TomlProblem;
use crate::text::quantity::{QuantityError, Scale};

/// How to correct a TOML file, if there is more to say than the error does.
#[must_use]
pub fn for_file(problem: &TomlProblem) -> Option<String> {
    match problem {
        TomlProblem::UnknownKey { key, known } => {
            let (table, last) =
                key.rsplit_once('.').map_or(("", key.as_str()), |(table, last)| (table, last));
            let place = if table.is_empty() { "here".to_owned() } else { format!("in [{table}]") };
            let list = known.join(", ");
            Some(match nearest(last, known) {
                Some(near) => format!("did you mean `{near}`? known keys {place}: {list}"),
                None => format!("known keys {place}: {list}"),
            })
        }
        TomlProblem::Name { found, known, .. } => {
            nearest(found, known).map(|near| format!("did you mean `{near}`?"))
        }
        TomlProblem::Unit { found, scale, .. } => Some(for_unit(found, *scale)),
        TomlProblem::Length { key, found: 2, .. } if key.starts_with("time.") => Some(
            "give one number to use it for all of them; a range is `{ low = 300, high = 320 }`".to_owned(),
        ),
        TomlProblem::Length { .. } => Some("give one number to use it for all of them".to_owned()),
        _ => None,
    }
}

/// What to write in place of a unit that is not known.
fn for_unit(found: &str, scale: Scale) -> String {
    let known: Vec<&str> = scale.units().iter().map(|&(name, _)| name).collect();
    let meant = unit_meant(found, scale).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let counts = match scale {
        Scale::Time => "`tick`, or a name of two words, such as \"layer-time\",",
        _ => "a name of two words, such as \"stage-activation\",",
    };
    format!("{meant}known units: {}; {counts} names what plain numbers count", known.join(", "))
}

/// The unit that a mistyped one is probably meant to be.
#[must_use]
pub fn unit_meant(found: &str, scale: Scale) -> Option<&'static str> {
    let known: Vec<&'static str> = scale.units().iter().map(|&(name, _)| name).collect();
    let same = known.iter().find(|name| name.eq_ignore_ascii_case(found)).copied();
    same.or_else(|| nearest(found, &known))
}

/// What is wrong with an amount, with the unit that was probably meant.
#[must_use]
pub fn with_unit_meant(error: &QuantityError) -> String {
    let meant = match error {
        QuantityError::Unit { unit, scale } => unit_meant(unit, *scale),
        _ => None,
    };
    meant.map_or_else(|| error.to_string(), |meant| format!("{error}; did you mean `{meant}`?"))
}

/// How to correct a file that holds formulas.
#[must_use]
pub fn for_formula_file(error: &FormulaFileError) -> Option<String> {
    match error {
        FormulaFileError::File(error) => for_file(&error.problem),
        FormulaFileError::Formula { .. } => None,
    }
}

/// The known name that a mistyped one is probably meant to be.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| -> String {
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    // Who writes `zbh1` for `zb-h1` means no other name, however near.
    let alike = known.iter().find(|candidate| plain(candidate) == plain(name) && !plain(name).is_empty());
    alike.copied().or_else(|| nearest_by_letters(name, known))
}

fn nearest_by_letters<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), *candidate))
        .filter(|&(distance, candidate)| distance <= candidate.len() / 3)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    #[test]
    fn hyphens_and_case_do_not_make_another_name() {
        let known = ["1f1b", "zb-h1", "zb-h2", "1f1b-v"];
        for (name, near) in [
            ("zbh1", Some("zb-h1")),
            ("ZB_H2", Some("zb-h2")),
            ("1f1bv", Some("1f1b-v")),
            ("zb-h3", Some("zb-h1")),
            ("dualpipe", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), near, "{name}");
        }
    }

    #[test]
    fn advice_for_a_misspelt_key_names_the_nearest_one() {
        let text = "name = \"a\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n\
                    [time]\nfoward = 3\n";
        let error = model::parse(text).expect_err("no such key");
        assert_eq!(
            for_file(&error.problem).as_deref(),
            Some(
                "did you mean `forward`? known keys in [time]: unit, forward, backward_input, backward_weight, communication"
            )
        );
    }
}
