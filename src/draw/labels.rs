//! Labels beside points, such that none covers another label or a point.

use super::xml::width_of;

/// The place of a label: the left end of its base line, in hundredths of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) x: i64,
    pub(super) y: i64,
    /// Whether it is so far from its point that a line should lead there.
    pub(super) is_far: bool,
}

/// A rectangle, in hundredths of a pixel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: i64,
    pub(super) top: i64,
    pub(super) right: i64,
    pub(super) bottom: i64,
}

impl Area {
    /// The square around a point.
    pub(super) const fn around((x, y): (i64, i64), distance: i64) -> Self {
        Self { left: x - distance, top: y - distance, right: x + distance, bottom: y + distance }
    }

    const fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    const fn holds(self, other: Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// Places for labels of this size beside their points, one after the other, each as near as the points, the
/// labels before it and the bounds allow. One for which there is no place goes right of its point.
pub(super) fn place(
    labels: &[((i64, i64), &str)],
    size: i64,
    bounds: Area,
    taken: impl IntoIterator<Item = Area>,
) -> Vec<Place> {
    let mut taken: Vec<Area> = taken.into_iter().collect();
    let line = size * 115;
    labels
        .iter()
        .map(|&((x, y), text)| {
            let width = width_of(text, size);
            let area = |place: Place| Area {
                left: place.x,
                top: place.y - size * 80,
                right: place.x + width,
                bottom: place.y + size * 22,
            };
            let middle = y + size * 35;
            let beside = |dy: i64| {
                let is_far = dy.abs() > line;
                let at = move |x: i64| Place { x, y: middle + dy, is_far };
                [at(x + 700), at(x - 700 - width), at(x - width / 2)]
            };
            let near = Place { x: x + 700, y: middle, is_far: false };
            let steps = (0..40).flat_map(|step| if step == 0 { vec![0] } else { vec![-step, step] });
            let found = steps
                .flat_map(|step| beside(step * line))
                .find(|&place| {
                    let area = area(place);
                    bounds.holds(area) && taken.iter().all(|other| !area.meets(*other))
                })
                .unwrap_or(near);
            taken.push(area(found));
            found
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_crowded_points_do_not_meet() {
        let bounds = Area { left: 0, top: 0, right: 60_000, bottom: 40_000 };
        let names = ["1f1b-v", "v-min", "v-half", "v-zb", "zb-h1", "interleaved-1f1b-uniform", "gpipe"];
        let points = [(30_000, 20_000), (30_200, 20_100), (30_000, 20_500), (59_000, 100), (100, 39_900)];
        let labels: Vec<_> = points.iter().cycle().zip(names.iter().cycle()).take(14).collect();
        let labels: Vec<_> = labels.into_iter().map(|(&point, &name)| (point, name)).collect();
        let points: Vec<Area> = points.iter().map(|&point| Area::around(point, 450)).collect();
        let places = place(&labels, 12, bounds, points.clone());
        let areas: Vec<Area> = places
            .iter()
            .zip(&labels)
            .map(|(place, (_, text))| Area {
                left: place.x,
                top: place.y - 960,
                right: place.x + width_of(text, 12),
                bottom: place.y + 264,
            })
            .collect();
        for (at, area) in areas.iter().enumerate() {
            assert!(bounds.holds(*area), "{:?}", labels[at]);
            assert!(areas[..at].iter().chain(&points).all(|other| !area.meets(*other)), "{:?}", labels[at]);
        }
    }
}
