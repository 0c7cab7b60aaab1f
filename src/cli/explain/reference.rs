//! Where the pages say more about a sentence.

use std::fmt;

use serde::{Serialize, Serializer};

/// A section of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    page: &'static str,
    section: &'static str,
}

impl Reference {
    /// What sets the time for each microbatch of a long run.
    pub const LONG_RUN: Self = Self::bound("Speed in the long run");
    /// Why the gains that are stated are the most that there can be.
    pub const GAINS: Self = Self::bound("What would help");
    /// How a critical path is read.
    pub const PATH: Self = Self { page: "docs/guide.md", section: "Explain what limits a schedule" };

    /// A section of the page with the lower bounds.
    pub const fn bound(section: &'static str) -> Self {
        Self { page: "docs/bounds.md", section }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}, \"{}\"", self.page, self.section)
    }
}

/// As a link: the page, and the name that its section has in an address.
impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let anchor = self.section.to_lowercase().replace(' ', "-");
        serializer.collect_str(&format_args!("{}#{anchor}", self.page))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::certificate::{BoundReason, Window};
    use crate::model::{Device, Link, Ticks};

    fn is_there(reference: Reference) -> bool {
        let page = fs::read_to_string(reference.page).expect("a page of this repository");
        page.lines().any(|line| line.trim_start_matches('#') == format!(" {}", reference.section))
    }

    #[test]
    fn every_section_is_there() {
        for reference in [Reference::LONG_RUN, Reference::GAINS, Reference::PATH] {
            assert!(is_there(reference), "{reference}");
        }
        assert!(!is_there(Reference::bound("No such section")));
    }

    #[test]
    fn every_reason_of_a_bound_has_a_section() {
        let (device, zero) = (Device(0), Ticks::ZERO);
        let (first, last) = (Window::default(), Window::default());
        let (work, head, tail) = (zero, zero, zero);
        for reason in [
            BoundReason::Alone,
            BoundReason::Windows { device, work, first, last },
            BoundReason::Chain { device, work, head, tail },
            BoundReason::Work { device, work, head, tail },
            BoundReason::Turnover { device, held: 1, turn: zero },
            BoundReason::Area { device },
            BoundReason::Offload { device },
            BoundReason::Recomputation { device, work, idle: zero, span: zero, head, tail },
            BoundReason::Link { link: Link::Pair { from: device, to: Device(1) }, work, head, tail },
            BoundReason::Subset { devices: vec![device], repetition: None },
            BoundReason::Horizon { devices: vec![device], end: zero },
            BoundReason::Pace { devices: vec![device], microbatches: 1, ticks: zero, end: zero },
        ] {
            assert!(is_there(Reference::bound(reason.section())), "{reason:?}");
        }
    }

    #[test]
    fn a_reference_is_a_link() {
        let link = serde_json::to_string(&Reference::LONG_RUN).expect("a text");
        assert_eq!(link, "\"docs/bounds.md#speed-in-the-long-run\"");
    }
}
