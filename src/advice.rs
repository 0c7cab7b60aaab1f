//! Advice that goes with an error: what to type instead.
//!
//! ```
//! assert_eq!(bubbleproof::advice::nearest("foward", &["forward", "backward_input"]), Some("forward"));
//! ```

use crate::block::family::FormulaFileError;
use crate::model::reading::TomlProblem;

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
        TomlProblem::Type { found, .. } if found.starts_with("float") => {
            Some("times and memory are integers; choose a finer unit (us, ns, bytes)".to_owned())
        }
        TomlProblem::Length { key, found: 2, .. } if key.starts_with("time.") => Some(
            "give one number to use it for all of them; a range is `{ low = 300, high = 320 }`".to_owned(),
        ),
        TomlProblem::Length { .. } => Some("give one number to use it for all of them".to_owned()),
        _ => None,
    }
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
