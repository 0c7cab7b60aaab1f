//! A file in which results outlive the process that found them.
//!
//! A [`Store`] has one result for each [`Key`], which is the digest of all that the result depends on. It is an SQLite database:
//! each result is written in a transaction of its own, so that a process that is killed loses nothing but what it was just
//! looking for, and several processes may read and write one store at the same time. That takes the feature `store`, whose
//! SQLite is built with a C compiler; without it, every store is [refused](StoreError::NotBuilt).
//!
//! A store is only a file, which anybody may have changed. Whoever reads a result checks it as if a stranger had sent it.

#[cfg(not(feature = "store"))]
mod absent;
#[cfg(feature = "store")]
mod recognise;
#[cfg(feature = "store")]
mod sqlite;
#[cfg(all(test, feature = "store"))]
mod tests;

use std::io;
#[cfg(feature = "store")]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};

#[cfg(not(feature = "store"))]
pub use absent::{Store, recognise};
#[cfg(feature = "store")]
pub use recognise::recognise;
#[cfg(feature = "store")]
pub use sqlite::Store;

use crate::text::Escaped;

/// The version of the stores that this crate reads and writes, `user_version` in SQLite.
pub const VERSION: u32 = 1;

/// `application_id` of the stores in SQLite: "bpst" in ASCII.
pub const APPLICATION: u32 = u32::from_be_bytes(*b"bpst");

/// What a result depends on, as a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of these texts, in this order.
    #[must_use]
    pub fn of<T: AsRef<str>>(parts: &[T]) -> Self {
        let mut hash = Sha256::new();
        for part in parts.iter().map(AsRef::as_ref) {
            // With its length, so that no two lists of parts give one text.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// The digest.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A result as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it is about, for people who look into the store.
    pub subject: String,
    /// How it was searched for, for the same people.
    pub search: String,
    /// How long the search took, where the clock ended it. Nothing where it ended by itself: then it always ends so.
    pub spent: Option<Duration>,
    /// What was found, as text. Nothing where nothing was.
    pub found: Option<String>,
}

/// How many results were taken in from another store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenIn {
    /// Those that the other store has.
    pub all: u64,
    /// Those that were not known, or known from a shorter search.
    pub new: u64,
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// This build has no SQLite.
    #[error("this build keeps no results: it was built without the feature `store`")]
    NotBuilt,
    /// There is no such file, and none can be made.
    #[error("cannot open the store {}: {error}", Escaped(&path.to_string_lossy()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A file that is no database.
    #[error("{} is not a store of results: it is not an SQLite database", Escaped(&path.to_string_lossy()))]
    NoDatabase {
        /// The file.
        path: PathBuf,
    },
    /// A database of another program.
    #[error(
        "{} is not a store of results, but an SQLite database of another program",
        Escaped(&path.to_string_lossy())
    )]
    OtherProgram {
        /// The file.
        path: PathBuf,
    },
    /// A store that this version cannot read.
    #[error(
        "{} is a store of version {found}, but only version {VERSION} is known",
        Escaped(&path.to_string_lossy())
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// SQLite cannot read or write the file: it is damaged, locked for too long, or the disk is full.
    #[error("the store {} cannot be used: {reason}", Escaped(&path.to_string_lossy()))]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
}

#[cfg(feature = "store")]
impl StoreError {
    fn unreadable(path: &Path, error: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), error }
    }
}
