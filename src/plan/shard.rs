//! A part of the choices of a job, for one of several processes.

use std::fmt;
use std::str::FromStr;

/// One of several parts: `1/8` to `8/8`. Together the parts are the whole, and no choice is in two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    /// Which, from 1.
    index: usize,
    /// How many there are.
    count: usize,
}

impl Shard {
    /// A part of so many; nothing where there is no such part.
    #[must_use]
    pub const fn new(index: usize, count: usize) -> Option<Self> {
        if index == 0 || index > count { None } else { Some(Self { index, count }) }
    }

    /// Which part it is, from 1.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index
    }

    /// How many parts there are.
    #[must_use]
    pub const fn count(self) -> usize {
        self.count
    }

    /// What of a list belongs to it: every so many, so that each part has some of the beginning.
    pub(super) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.index - 1).step_by(self.count).collect()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.index, self.count)
    }
}

/// A text that names no part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a part such as 3/8: the part, from 1, then a slash and the number of parts")]
pub struct NoShard;

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (index, count) = text.split_once('/').ok_or(NoShard)?;
        let number = |text: &str| text.parse().map_err(|_| NoShard);
        Self::new(number(index)?, number(count)?).ok_or(NoShard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole() {
        for count in 1..9 {
            let parts =
                (1..=count).map(|index| Shard::new(index, count).expect("a part").of((0..7).collect()));
            let mut all: Vec<u32> = parts.flatten().collect();
            all.sort_unstable();
            assert_eq!(all, (0..7).collect::<Vec<u32>>(), "{count}");
        }
    }

    #[test]
    fn a_part_is_read_as_it_is_printed() {
        for text in ["1/1", "3/8", "8/8"] {
            assert_eq!(text.parse::<Shard>().map(|shard| shard.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "1", "0/8", "9/8", "1/0", "0/0", "-1/8", "1/8/2", "a/b", "1 / 8"] {
            assert_eq!(text.parse::<Shard>(), Err(NoShard), "{text}");
        }
    }
}
