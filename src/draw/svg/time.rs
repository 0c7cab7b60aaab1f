//! Where instants lie from left to right, when a drawing shows all of the time, a part of it, or both ends.

use super::measures::BREAK;
use crate::analysis::Phases;
use crate::draw::Picture;
use crate::model::Ticks;

/// How much of the time a drawing shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// All of it; of a very long schedule, warm-up, some of the steady phase on either side of a break, and cool-down.
    #[default]
    Fitting,
    /// All of it, however long it is.
    Whole,
    /// From one instant to another.
    Between {
        /// The first instant.
        from: Ticks,
        /// The last one: later than the first.
        to: Ticks,
    },
}

/// A piece of the time that is drawn without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) from: Ticks,
    pub(super) to: Ticks,
}

impl Piece {
    fn duration(self) -> i64 {
        self.to.0 - self.from.0
    }
}

/// What of a span of time is visible in a piece: where it begins and ends, in hundredths of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Visible {
    /// The number of the piece.
    pub(super) piece: usize,
    pub(super) from: i64,
    pub(super) to: i64,
}

/// The pieces of the time that are drawn, in order, with a break between two of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Timeline {
    pieces: Vec<Piece>,
    /// The ticks of all pieces.
    shown: i64,
    /// The width of all pieces, in hundredths of a pixel.
    width: i64,
}

impl Timeline {
    /// These pieces, with the breaks between them on a plot of a width in pixels.
    pub(super) fn over(pieces: Vec<Piece>, plot: i64) -> Self {
        let shown = pieces.iter().map(|piece| piece.duration()).sum::<i64>().max(1);
        let breaks = i64::try_from(pieces.len()).expect("a few").saturating_sub(1);
        Self { pieces, shown, width: (plot - BREAK * breaks) * 100 }
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// How long a duration is, in hundredths of a pixel, rounded down.
    pub(super) fn length(&self, duration: Ticks) -> i64 {
        let scaled = i128::from(duration.0) * i128::from(self.width) / i128::from(self.shown);
        i64::try_from(scaled).unwrap_or(i64::MAX)
    }

    /// Where an instant of a piece lies from the left of the plot, in hundredths of a pixel.
    pub(super) fn place(&self, piece: usize, instant: Ticks) -> i64 {
        let before: i64 = self.pieces[..piece].iter().map(|piece| piece.duration()).sum();
        let breaks = i64::try_from(piece).expect("a few") * BREAK * 100;
        let at = i128::from(before) + i128::from(instant.0) - i128::from(self.pieces[piece].from.0);
        let scaled = at * i128::from(self.width) + i128::from(self.shown / 2);
        breaks + i64::try_from(scaled.div_euclid(i128::from(self.shown))).expect("it lies on the plot")
    }

    /// What is visible of the time between two instants: a part for each piece that it reaches into. What takes no
    /// time is visible where a piece has its instant.
    pub(super) fn visible(&self, start: Ticks, end: Ticks) -> impl Iterator<Item = Visible> + '_ {
        self.pieces.iter().enumerate().filter_map(move |(at, piece)| {
            let (from, to) = (start.max(piece.from), end.min(piece.to));
            let is_seen = from < to || (start == end && from == to);
            is_seen.then(|| Visible { piece: at, from: self.place(at, from), to: self.place(at, to) })
        })
    }

    /// Where an instant lies, if it is drawn.
    pub(super) fn at(&self, instant: Ticks) -> Option<i64> {
        let piece = self.pieces.iter().position(|piece| (piece.from..=piece.to).contains(&instant))?;
        Some(self.place(piece, instant))
    }

    /// The breaks: from where to where in hundredths of a pixel, and from when to when.
    pub(super) fn breaks(&self) -> impl Iterator<Item = ((i64, i64), (Ticks, Ticks))> + '_ {
        self.pieces.windows(2).enumerate().map(|(at, pair)| {
            let (before, after) = (pair[0].to, pair[1].from);
            ((self.place(at, before), self.place(at + 1, after)), (before, after))
        })
    }

    /// Where the last piece ends, in hundredths of a pixel.
    pub(super) fn end(&self) -> i64 {
        self.pieces.last().map_or(0, |piece| self.place(self.pieces.len() - 1, piece.to))
    }
}

/// How wide passes are to be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Room {
    /// As wide as is natural: this many pixels for a typical pass, on a plot of this width or somewhat more.
    Natural { pass: i64, plot: i64 },
    /// At least this many pixels for a typical pass, on a plot of this width, where leaving out a part helps.
    Fixed { pass: i64, plot: i64 },
}

/// The fewest intervals of the steady phase that stay on each side of a break.
const LEAST_INTERVALS: i128 = 3;

/// The pieces of the time of these pictures that are drawn.
pub(super) fn pieces(pictures: &[Picture<'_>], extent: Extent, room: Room) -> Vec<Piece> {
    let makespan = makespan(pictures);
    let whole = Piece { from: Ticks::ZERO, to: makespan };
    match extent {
        Extent::Whole => vec![whole],
        Extent::Between { from, to } => {
            let from = from.max(Ticks::ZERO).min(Ticks(makespan.0 - 1));
            vec![Piece { from, to: to.min(makespan).max(Ticks(from.0 + 1)) }]
        }
        Extent::Fitting => match left_out(pictures, makespan, room) {
            Some((from, to)) => vec![Piece { to: from, ..whole }, Piece { from: to, ..whole }],
            None => vec![whole],
        },
    }
}

/// The longest time that one of these pictures takes.
pub(super) fn makespan(pictures: &[Picture<'_>]) -> Ticks {
    pictures.iter().map(Picture::makespan).max().unwrap_or_default().max(Ticks(1))
}

/// The middle of the steady phase of all pictures, where leaving it out makes a drawing fit; nothing where the whole
/// fits, or where little would be gained.
fn left_out(pictures: &[Picture<'_>], makespan: Ticks, room: Room) -> Option<(Ticks, Ticks)> {
    let typical = i128::from(typical(pictures).0);
    let (pass, plot) = match room {
        Room::Natural { pass, plot } | Room::Fixed { pass, plot } => (i128::from(pass), i128::from(plot)),
    };
    let visible = typical * plot / pass.max(1);
    let all = i128::from(makespan.0);
    // A drawing that is as wide as is natural may well be somewhat wider than is convenient.
    let most = if matches!(room, Room::Natural { .. }) { visible * 3 / 2 } else { visible };
    if all <= most {
        return None;
    }
    let phases = || pictures.iter().map(Picture::phases);
    let from = phases().map(|Phases { steady_from, .. }| steady_from).max()?;
    let to = phases().map(|Phases { steady_to, .. }| steady_to).min()?;
    let steady = i128::from(to.0 - from.0);
    let microbatches = pictures.iter().map(|picture| picture.schedule.microbatches()).min()?.max(1);
    let least = 2 * LEAST_INTERVALS * all / i128::from(microbatches);
    let kept = (visible - (all - steady)).max(least);
    let omitted = steady - kept;
    if omitted * 3 < all {
        return None;
    }
    let head = i64::try_from(kept / 2).ok()?;
    let tail = i64::try_from(kept - kept / 2).ok()?;
    Some((Ticks(from.0 + head), Ticks(to.0 - tail)))
}

/// The duration of a typical pass of these pictures.
pub(super) fn typical(pictures: &[Picture<'_>]) -> Ticks {
    pictures.iter().map(Picture::typical_duration).min().unwrap_or(Ticks(1)).max(Ticks(1))
}
