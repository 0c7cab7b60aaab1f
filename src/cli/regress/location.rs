//! Files as CI systems name them: from the root of the repository on.

use std::env;
use std::path::{Component, Path, PathBuf};

/// The variable with the root of the checkout, in a job of GitHub Actions.
pub(super) const GITHUB: &str = "GITHUB_WORKSPACE";

/// The variable with the root of the checkout, in a job of GitLab.
pub(super) const GITLAB: &str = "CI_PROJECT_DIR";

/// The root of a checkout, and where in it this program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    root: PathBuf,
    current: PathBuf,
}

impl Root {
    /// The working directory, for people who look there.
    pub(super) fn here() -> Self {
        let current = env::current_dir().unwrap_or_default();
        let current = current.canonicalize().unwrap_or(current);
        Self { root: current.clone(), current }
    }

    /// The root that an environment variable names, else the working directory.
    pub(super) fn of(variable: &str) -> Self {
        let Self { current, .. } = Self::here();
        let root = env::var_os(variable).filter(|root| !root.is_empty()).map(PathBuf::from);
        let root = root.map(|root| root.canonicalize().unwrap_or(root));
        // A variable that is left over from elsewhere names nothing here.
        let root = root.filter(|root| current.starts_with(root)).unwrap_or_else(|| current.clone());
        Self { root, current }
    }

    /// The name of a file from the root on, with `/` between its parts and neither `.` nor `..`; of a file elsewhere, its
    /// absolute path.
    pub(super) fn name(&self, file: &Path) -> String {
        let mut whole = PathBuf::new();
        for part in self.current.join(file).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => _ = whole.pop(),
                part => whole.push(part),
            }
        }
        let parts = match whole.strip_prefix(&self.root) {
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => whole.to_string_lossy().into_owned(),
        };
        if cfg!(windows) { parts.replace('\\', "/") } else { parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn files_are_named_from_the_root_on() {
        let root = Root { root: "/repo".into(), current: "/repo/sub".into() };
        for (file, name) in [
            ("designs/../half.toml", "sub/half.toml"),
            ("./designs/regress.toml", "sub/designs/regress.toml"),
            ("../models/a.toml", "models/a.toml"),
            ("../../elsewhere/a.toml", "/elsewhere/a.toml"),
            ("/repo/a.toml", "a.toml"),
        ] {
            assert_eq!(root.name(Path::new(file)), name);
        }
    }
}
