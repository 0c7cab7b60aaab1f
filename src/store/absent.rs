//! The store of a build without SQLite: there is none.

use std::convert::Infallible;
use std::path::Path;

use super::{Kept, Key, StoreError, TakenIn};

/// A file of results; in this build, which has no SQLite, none can be opened.
#[derive(Debug)]
pub struct Store {
    never: Infallible,
}

impl Store {
    /// Whether this build can open stores.
    pub const AVAILABLE: bool = false;

    /// Refuses.
    ///
    /// # Errors
    /// Always: [`StoreError::NotBuilt`].
    pub const fn open(_: &Path) -> Result<Self, StoreError> {
        Err(StoreError::NotBuilt)
    }

    /// What is kept under a key.
    ///
    /// # Errors
    /// Never: there is no such store.
    pub const fn get(&self, _: &Key) -> Result<Option<Kept>, StoreError> {
        match self.never {}
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// Never: there is no such store.
    pub const fn put(&self, _: &Key, _: &Kept) -> Result<(), StoreError> {
        match self.never {}
    }

    /// Keeps a result in place of any other.
    ///
    /// # Errors
    /// Never: there is no such store.
    pub const fn replace(&self, _: &Key, _: &Kept) -> Result<(), StoreError> {
        match self.never {}
    }

    /// Takes in what another store has.
    ///
    /// # Errors
    /// Never: there is no such store.
    pub const fn take_in(&self, _: &Path) -> Result<TakenIn, StoreError> {
        match self.never {}
    }
}

/// Refuses.
///
/// # Errors
/// Always: [`StoreError::NotBuilt`].
pub const fn recognise(_: &Path) -> Result<bool, StoreError> {
    Err(StoreError::NotBuilt)
}
