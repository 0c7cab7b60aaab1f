//! Values that grow evenly with `i` and `d` once the residues of both are known.

use num_integer::Integer;

/// With `i = P*a + r` and `d = P*b + s`, for one `r` and one `s` from 0 to `P - 1`: the value
/// `per_device*a + per_devices*b + constant`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Linear {
    /// For each further period of devices below this one.
    pub per_device: i128,
    /// For each further period of devices.
    pub per_devices: i128,
    pub constant: i128,
}

impl Linear {
    pub const fn constant(constant: i128) -> Self {
        Self { per_device: 0, per_devices: 0, constant }
    }

    pub fn minus(self, other: Self) -> Self {
        Self {
            per_device: self.per_device - other.per_device,
            per_devices: self.per_devices - other.per_devices,
            constant: self.constant - other.constant,
        }
    }

    /// The sum; nothing where it does not fit 128 bits.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            per_device: self.per_device.checked_add(other.per_device)?,
            per_devices: self.per_devices.checked_add(other.per_devices)?,
            constant: self.constant.checked_add(other.constant)?,
        })
    }

    /// The multiple; nothing where it does not fit 128 bits.
    pub fn checked_times(self, factor: i128) -> Option<Self> {
        Some(Self {
            per_device: self.per_device.checked_mul(factor)?,
            per_devices: self.per_devices.checked_mul(factor)?,
            constant: self.constant.checked_mul(factor)?,
        })
    }

    /// The number of times that there must be more residues for its quotient by a positive divisor to
    /// grow evenly too.
    pub fn refinement(self, divisor: i128) -> i128 {
        let factor = |slope: i128| divisor / slope.gcd(&divisor);
        factor(self.per_device).lcm(&factor(self.per_devices))
    }

    /// The quotient by a positive divisor, rounded towards minus infinity, where that grows evenly.
    pub fn quotient(self, divisor: i128) -> Option<Self> {
        (self.refinement(divisor) == 1).then(|| Self {
            per_device: self.per_device / divisor,
            per_devices: self.per_devices / divisor,
            constant: Integer::div_floor(&self.constant, &divisor),
        })
    }

    /// Its value, if it is the same everywhere.
    pub fn only(self) -> Option<i128> {
        ((self.per_device, self.per_devices) == (0, 0)).then_some(self.constant)
    }

    /// The least value where `0 <= a <= b - short`, and whether there is no other; nothing where there is
    /// no least.
    pub fn least(self, short: i128) -> Option<(i128, bool)> {
        let grows = self.per_devices >= 0 && self.per_device + self.per_devices >= 0;
        let least = self.constant + self.per_devices * short;
        grows.then_some((least, self.only().is_some()))
    }
}
