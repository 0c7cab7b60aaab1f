//! Late acceptance (Burke and Bykov, 2017): what is changed at random is kept if it is no worse than it is now, or than it was a fixed
//! number of steps ago. That needs neither temperatures nor floating point, so the same seed gives the same everywhere.

/// What was reached so many steps ago, or as many steps before that, if it was better.
pub(super) struct Late<T> {
    history: Vec<T>,
    step: usize,
}

impl<T: Copy + Ord> Late<T> {
    /// Begins as if each of the last so many steps had ended with this value. There has to be a step.
    pub(super) fn new(value: T, steps: usize) -> Self {
        Self { history: vec![value; steps], step: 0 }
    }

    /// The most that the next value may be, if it is `now` at present.
    pub(super) fn limit(&self, now: T) -> T {
        now.max(self.history[self.step])
    }

    /// Ends a step, with the value after it. What was better stays in its place.
    pub(super) fn note(&mut self, now: T) {
        let before = &mut self.history[self.step];
        *before = now.min(*before);
        self.step = (self.step + 1) % self.history.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reached_so_many_steps_ago_is_good_enough() {
        let mut late = Late::new(10, 2);
        assert_eq!(late.limit(7), 10);
        late.note(8);
        assert_eq!(late.limit(8), 10, "the other step before");
        late.note(12);
        assert_eq!((late.limit(7), late.limit(12)), (8, 12), "never less than now");
        late.note(9);
        assert_eq!(late.limit(7), 10, "12 was no better");
        late.note(7);
        assert_eq!(late.limit(7), 8, "nor was 9");
    }
}
