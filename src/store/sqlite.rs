//! The store as an SQLite database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{
    Connection, OpenFlags, OptionalExtension as _, Row, Transaction, TransactionBehavior, params,
};

use super::{APPLICATION, Kept, Key, StoreError, TakenIn, VERSION, recognise};

/// How long a process waits for others that write to the same store, each of them for moments.
const PATIENCE: Duration = Duration::from_secs(60);

const TABLE: &str = "CREATE TABLE results (
    key BLOB NOT NULL PRIMARY KEY, -- the digest of all that the result depends on
    subject TEXT NOT NULL,
    search TEXT NOT NULL,
    spent INTEGER,                 -- milliseconds, where the clock ended the search
    found TEXT                     -- JSON; nothing where nothing was found
)";

const ANEW: &str =
    "INSERT OR REPLACE INTO results (key, subject, search, spent, found) VALUES (?, ?, ?, ?, ?)";

/// What a search ended with by itself stays. Of those that the clock ended, the longest stays.
const BETTER: &str = "INSERT INTO results (key, subject, search, spent, found) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE
    SET subject = excluded.subject, search = excluded.search, spent = excluded.spent, found = excluded.found
    WHERE results.spent IS NOT NULL AND (excluded.spent IS NULL OR excluded.spent > results.spent)";

/// A file of results.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Store {
    /// Whether this build can open stores.
    pub const AVAILABLE: bool = true;

    /// Opens a store, or makes one where there is no file or an empty one.
    ///
    /// # Errors
    /// When the file is something else, or a store of another version, and is then left as it is; or when it cannot be
    /// opened or made.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if fs::exists(path).map_err(|error| StoreError::unreadable(path, error))? {
            recognise(path)?;
        } else if path.parent().is_some_and(|folder| folder != Path::new("") && !folder.is_dir()) {
            let missing = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
            return Err(StoreError::unreadable(path, missing));
        }
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        let mut store = Self { path: path.to_owned(), connection: Mutex::new(connection) };
        store.begin()?;
        Ok(store)
    }

    /// Makes the table of a new store. Another process may be about to do the same.
    fn begin(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let of_path = |error| failed(&path, &error);
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        if is_store(connection, &path)? {
            return Ok(());
        }
        let transaction = immediate(connection).map_err(of_path)?;
        if !is_store(&transaction, &path)? {
            transaction.execute_batch(TABLE).map_err(of_path)?;
            transaction.pragma_update(None, "application_id", APPLICATION).map_err(of_path)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(of_path)?;
        }
        transaction.commit().map_err(of_path)
    }

    /// What is kept under a key.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn get(&self, key: &Key) -> Result<Option<Kept>, StoreError> {
        let connection = self.locked();
        let mut select = connection
            .prepare("SELECT subject, search, spent, found FROM results WHERE key = ?")
            .map_err(|error| failed(&self.path, &error))?;
        let row = select.query_row([key.bytes()], |row| kept(row, 0)).optional();
        row.map_err(|error| failed(&self.path, &error))
    }

    /// Keeps a result, unless one is kept from a search that took longer or ended by itself.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn put(&self, key: &Key, result: &Kept) -> Result<(), StoreError> {
        self.write(BETTER, key, result)
    }

    /// Keeps a result in place of any other.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn replace(&self, key: &Key, result: &Kept) -> Result<(), StoreError> {
        self.write(ANEW, key, result)
    }

    fn write(&self, statement: &str, key: &Key, result: &Kept) -> Result<(), StoreError> {
        let mut connection = self.locked();
        let written = immediate(&mut connection).and_then(|transaction| {
            insert(&transaction, statement, key.bytes(), result)?;
            transaction.commit()
        });
        written.map_err(|error| failed(&self.path, &error))
    }

    /// Takes in what another store has, all of it or nothing, and leaves that store as it is. An empty file has nothing.
    ///
    /// # Errors
    /// When the other file is no store of this version, or one of both cannot be used.
    pub fn take_in(&self, other: &Path) -> Result<TakenIn, StoreError> {
        let mut taken = TakenIn::default();
        // A store has what it has, and would wait for itself.
        if !recognise(other)? || is_same(&self.path, other) {
            return Ok(taken);
        }
        // What a process was writing when it was killed is rolled back, for which SQLite has to write.
        let from = connect(other, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if !is_store(&from, other)? {
            return Ok(taken);
        }
        let of_other = |error| failed(other, &error);
        let of_path = |error| failed(&self.path, &error);
        let mut connection = self.locked();
        let transaction = immediate(&mut connection).map_err(of_path)?;
        let mut select = from
            .prepare("SELECT key, subject, search, spent, found FROM results ORDER BY key")
            .map_err(of_other)?;
        let mut rows = select.query([]).map_err(of_other)?;
        while let Some(row) = rows.next().map_err(of_other)? {
            let key: Vec<u8> = row.get(0).map_err(of_other)?;
            let result = kept(row, 1).map_err(of_other)?;
            taken.all += 1;
            taken.new += insert(&transaction, BETTER, &key, &result).map_err(of_path)? as u64;
        }
        transaction.commit().map_err(of_path)?;
        Ok(taken)
    }

    fn locked(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    });
    opened.map_err(|error| failed(path, &error))
}

/// Whether a database is a store: `false` where it is empty. Another process may make it one at the same time, so all that
/// tells is read at one moment.
fn is_store(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let run = |statement| connection.execute_batch(statement).map_err(|error| failed(path, &error));
    run("SAVEPOINT recognition")?;
    let found = is_store_at_once(connection, path);
    run("RELEASE recognition")?;
    found
}

fn is_store_at_once(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let number = |query: &str| {
        connection.query_row(query, [], |row| row.get::<_, i64>(0)).map_err(|error| failed(path, &error))
    };
    match (number("PRAGMA application_id")?, number("PRAGMA user_version")?) {
        (application, version) if application == i64::from(APPLICATION) => {
            let found = u32::try_from(version).unwrap_or(u32::MAX);
            if found == VERSION {
                Ok(true)
            } else {
                Err(StoreError::Version { path: path.to_owned(), found })
            }
        }
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(false),
        _ => Err(StoreError::OtherProgram { path: path.to_owned() }),
    }
}

fn immediate(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

fn insert(
    transaction: &Transaction<'_>,
    statement: &str,
    key: &[u8],
    result: &Kept,
) -> rusqlite::Result<usize> {
    let Kept { subject, search, spent, found } = result;
    let spent = spent.map(|spent| i64::try_from(spent.as_millis()).unwrap_or(i64::MAX));
    transaction.prepare(statement)?.execute(params![key, subject, search, spent, found])
}

/// The result in the columns from this one on.
fn kept(row: &Row<'_>, from: usize) -> rusqlite::Result<Kept> {
    let spent: Option<i64> = row.get(from + 2)?;
    Ok(Kept {
        subject: row.get(from)?,
        search: row.get(from + 1)?,
        spent: spent.map(|spent| Duration::from_millis(u64::try_from(spent).unwrap_or(0))),
        found: row.get(from + 3)?,
    })
}

/// Whether two paths name one file, as far as the system says so.
fn is_same(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).ok().is_some_and(|one| fs::canonicalize(other).ok() == Some(one))
}

fn failed(path: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError::Database { path: path.to_owned(), reason: error.to_string() }
}
