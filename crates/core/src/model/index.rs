//! Indices of the things a pipeline is made of.
//!
//! Every index has a type of its own, so that a stage can never be passed for a device.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as a position in a slice.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The index at a position of a slice.
            ///
            /// # Panics
            /// When `position` does not fit 32 bits, which no model or schedule allows.
            #[must_use]
            pub fn at(position: usize) -> Self {
                Self(u32::try_from(position).expect("models and schedules are limited to 32-bit indices"))
            }

            /// The indices `0..count`.
            pub fn all(count: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..count).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    };
}

index!(
    /// A pipeline rank, `0..d`.
    Device
);
index!(
    /// A contiguous part of the model, `0..S`, numbered in the order of the forward pass.
    Stage
);
index!(
    /// A microbatch, `0..m`.
    Microbatch
);
