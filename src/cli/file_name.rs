//! The names of files, as messages and results have them.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::text::Escaped;

/// The name of a file. Whoever made the file chose it: as text, its control characters are escaped, so that it stays on
/// its line; in JSON, whose strings can hold them, it is the name that opens the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct FileName(String);

impl FileName {
    /// The name of a file as it was given.
    pub fn of(path: impl AsRef<Path>) -> Self {
        Self(path.as_ref().to_string_lossy().into_owned())
    }

    /// What is read or written and has no path, such as `standard input`.
    pub fn called(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name, control characters included.
    pub fn raw(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&self.0).fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_control_characters_stays_on_its_line() {
        let name = FileName::of("a\n\u{1b}[2Jb é.json");
        assert_eq!(name.to_string(), "a\\n\\u{1b}[2Jb é.json");
        assert_eq!(name.raw(), "a\n\u{1b}[2Jb é.json");
        assert_eq!(FileName::called("standard input").to_string(), "standard input");
    }
}
