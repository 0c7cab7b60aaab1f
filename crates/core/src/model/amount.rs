//! Amounts of time and memory: integers with a unit in their type.
//!
//! A [`Model`](super::Model) is refused when everything that can happen under it, added up, comes
//! near the limits of 64 bits. Sums of the amounts that follow from a model therefore do not
//! overflow, and the operators here may panic instead of returning an error; release builds keep
//! overflow checks on, so that a sum can never wrap.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

macro_rules! amount {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub i64);

        impl $name {
            /// None of it.
            pub const ZERO: Self = Self(0);

            /// This many times the amount, or nothing when it does not fit 64 bits.
            #[must_use]
            pub fn checked_times(self, count: u64) -> Option<Self> {
                self.0.checked_mul(i64::try_from(count).ok()?).map(Self)
            }

            /// The sum, or nothing when it does not fit 64 bits.
            #[must_use]
            pub fn checked_add(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).map(Self)
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl Mul<i64> for $name {
            type Output = Self;
            fn mul(self, factor: i64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
                amounts.fold(Self::ZERO, Add::add)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    };
}

amount!(
    /// A duration or an instant in ticks; the model file names the unit of a tick.
    Ticks
);
amount!(
    /// An amount of memory in units; the model file says what a unit is (bytes, stage activations).
    Units
);
