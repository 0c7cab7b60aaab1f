//! Block families beside the named schedules: the family that is compared, and those whose files are listed.

use std::path::Path;

use super::Row;
use crate::block::family::Family;
use crate::cli::error::Error;
use crate::cli::family_input::{Base, Expanded, expanded};
use crate::cli::figures::Figures;
use crate::cli::input::Input;
use crate::cli::size::Size;
use crate::model::{Model, Placement};
use crate::replay::replay;

/// The block families of a comparison.
#[derive(Debug)]
pub(super) struct Families<'a> {
    /// The family that is given in place of a model.
    pub own: Option<&'a Family>,
    /// The families that are listed among the schedules, by the names of their files as they were typed.
    listed: Vec<(&'a str, Family)>,
}

impl<'a> Families<'a> {
    /// Reads those of the listed schedules that are files of families: names that end in `.toml`.
    ///
    /// # Errors
    /// When a file cannot be read, or is no block family.
    pub fn read(base: &'a Base, listed: Option<&'a Vec<String>>) -> Result<Self, Error> {
        let files = listed.into_iter().flatten().filter(|name| is_file(name));
        let read = |name: &'a String| {
            let input = Input::read(Path::new(name))?;
            if !input.is_family() {
                return Err(Error::usage(
                    format!("{name} is not a block family: it has no [[pass]] tables"),
                    "--schedules takes names of schedules and files of block families; models come first",
                ));
            }
            Ok((name.as_str(), input.family()?))
        };
        Ok(Self { own: base.family(), listed: files.map(read).collect::<Result<_, Error>>()? })
    }

    /// The family in a file that is listed.
    pub fn find(&self, name: &str) -> Option<&Family> {
        self.listed.iter().find(|(listed, _)| *listed == name).map(|(_, family)| family)
    }
}

/// Whether a listed schedule is the file of a family; no schedule has such a name.
fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

impl Row {
    /// The row of a family: its block, repeated for the microbatches of the model.
    pub(super) fn of_family(model: &Model, family: &Family) -> Self {
        let size = Size::new(Some(model.devices()), Some(model.microbatches()));
        let name = format!("{} (family)", family.name);
        let (figures, verdict, error) = match expanded(family, size) {
            Ok(Expanded { schedule, .. }) if schedule.placement() == model.placement() => {
                let verdict = replay(model, &schedule);
                let error = verdict.violations.first().map(ToString::to_string);
                (Figures::of(model, &schedule, &verdict), Some(verdict), error)
            }
            Ok(Expanded { schedule, .. }) => {
                let shapes = [schedule.placement(), model.placement()].map(Placement::shape);
                let error = format!("{name} needs {} placement, but the model has {}", shapes[0], shapes[1]);
                (Figures::none(), None, Some(error))
            }
            Err(error) => (Figures::none(), None, Some(error.to_string())),
        };
        Self { name, valid: error.is_none(), figures, error, verdict }
    }
}
