//! The files of the best plan.

use std::path::{Path, PathBuf};

use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::output::{Target, note};
use crate::interchange::torchtitan::Release;
use crate::interchange::{pytorch, torchtitan};
use crate::job::{Cut, Job};
use crate::lowering::numbered;
use crate::model;
use crate::plan::Plan;
use crate::schedule::{self, Schedule};

/// The folder that a plan is written to.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A folder that is there, or can be made.
    ///
    /// # Errors
    /// When it is a file, or cannot be made.
    pub fn new(path: &Path) -> Result<Self, Error> {
        if path.is_file() {
            return Err(Error::usage(
                format!("{} is a file, but a plan is written to a folder", FileName::of(path)),
                "give `-o` the name of a folder",
            ));
        }
        std::fs::create_dir_all(path).map_err(|error| {
            Error::usage(
                format!("cannot make the folder {}: {error}", FileName::of(path)),
                "choose another name",
            )
        })?;
        Ok(Self { path: path.to_owned() })
    }

    /// Writes the model, the schedule with its certificate, and what PyTorch and torchtitan read. What a runtime cannot run is
    /// left out, with the reason in a note.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, job: &Job, text: &str, plan: &Plan) -> Result<Vec<PathBuf>, Error> {
        let (Some((_, best)), Some(schedule)) = (plan.best(), plan.certified(text)) else {
            return Ok(Vec::new());
        };
        let mut written = Vec::new();
        let mut put = |name: &str, content: &[u8]| -> Result<(), Error> {
            let path = self.path.join(name);
            Target::File(path.clone()).write(|out| out.write_all(content))?;
            written.push(path);
            Ok(())
        };
        let mut json = Vec::new();
        schedule::write(&schedule, &mut json).expect("writing to memory cannot fail");
        put("schedule.json", &json)?;
        put("model.toml", model::print(&best.model).as_bytes())?;
        let schedule = numbered(&schedule).unwrap_or(schedule);
        match pytorch::print(&schedule) {
            Ok(csv) => put("pytorch.csv", csv.as_bytes())?,
            Err(error) => note(&format!("no file for PyTorch: {error}")),
        }
        match self.torchtitan(job, &best.cut, &schedule) {
            Ok(configuration) => {
                put("torchtitan.csv", configuration.csv.as_bytes())?;
                put("torchtitan.args", configuration.settings.as_bytes())?;
            }
            Err(reason) => note(&format!("no file for torchtitan: {reason}")),
        }
        Ok(written)
    }

    fn torchtitan(
        &self,
        job: &Job,
        cut: &Cut,
        schedule: &Schedule,
    ) -> Result<torchtitan::Configuration, String> {
        let layers = blocks(job, cut).ok_or(
            "its stages take transformer layers between an embedding at the beginning and a head at the end, which the cut or \
             the job does not have",
        )?;
        let path = self.path.join("torchtitan.csv");
        let name = path.to_str().ok_or("the name of the folder is not UTF-8")?;
        torchtitan::configuration(schedule, Some(&layers), name, Release::V0_3)
            .map_err(|error| error.to_string())
    }
}

/// The layers of each stage without the embedding, which must be the first, and the head, which must be the last.
fn blocks(job: &Job, cut: &Cut) -> Option<Vec<u32>> {
    let (first, last) = (job.layers.first()?, job.layers.last()?);
    let inner = job.layers.get(1..job.layers.len() - 1)?;
    if first != "embedding" || last != "head" || inner.iter().any(|kind| kind == first || kind == last) {
        return None;
    }
    let mut blocks = cut.layers().to_vec();
    let stages = blocks.len();
    blocks[0] = blocks[0].checked_sub(1)?;
    blocks[stages - 1] = blocks[stages - 1].checked_sub(1)?;
    Some(blocks)
}
