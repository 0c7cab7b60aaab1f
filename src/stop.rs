//! When a search has to end: at a deadline, or because somebody asks for it.
//!
//! ```
//! use std::time::Duration;
//!
//! use bubbleproof::stop::{Interrupt, Stop};
//!
//! let interrupt = Interrupt::default();
//! let stop = Stop::on(interrupt.clone()).within(Duration::from_secs(60));
//! assert!(!stop.is_due());
//! // From another thread, or where Ctrl-C is handled:
//! interrupt.raise();
//! assert!(stop.is_due());
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A request to end a search, shared between whoever asks and the search.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the search to end with the best it has found.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the search has been asked to end.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// When a search has to end.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    deadline: Option<Instant>,
    interrupt: Interrupt,
}

impl Stop {
    /// A stop that has no deadline and is due only when interrupted.
    #[must_use]
    pub const fn on(interrupt: Interrupt) -> Self {
        Self { deadline: None, interrupt }
    }

    /// A stop that is due after this time from now. (A time beyond the end of the clock is no deadline.)
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self::default().within(limit)
    }

    /// The stop with the same interrupt that is due after this time from now, or at its own deadline if that
    /// is earlier.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        let earlier = Instant::now().checked_add(limit);
        let deadline = match (self.deadline, earlier) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { deadline, interrupt: self.interrupt.clone() }
    }

    /// The stop with the same interrupt that is due after an equal share of the time that is left, for work of which so
    /// many parts are still to be done. The last part has all of it.
    #[must_use]
    pub fn share(&self, parts: usize) -> Self {
        self.within(self.remaining() / u32::try_from(parts.max(1)).unwrap_or(u32::MAX))
    }

    /// Whether it is time to end.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.interrupt.is_raised() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether it was time to end so long ago, or somebody has asked for an end.
    #[must_use]
    pub fn is_overdue(&self, by: Duration) -> bool {
        let late = |deadline: Instant| deadline.checked_add(by).is_some_and(|late| Instant::now() >= late);
        self.interrupt.is_raised() || self.deadline.is_some_and(late)
    }

    /// Whether somebody has asked for an end, however much time is left.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// How long there is left, unless interrupted.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        if self.interrupt.is_raised() {
            return Duration::ZERO;
        }
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_seen_by_every_stop_made_from_it() {
        let interrupt = Interrupt::default();
        let stop = Stop::on(interrupt.clone());
        let sooner = stop.within(Duration::from_secs(3600));
        assert!(!stop.is_due() && !sooner.is_due());
        assert_eq!(stop.remaining(), Duration::MAX);
        interrupt.raise();
        assert!(stop.is_due() && sooner.is_due());
        assert_eq!(sooner.remaining(), Duration::ZERO);
    }

    #[test]
    fn parts_share_what_is_left() {
        let stop = Stop::after(Duration::from_secs(3600));
        let quarter = stop.share(4).remaining();
        assert!(quarter <= Duration::from_secs(900) && quarter > Duration::from_secs(800), "{quarter:?}");
        assert!(stop.share(1).remaining() > Duration::from_secs(3500));
        assert!(stop.share(0).remaining() > Duration::from_secs(3500));
        assert!(!Stop::default().share(3).is_due());
        assert!(Stop::after(Duration::ZERO).share(1).is_due());
    }

    #[test]
    fn the_earlier_of_two_deadlines_counts() {
        let now = Stop::after(Duration::ZERO);
        assert!(now.is_due() && now.within(Duration::MAX).is_due());
        assert!(Stop::after(Duration::from_secs(3600)).within(Duration::ZERO).is_due());
        assert!(!Stop::after(Duration::MAX).is_due());
    }
}
