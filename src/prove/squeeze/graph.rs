//! What must wait for what in the squeezed order of a family, on devices of every residue.
//!
//! The passes of a device are ordered as the block puts them modulo its interval T. Copy `j` of a pass
//! with offset `o` runs in *round* `j + o div T` of its device; in each round the passes come in the
//! order of their residues. So the start of copy `j` is written as
//! `lambda*(j + o div T) + start + tilt*i`, where `lambda` is the interval, and the number `start` depends on the pass
//! and on the residue of `i` alone. What must wait is then a difference of two such numbers.

use num_integer::Integer as _;

use super::Irregular;
use super::form::{LinearForm, Point};
use super::quasi::Quasi;
use crate::block::family::{Family, Layout};
use crate::model::Kind;
use crate::prove::linear::Linear;

/// More intervals than a microbatch takes: times, which are multiples of them, could overflow beyond.
const MOST_ROUNDS: u128 = 1 << 16;

/// A pass of every device, with its offset.
#[derive(Debug, Clone)]
pub(super) struct ClassPass {
    pub kind: Kind,
    pub chunk: u32,
    pub offset: Quasi,
    /// `offset div T`
    pub round: Quasi,
}

impl ClassPass {
    /// Such as `F0`: kind and chunk.
    pub fn name(&self) -> String {
        format!("{}{}", self.kind, self.chunk)
    }
}

/// A family by the residues of `i` and `d`: the residue of every offset modulo the interval depends on
/// those alone.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    /// The common period P of the residues of `i` and `d`.
    pub residues: i128,
    pub interval: i128,
    pub layout: Layout,
    pub passes: Vec<ClassPass>,
}

/// Where a device must be for a constraint to be about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// Wherever its residue occurs.
    Anywhere,
    /// On the first device alone.
    First,
    /// On the last device alone.
    Last,
    /// Between the last device and the first.
    Around {
        /// From the last to the first; else from the first to the last.
        from_last: bool,
    },
}

/// A pass by its position, and its device or the residue of that.
pub(super) type Node = (usize, i128);

/// `to` starts at least `ticks - lambda*rounds - tilt*shift` after `from`, both without their rounds and
/// tilts.
#[derive(Debug, Clone)]
pub(super) struct Constraint {
    pub from: Node,
    pub to: Node,
    pub ticks: LinearForm,
    /// The rounds between them; where they are not the same everywhere, the fewest.
    pub rounds: i128,
    /// Whether they are the same everywhere.
    pub exact: bool,
    /// From the device of `from` to that of `to`.
    pub shift: i128,
    pub place: Where,
    /// Whether `to` needs `from`; else it only comes later in the order of the device.
    pub wait: bool,
}

impl Constraint {
    /// By how much `to` starts after `from` at least, both without rounds and tilt; all times `scale`.
    pub fn weight(&self, point: Point, scale: i128, lambda: i128, tilt: i128) -> i128 {
        scale * self.ticks.at(point) - lambda * self.rounds - tilt * self.shift
    }
}

impl Classes {
    /// # Errors
    /// When the family cannot be told by residues, or two of its passes collide.
    pub fn of(family: &Family) -> Result<Self, Irregular> {
        let interval = i128::from(family.interval.0);
        let mut passes: Vec<(Kind, u32, Quasi)> = Vec::new();
        for offset in &family.passes {
            passes.push((offset.kind, offset.chunk, Quasi::of(&offset.at)?.refined_for(interval)?));
        }
        let residues = passes.iter().try_fold(1_i128, |residues, (_, _, offset)| {
            let period = offset.period();
            (residues / residues.gcd(&period)).checked_mul(period).ok_or(Irregular::Overflow)
        })?;
        for (_, _, offset) in &mut passes {
            *offset = offset.refined(residues)?;
            if offset.quotient(interval)?.largest() > MOST_ROUNDS {
                return Err(Irregular::Overflow);
            }
        }
        let lengths = |kind: Kind| -> i128 {
            let durations = family.durations;
            let (input, weight) = (durations.backward_input.0, durations.backward_weight.0);
            match kind {
                Kind::F | Kind::R => durations.forward.0.into(),
                Kind::I => input.into(),
                Kind::W => weight.into(),
                Kind::B => i128::from(input) + i128::from(weight),
            }
        };
        for chunk in (0..family.layout.chunks()).rev() {
            let of = |kind: Kind| passes.iter().find(|pass| (pass.0, pass.1) == (kind, chunk));
            if let (Some((_, _, input)), None) = (of(Kind::I), of(Kind::W)) {
                let weight = input.with_constants(|s, r| {
                    let here = |offset: &Quasi| offset.on(s, r, 0).constant;
                    let taken: Vec<_> =
                        passes.iter().map(|(kind, _, offset)| (here(offset), lengths(*kind))).collect();
                    let ready = here(input) + lengths(Kind::I);
                    first_room(ready, lengths(Kind::W), &taken, interval).ok_or(Irregular::NoRoom { chunk })
                })?;
                passes.push((Kind::W, chunk, weight));
            }
        }
        let pass = |(kind, chunk, offset): (Kind, u32, Quasi)| {
            Ok(ClassPass { kind, chunk, round: offset.quotient(interval)?, offset })
        };
        let passes = passes.into_iter().map(pass).collect::<Result<_, Irregular>>()?;
        Ok(Self { residues, interval, layout: family.layout, passes })
    }

    /// The passes of a device in the order of a round.
    ///
    /// # Errors
    /// When two of them start at the same instant modulo the interval.
    pub fn order(&self, s: i128, r: i128) -> Result<Vec<usize>, Irregular> {
        let residue = |pass: usize| self.passes[pass].offset.on(s, r, 0).constant.rem_euclid(self.interval);
        let mut order: Vec<usize> = (0..self.passes.len()).collect();
        order.sort_by_key(|&pass| residue(pass));
        if order.windows(2).any(|pair| residue(pair[0]) == residue(pair[1])) {
            return Err(Irregular::Collision);
        }
        Ok(order)
    }

    /// Everything that must wait, where `d` has the residue `s`.
    ///
    /// That I waits for the F of its own stage is left out: it follows along the stages above.
    ///
    /// # Errors
    /// When two passes collide, or a dependency grows the wrong way.
    pub fn constraints(&self, s: i128) -> Result<Vec<Constraint>, Irregular> {
        let mut constraints = Vec::new();
        for r in 0..self.residues {
            let order = self.order(s, r)?;
            let next = order.iter().skip(1).chain(order.first());
            for (position, (&from, &to)) in order.iter().zip(next).enumerate() {
                constraints.push(Constraint {
                    from: (from, r),
                    to: (to, r),
                    ticks: LinearForm::duration(self.passes[from].kind),
                    rounds: i128::from(position + 1 == order.len()),
                    exact: true,
                    shift: 0,
                    place: Where::Anywhere,
                    wait: false,
                });
            }
            for to in 0..self.passes.len() {
                for (from, shift, place) in self.needs(to) {
                    constraints.extend(self.wait(from, (to, r), s, shift, place)?);
                }
            }
        }
        Ok(constraints)
    }

    /// The pass on whose copy 0 all others wait: F of the first stage.
    ///
    /// # Errors
    /// When it is missing.
    pub fn first_pass(&self) -> Result<usize, Irregular> {
        self.find(0, &[Kind::F]).ok_or(Irregular::Stuck)
    }

    fn find(&self, chunk: u32, kinds: &[Kind]) -> Option<usize> {
        let has = |kind: &Kind| self.passes.iter().position(|pass| (pass.kind, pass.chunk) == (*kind, chunk));
        kinds.iter().find_map(has)
    }

    /// What a pass needs: the other pass, how far away its device is, and where that is so.
    pub fn needs(&self, to: usize) -> Vec<(usize, i128, Where)> {
        use Kind::{B, F, I, R, W};
        let (kind, chunk) = (self.passes[to].kind, self.passes[to].chunk);
        let chunks = self.layout.chunks();
        let need = |chunk: u32, kinds: &[Kind], shift: i128, place: Where| {
            self.find(chunk, kinds).map(|from| (from, shift, place))
        };
        let own = |kinds: &[Kind]| need(chunk, kinds, 0, Where::Anywhere);
        // Chunk 1 of a V goes up the devices; every other chunk goes down.
        let up = self.layout == Layout::V && chunk == 1;
        let before = if up { 1 } else { -1 };
        let mut needs = Vec::new();
        match kind {
            F => {
                needs.extend(need(chunk, &[F], before, Where::Anywhere));
                match self.layout {
                    Layout::V if up => needs.extend(need(0, &[F], 0, Where::Last)),
                    Layout::Looped(_) if chunk > 0 => {
                        needs.extend(need(chunk - 1, &[F], 0, Where::Around { from_last: true }));
                    }
                    _ => {}
                }
            }
            I | B => {
                needs.extend(need(chunk, &[I, B], -before, Where::Anywhere));
                match self.layout {
                    Layout::V if !up => needs.extend(need(1, &[I, B], 0, Where::Last)),
                    Layout::Looped(_) if chunk + 1 < chunks => {
                        needs.extend(need(chunk + 1, &[I, B], 0, Where::Around { from_last: false }));
                    }
                    // The last stage turns from forward to backward.
                    _ => needs.extend(need(chunk, &[F], 0, if up { Where::First } else { Where::Last })),
                }
                needs.extend(own(&[R]));
            }
            R => needs.extend(own(&[F])),
            W => needs.extend(own(&[I])),
        }
        needs
    }

    /// That `to` waits for `from`; nothing where no device of the residue is at that place. `shift` leads
    /// from the device of `to` to that of `from`.
    fn wait(
        &self,
        from: usize,
        (to, r): Node,
        s: i128,
        shift: i128,
        place: Where,
    ) -> Result<Option<Constraint>, Irregular> {
        let (first, last) = (0, (s - 1).rem_euclid(self.residues));
        let (here, there, other): (i128, Linear, i128) = match place {
            Where::Anywhere => {
                let other = (r + shift).rem_euclid(self.residues);
                (r, self.passes[from].round.on(s, r, shift), other)
            }
            Where::First => (first, self.passes[from].round.on_first(s), first),
            Where::Last => (last, self.passes[from].round.on_last(s), last),
            Where::Around { from_last: true } => (first, self.passes[from].round.on_last(s), last),
            Where::Around { from_last: false } => (last, self.passes[from].round.on_first(s), first),
        };
        if here != r {
            return Ok(None);
        }
        let round = &self.passes[to].round;
        let own = match place {
            Where::Anywhere => round.on(s, r, 0),
            Where::First | Where::Around { from_last: true } => round.on_first(s),
            Where::Last | Where::Around { from_last: false } => round.on_last(s),
        };
        // Devices of residue `r` are there from `a < b` on where `r >= s`, and both ends from `d >= 1` on.
        let short = if place == Where::Anywhere { r >= s } else { s == 0 };
        let (rounds, exact) = own.minus(there).least(short.into()).ok_or(Irregular::Shrinks)?;
        let elsewhere = shift != 0 || matches!(place, Where::Around { .. });
        let duration = LinearForm::duration(self.passes[from].kind);
        Ok(Some(Constraint {
            from: (from, other),
            to: (to, r),
            ticks: if elsewhere { duration.plus(LinearForm::LATENCY) } else { duration },
            rounds,
            exact,
            shift: -shift,
            place,
            wait: true,
        }))
    }
}

/// The first instant from `ready` on at which a pass of this length overlaps none of `taken`, modulo the
/// interval: at once, or at the end of another pass.
fn first_room(ready: i128, length: i128, taken: &[(i128, i128)], interval: i128) -> Option<i128> {
    if length > interval {
        return None;
    }
    let free = |start: i128| {
        taken.iter().filter(|(_, other)| *other > 0 && length > 0).all(|&(at, other)| {
            let after = (start - at).rem_euclid(interval);
            after >= other && after + length <= interval
        })
    };
    let ends = taken.iter().map(|&(at, other)| ready + (at + other - ready).rem_euclid(interval));
    ends.chain([ready]).filter(|&start| free(start)).min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every instant of the interval is tried.
        #[test]
        fn a_pass_goes_where_it_first_overlaps_no_other(
            ready in -12..12_i128,
            length in 0..5_i128,
            taken in prop::collection::vec((-12..12_i128, 0..4_i128), 0..4),
            interval in 1..12_i128,
        ) {
            let during = |at: i128, length: i128| (at..at + length).map(|tick| tick.rem_euclid(interval));
            let is_free = |start: &i128| {
                let mut others = taken.iter().flat_map(|&(at, other)| during(at, other));
                length <= interval && !others.any(|tick| during(*start, length).any(|own| own == tick))
            };
            let expected = (ready..ready + interval).find(is_free);
            prop_assert_eq!(first_room(ready, length, &taken, interval), expected);
        }
    }
}
