//! The bytes of an input as choices, made one after the other.

/// The choices that are left. When they run out, the first possibility is always taken, so that a shorter input
/// makes a smaller problem.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// A number below `count`, which must be positive.
    pub fn below(&mut self, count: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % count
    }

    /// The same as another kind of number.
    pub fn small<T: TryFrom<usize>>(&mut self, count: usize) -> T {
        T::try_from(self.below(count)).ok().expect("choices are small")
    }

    /// A number from -128 to 127.
    pub fn shift(&mut self) -> i64 {
        self.small::<i64>(256) - 128
    }

    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}
