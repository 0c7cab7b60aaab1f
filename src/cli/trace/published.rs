//! What MegatronApp and Primus wrote, as traces.

use std::path::{Path, PathBuf};

use super::source::{Named, mended, uncertain};
use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::output::note;
use crate::schedule::Schedule;
use crate::trace::clocks::OffsetChoice;
use crate::trace::gather::gather;
use crate::trace::megatron::Run;
use crate::trace::primus::{self, Config, Dump, PrimusError};

/// The files of one run, or of several.
#[derive(Debug, Default)]
pub(super) struct Published {
    runs: Vec<(FileName, Run)>,
    dumps: Vec<(PathBuf, Dump)>,
    config: Option<(PathBuf, Config)>,
}

impl Published {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.dumps.is_empty() && self.config.is_none()
    }

    /// Adds the runs of a file of MegatronApp, each with a name of its own.
    pub(super) fn add_runs(&mut self, path: &Path, runs: Vec<Run>) {
        let several = runs.len() > 1;
        for run in runs {
            let file = FileName::of(path);
            let name =
                if several { FileName::called(format!("{}, tid {}", file.raw(), run.thread)) } else { file };
            self.runs.push((name, run));
        }
    }

    pub(super) fn add_dump(&mut self, path: &Path, dump: Dump) {
        self.dumps.push((path.to_owned(), dump));
    }

    pub(super) fn add_config(&mut self, path: &Path, config: Config) -> Result<(), Error> {
        match self.config.replace((path.to_owned(), config)) {
            None => Ok(()),
            Some((first, _)) => Err(Error::usage(
                format!("{} and {} both describe a run of Primus", FileName::of(first), FileName::of(path)),
                "give the files of one run",
            )),
        }
    }

    /// The traces of all runs.
    pub(super) fn gather(
        self,
        schedule: Option<Schedule>,
        choice: &OffsetChoice,
    ) -> Result<Vec<Named>, Error> {
        if self.dumps.is_empty() && self.config.is_none() {
            return self.of_runs(schedule.as_ref(), choice);
        }
        if !self.runs.is_empty() {
            return Err(Error::usage(
                "some of the files are what MegatronApp wrote, and some are dumps of Primus",
                "give the files of one of the two",
            ));
        }
        let derived = schedule.is_none();
        let named = self.of_dumps(schedule, choice)?;
        if derived {
            note(DERIVED);
        }
        note("Primus names no GPU; it runs on those of AMD");
        uncertain(&named);
        Ok(vec![named])
    }

    fn of_runs(self, schedule: Option<&Schedule>, choice: &OffsetChoice) -> Result<Vec<Named>, Error> {
        let mut traces = Vec::new();
        for (name, run) in self.runs {
            let (mut trace, clocks) =
                gather(run.recordings, schedule.cloned(), choice).map_err(|error| mended(&error))?;
            "MegatronApp".clone_into(&mut trace.machine.name);
            traces.push(Named { name, trace, clocks: Some(clocks) });
        }
        if schedule.is_none() {
            note(DERIVED);
        }
        note("MegatronApp names no GPU, and times passes by CUDA events: the kind is cuda");
        Ok(traces)
    }

    fn of_dumps(self, schedule: Option<Schedule>, choice: &OffsetChoice) -> Result<Named, Error> {
        let (name, config) = match (self.config, self.dumps.first()) {
            (Some((path, config)), Some(_)) => (FileName::of(path), config),
            (Some((path, _)), None) => {
                return Err(Error::usage(
                    format!(
                        "{} describes a run of Primus, but there is no dump of a rank",
                        FileName::of(path)
                    ),
                    "give pp_rank_0.json and so on, too",
                ));
            }
            (None, first) => {
                let file = first.map_or_else(|| FileName::called("the file"), |(path, _)| FileName::of(path));
                return Err(Error::usage(
                    format!("{file} looks like Primus's dump of a rank, but its config.json is missing"),
                    "give config.json, too: it says how many ranks, chunks and microbatches there are",
                ));
            }
        };
        let dumps = in_order(self.dumps)?;
        let trace = primus::gather(config, &dumps, schedule, choice).map_err(|error| {
            let help = match &error {
                PrimusError::Placement { .. } => "--schedule gives the schedule with its placement",
                PrimusError::Ranks { .. } => "give the file of every rank of one run, each once",
                PrimusError::Gather { .. } => {
                    "--offsets gives the offsets of the clocks, in ns, one for each rank"
                }
                _ => "the files must be of one run, as Primus wrote them",
            };
            Error::usage(error.to_string(), help)
        })?;
        Ok(Named { name, trace, clocks: None })
    }
}

const DERIVED: &str = "using the order of the first step as the declared one; --schedule gives another";

/// Dumps in the order of their ranks, which the names of the files say; else in the order given.
fn in_order(dumps: Vec<(PathBuf, Dump)>) -> Result<Vec<Dump>, Error> {
    let mut ranked: Vec<(Option<u32>, PathBuf, Dump)> =
        dumps.into_iter().map(|(path, dump)| (rank_of(&path), path, dump)).collect();
    if ranked.iter().all(|(rank, ..)| rank.is_some()) {
        ranked.sort_by_key(|&(rank, ..)| rank);
        let wrong = (0..).zip(&ranked).find(|(expected, (rank, ..))| *rank != Some(*expected));
        if let Some((expected, (_, path, _))) = wrong {
            return Err(Error::usage(
                format!(
                    "by their names, the dump of rank {expected} is missing before {}",
                    FileName::of(path)
                ),
                "give the file of every rank of one run, each once",
            ));
        }
    } else {
        note("not all names are like pp_rank_0.json: the files count as ranks in the order given");
    }
    Ok(ranked.into_iter().map(|(_, _, dump)| dump).collect())
}

/// The rank that the name of a file says.
fn rank_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.split('.').next()?.strip_prefix("pp_rank_")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dumps_say_their_ranks() {
        for (name, rank) in [
            ("a/pp_rank_0.json", Some(0)),
            ("pp_rank_12.json.gz", Some(12)),
            ("pp_rank_x.json", None),
            ("rank0.json", None),
        ] {
            assert_eq!(rank_of(Path::new(name)), rank, "{name}");
        }
    }
}
