use super::*;

fn point(measured: i64, predicted: i64) -> Point {
    Point { measured: Ticks(measured), predicted: Ticks(predicted) }
}

fn row(name: &str, kind: usize, points: &[(i64, i64)]) -> Row {
    let points = points.iter().map(|&(measured, predicted)| point(measured, predicted)).collect();
    Row { name: name.to_owned(), kind, points }
}

fn group(name: &str, goals: &[i128], rows: Vec<Row>) -> Group {
    let goals = goals.iter().map(|&thousandths| Rate::new(thousandths, 1000)).collect();
    Group { name: name.to_owned(), goals, rows }
}

fn groups() -> Vec<Group> {
    vec![
        group(
            "replay & alone",
            &[10, 30],
            vec![
                row("a<b.json", 0, &[(2_000_000_000, 1_990_000_000), (2_010_000_000, 2_100_000_000)]),
                row("c.json", 1, &[(600_000_000, 500_000_000), (0, 5), (5, 0)]),
            ],
        ),
        group("launch gaps", &[], vec![row("c.json", 1, &[(600_000_000, 600_000_000)])]),
    ]
}

fn drawn(groups: &[Group]) -> String {
    let kinds = ["1f1b".to_owned(), "v-half".to_owned()];
    Scatter { title: "x & y", kinds: &kinds, groups }.svg()
}

#[test]
fn points_lie_where_their_values_are() {
    insta::assert_snapshot!(drawn(&groups()));
}

/// The dots of a path, in hundredths of a pixel.
fn dots(svg: &str) -> usize {
    svg.matches("h.01").count()
}

#[test]
fn every_point_is_in_both_panels_and_texts_are_escaped() {
    let svg = drawn(&groups());
    // Four points with positive times, and the samples of two kinds.
    assert_eq!(dots(&svg), 2 * 4 + 2);
    for text in ["x &amp; y", "a&lt;b.json", "replay &amp; alone", "band: within 1 % and 3 %"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.contains("1f1b, 2 predictions") && svg.contains("v-half, 2 predictions"), "{svg}");
}

#[test]
fn nothing_to_draw_is_a_picture_too() {
    let svg = drawn(&[]);
    assert_eq!(dots(&svg), 2);
    let none = drawn(&[group("", &[], vec![row("a", 0, &[(0, 0)])])]);
    assert_eq!(dots(&none), 2);
}

#[test]
fn names_of_any_length_and_many_kinds_have_room() {
    let kinds: Vec<String> = (0..40).map(|kind| format!("schedule {kind} {}", "long ".repeat(30))).collect();
    let rows =
        (0..40).map(|kind| row(&format!("{}/run-{kind}.json", "folder/".repeat(20)), kind, &[(100, 101)]));
    let groups = [group(&"by what ".repeat(30), &[10], rows.collect())];
    let svg = Scatter { title: "many", kinds: &kinds, groups: &groups }.svg();
    assert!(svg.contains("and 27 more"), "{svg}");
    for text in
        svg.lines().filter_map(|line| line.strip_prefix("<text ")?.split_once('>')).map(|(_, text)| text)
    {
        let text = text.trim_end_matches("</text>");
        assert!(super::super::xml::width_of(text, 11) < 76_000, "{text}");
    }
    assert!(svg.contains("/run-39.json</text>"), "the end of a name is what differs");
}

#[test]
fn the_median_of_an_even_number_is_the_lower_one() {
    let row = row("", 0, &[(100, 101), (100, 98), (100, 104), (100, 90)]);
    assert_eq!(row.median(), Some((-1, 50)));
}
