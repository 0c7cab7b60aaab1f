//! The options of `plan` for large spaces: a store of results, parts of the choices, and what was taken from where.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::output::note;
use crate::cli::violations::count;
use crate::plan::{Shard, Tally};
use crate::store::{self, Store, StoreError, TakenIn};

/// Where results are kept, and which part of the choices is looked at.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for large spaces")]
pub struct StoreArgs {
    /// Keep every result in this file, created if necessary, and search only for results that it lacks
    ///
    /// After a crash, a second run searches only for what is missing. Results are checked again before they are used.
    /// Several processes may share a store. This needs a build with the feature `store`.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Examine only a part of the choices, such as 3/8, the third of eight
    #[arg(long, value_name = "I/N", requires = "store")]
    shard: Option<Shard>,

    /// First copy the results of these other stores into the store
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "store")]
    merge: Vec<PathBuf>,
}

/// How many refused results are named.
const NAMED: usize = 5;

impl StoreArgs {
    /// The part of the choices that is asked for.
    pub const fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// The store, with what it is to take in.
    ///
    /// # Errors
    /// When a file is no store of this version, or cannot be used. Then none is changed.
    pub fn open(&self) -> Result<Option<Store>, Error> {
        let Some(path) = &self.store else { return Ok(None) };
        if Store::AVAILABLE {
            // Nothing is made or taken in before all of them are known to be stores.
            let known = self.merge.iter().try_for_each(|part| store::recognise(part).map(|_| ()));
            known.map_err(|error| {
                refused(&error)
                    .advising("nothing was changed; `--merge` takes what `plan --store` has written")
            })?;
        }
        let store = Store::open(path).map_err(|error| refused(&error))?;
        let mut sum = TakenIn::default();
        for part in &self.merge {
            let taken = store.take_in(part).map_err(|error| refused(&error))?;
            sum = TakenIn { all: sum.all + taken.all, new: sum.new + taken.new };
        }
        if !self.merge.is_empty() {
            let (stores, all) = (count(self.merge.len(), "store", "stores"), sum.all);
            note(&format!("{stores} had {all} results, {} of them new", sum.new));
        }
        Ok(Some(store))
    }

    /// Says what was taken from the store, and what is wrong with it.
    pub fn note(&self, tally: Tally) -> Option<FromStore> {
        let path = FileName::of(self.store.as_ref()?);
        let Tally { taken, computed, refused, failure, .. } = tally;
        for one in refused.iter().take(NAMED) {
            note(&format!("a result of {path} was searched for again ({}): {}", one.subject, one.reason));
        }
        if refused.len() > NAMED {
            let more = count(refused.len() - NAMED, "more result", "more results");
            note(&format!("{more} of {path} had to be searched for again"));
        }
        if let Some(failure) = &failure {
            note(&format!("not all results were kept: {failure}"));
        }
        if taken + computed == 0 {
            return None;
        }
        note(&format!("{} taken from {path}, {computed} searched for", count(taken, "result", "results")));
        Some(FromStore {
            taken,
            computed,
            refused: refused.len(),
            failure: failure.map(|error| error.to_string()),
        })
    }
}

/// Where the results came from, as `--json` says.
#[derive(Debug, Serialize)]
pub struct FromStore {
    taken: usize,
    computed: usize,
    /// Of the computed, those that the store had, but that were not believed.
    refused: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

fn refused(error: &StoreError) -> Error {
    let help = match error {
        StoreError::NotBuilt => {
            "build the tool with it, which takes a C compiler: cargo install --path . --features store"
        }
        StoreError::NoDatabase { .. } | StoreError::OtherProgram { .. } => {
            "nothing was changed; give the name of a store, or of a file that is not there yet"
        }
        StoreError::Version { .. } => {
            "nothing was changed; use the version of bubbleproof that wrote it, or begin a new store"
        }
        _ => return Error::Usage { message: error.to_string(), help: None },
    };
    Error::usage(error.to_string(), help)
}
