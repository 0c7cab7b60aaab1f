use crate::text::is_control;
use itertools::{Itertools, iproduct};
use num_integer::Integer;
use proptest::prelude::*;

use super::*;
use crate::block::BlockViolation;
use crate::model::Placement;

/// What each family's device `i` of `d` holds at its peak, in activations, in closed form.
fn stated_peak(name: &str, d: i64, i: i64) -> i64 {
    match name {
        "1f1b" => d - i,
        "eager-1f1b" => 2 * (d - i) - 1,
        "zb-h1" => d,
        "zb-h2" => 2 * d - 1,
        "linear-half" => (d - i) / 2 + 1,
        "v-min" if d % 3 == 2 && i % 3 == 0 => 2 * ((d + 4) / 3) - 2,
        "v-min" | "v-min-long-input" => 2 * ((d + 4) / 3),
        "v-half" => 2 * (d / 2 + 1),
        "v-zb" => 2 * d,
        "1f1b-v" => {
            4 * (d / 3)
                + match (d % 3, i % 3) {
                    (0, 2) => 0,
                    (0, _) | (1, 2) => 1,
                    (1, _) => 2,
                    (_, 0) => 3,
                    (_, _) => 4,
                }
        }
        "interleaved-1f1b-2" => 3 * d - 2 * i - i64::from(d % 3 != 0),
        "interleaved-1f1b-3" => interleaved_peak(3, d, i),
        "interleaved-1f1b-4" => interleaved_peak(4, d, i),
        _ => unreachable!("no other family is shipped"),
    }
}

/// The scheme of the uniform interleaved families, for any number of chunks.
fn interleaved_peak(chunks: i64, d: i64, i: i64) -> i64 {
    let (there, back) = ((2 * d + 1) / 3, 4 * d / 3);
    let [taken, taken_back] = [there, back].map(|slots| slots.gcd(&chunks));
    2 * (d - i) - 2 + ((chunks - 1) * (there + back) + taken + taken_back) / 2
}

/// The families of this project, which are no named schedules.
const OWN: [&str; 2] = ["linear-half", "v-min-long-input"];

fn family(name: &str) -> Family {
    shipped(name).expect("it is shipped")
}

#[test]
fn shipped_families_are_named_like_their_files() {
    for (name, text) in SHIPPED {
        let family = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(family.name, name);
        assert!(family.source.is_some(), "{name}");
        assert!(!family.promises.is_empty(), "{name}");
    }
    assert_eq!(shipped("v-max"), None);
}

#[test]
fn shipped_families_have_no_fault_and_keep_their_promises_up_to_64_devices() {
    for (name, _) in SHIPPED {
        let family = family(name);
        for devices in 1..=64 {
            let block = family.block(devices).expect("within the domain");
            let model = family.model(devices, 1).expect("within the domain");
            assert_eq!(block.faults(&model), [], "{name}, d = {devices}");
            let peaks: Vec<i64> = block.steady_peak(&model).into_iter().map(|peak| peak.0).collect();
            let stated: Vec<i64> =
                (0..i64::from(devices)).map(|device| stated_peak(name, i64::from(devices), device)).collect();
            assert_eq!(peaks, stated, "{name}, d = {devices}");
            assert_eq!(family.broken_promises(devices), Ok(Vec::new()), "{name}, d = {devices}");
        }
    }
}

#[test]
fn shipped_families_have_the_blocks_of_the_named_schedules() {
    for (name, _) in SHIPPED.into_iter().filter(|(name, _)| !OWN.contains(name)) {
        let family = family(name);
        let named = if name.starts_with("interleaved") { "interleaved-1f1b-uniform" } else { name };
        for devices in 1..=64 {
            let block = family.block(devices).expect("within the domain");
            let other = crate::catalog::block(named, block.placement()).expect("it is in the catalogue");
            for (pass, at) in block.passes() {
                // Where the catalogue fuses I and W, the family may state them apart.
                let Some(expected) = other.offset(pass).or_else(|| match pass.kind {
                    Kind::I => other.offset(pass.with_kind(Kind::B)),
                    Kind::W => other.offset(pass.with_kind(Kind::B)).map(|at| at + Ticks(1)),
                    _ => None,
                }) else {
                    panic!("{name}, d = {devices}: {pass}")
                };
                assert_eq!(at, expected, "{name}, d = {devices}: {pass}");
            }
            assert_eq!(block.interval(), other.interval(), "{name}, d = {devices}");
        }
    }
}

#[test]
fn one_formula_has_the_peaks_of_uniform_interleaved_blocks_with_any_number_of_chunks() {
    for (chunks, devices) in iproduct!(1..8_u32, 1..=24_u32) {
        let placement = Placement::looped(devices, chunks).expect("a placement");
        let model = Model::unit(placement.clone(), 1).expect("a model");
        let block =
            crate::catalog::block("interleaved-1f1b-uniform", &placement).expect("it is in the catalogue");
        let peaks: Vec<i64> = block.steady_peak(&model).into_iter().map(|peak| peak.0).collect();
        let (v, d) = (i64::from(chunks), i64::from(devices));
        let stated: Vec<i64> = (0..d).map(|device| interleaved_peak(v, d, device)).collect();
        assert_eq!(peaks, stated, "v = {chunks}, d = {devices}");
    }
}

#[test]
fn where_i_is_long_our_own_family_is_faster_than_v_min_at_no_more_memory() {
    for devices in [3, 5, 9, 16] {
        let (ours, microbatches) = (family("v-min-long-input"), 8 * devices);
        let model = ours.model(devices, microbatches).expect("within the domain");
        let block = ours.block(devices).expect("within the domain");
        let published = family("v-min").block(devices).expect("within the domain");
        let [ours, theirs] = [block, published].map(|block| {
            crate::replay::replay(&model, &block.expand(&model, microbatches).expect("a schedule"))
        });
        assert_eq!((&ours.violations, &theirs.violations), (&vec![], &vec![]), "d = {devices}");
        let most = |verdict: &crate::replay::Verdict| verdict.peak_memory.iter().max().copied();
        assert!(most(&ours) <= most(&theirs), "d = {devices}");
        // In the steady phase one takes 14 ticks for a microbatch, the other 18.
        let takes = |verdict: &crate::replay::Verdict| {
            verdict.timing.as_ref().expect("it is valid").metrics.makespan.0
        };
        assert!(18 * takes(&ours) < 15 * takes(&theirs), "d = {devices}");
    }
}

#[test]
fn expanded_shipped_families_replay_within_their_steady_peak() {
    for (name, _) in SHIPPED {
        for devices in [1, 2, 3, 4, 7] {
            let block = family(name).block(devices).expect("within the domain");
            let model = family(name).model(devices, 3 * devices).expect("within the domain");
            let verdict =
                crate::replay::replay(&model, &block.expand(&model, 3 * devices).expect("a schedule"));
            assert_eq!(verdict.violations, [], "{name}, d = {devices}");
            let steady = block.steady_peak(&model);
            assert!(verdict.peak_memory.iter().zip(&steady).all(|(peak, steady)| peak <= steady));
        }
    }
}

#[test]
fn without_their_gaps_v_min_and_v_half_collide() {
    for (name, gap, devices, device) in
        [("v-min", "if(d mod 3 = 0, 2, 0)", 3, 0), ("v-half", "if(d mod 2 = 0, 3, 0)", 2, 1)]
    {
        let (_, text) = SHIPPED.into_iter().find(|&(other, _)| other == name).expect("it is shipped");
        assert!(text.contains(gap));
        let tight = parse(&text.replace(gap, "0")).expect("a family");
        let model = tight.model(devices, 1).expect("within the domain");
        let four = |pass: Pass| pass.kind != Kind::W;
        let faults = match tight.block(devices) {
            Ok(block) => block.faults(&model),
            Err(error) => panic!("{name}: {error}"),
        };
        assert!(
            faults
                .iter()
                .any(|fault| matches!(fault, BlockViolation::Collision { device: at, first, second, .. }
                if *at == Device(device) && four(*first) && four(*second))),
            "{name}: {faults:?}"
        );
    }
}

#[test]
fn weights_left_out_go_where_they_first_fit() {
    // On the one device of a V: F0 0..3, F1 3..6, I1 8..12, I0 12..16; two W of 2 ticks remain.
    let text = "name = \"x\"\nplacement = \"v\"\ninterval = 20\n[durations]\nF = 3\nI = 4\nW = 2\n\
        [[pass]]\nkind = \"F\"\nat = \"0\"\n[[pass]]\nkind = \"F\"\nchunk = 1\nat = \"3\"\n\
        [[pass]]\nkind = \"I\"\nchunk = 1\nat = \"8\"\n[[pass]]\nkind = \"I\"\nat = \"12\"\n";
    let starts = |interval: i64| -> Result<[i64; 2], FamilyError> {
        let block = Family { interval: Ticks(interval), ..parse(text).expect("a family") }.block(1)?;
        let weight = |stage| block.offset(Pass::new(Stage(stage), Kind::W, crate::model::Microbatch(0)));
        Ok([1, 0].map(|stage| weight(stage).expect("it was placed").0))
    };
    // Chunk 1 comes first, behind I0, and chunk 0 behind it. Modulo 18, only 6..8 is left for that.
    assert_eq!(starts(20), Ok([16, 18]));
    assert_eq!(starts(18), Ok([16, 24]));
    let pass = Pass::new(Stage(0), Kind::W, crate::model::Microbatch(0));
    assert_eq!(starts(17), Err(FamilyError::NoRoom { device: Device(0), pass }));
}

#[test]
fn a_false_promise_is_found_with_its_first_device() {
    let stricter = Family {
        promises: vec![
            parse_condition("peak <= 2*((d+4) div 3) - 1 or d < 3", &Variable::ALL).expect("a condition"),
        ],
        ..family("v-min")
    };
    assert_eq!(stricter.broken_promises(2), Ok(vec![]));
    let broken = stricter.broken_promises(3).expect("within the domain");
    assert_eq!((broken.len(), broken[0].device, broken[0].peak), (1, Device(0), Units(4)));
    insta::assert_snapshot!(broken[0], @"`peak <= 2*((d + 4) div 3) - 1 or d < 3` is false on device 0 of 3, whose peak is 4");
}

#[test]
fn device_counts_outside_the_domain_are_refused() {
    let domain = parse_condition("d >= 2 and d mod 2 = 0", &[Variable::Devices]).expect("a condition");
    let even = Family { domain, ..family("v-half") };
    assert!(even.block(4).is_ok());
    for devices in [0, 1, 3] {
        let error = even.block(devices).expect_err("outside the domain").to_string();
        assert_eq!(
            error,
            format!("the family is made for `d >= 2 and d mod 2 = 0`, not for {devices} devices")
        );
    }
}

fn evaluate(text: &str, i: i64, d: i64) -> Result<i64, EvaluationError> {
    let values = |variable| match variable {
        Variable::Device => Some(i),
        Variable::Devices => Some(d),
        _ => None,
    };
    parse_formula(text, &Variable::ALL).unwrap_or_else(|error| panic!("{text}: {error}")).evaluate(&values)
}

#[test]
fn formulas_have_the_values_of_exact_integer_arithmetic() {
    for (text, value) in [
        ("1 + 2*3 - 4", 3),
        ("d - i - 1", 4),
        ("d - (i - 1)", 6),
        ("(0 - 7) div 3", -3),
        ("(0 - 7) mod 3", 2),
        ("-7 div 3", -3),
        ("-i*2", -4),
        ("2*d div 4 mod 2", 1),
        ("-(i + d)", -9),
        ("if(i = 2 and (d < 3 or d != 7), 1, 0)", 0),
        ("if(i >= 2 or d > 9 and i > 9, 5, 6) mod (2 + 2)", 1),
        ("if(i==2,if(d<=7,10,20),30)", 10),
        ("--3", 3),
    ] {
        assert_eq!(evaluate(text, 2, 7), Ok(value), "{text}");
    }
    for text in ["9223372036854775807 + i", "-9223372036854775808 - i", "-9223372036854775808*(0 - i)"] {
        assert_eq!(evaluate(text, 1, 1), Err(EvaluationError::Overflow), "{text}");
    }
    assert_eq!(evaluate("peak", 1, 1), Err(EvaluationError::Undefined(Variable::Peak)));
}

#[test]
fn malformed_formulas_are_located() {
    let long = "1".repeat(MAX_LENGTH + 1);
    let deep = "(".repeat(MAX_NESTING + 1);
    let cases = [
        ("", 0..0, "expected a number, a variable, `(` or `if`, found the end"),
        ("i +", 3..3, "expected a number, a variable, `(` or `if`, found the end"),
        ("i i", 2..3, "expected an operator or the end, found `i`"),
        ("i*d", 0..3, "one side of `*` must be a constant"),
        ("1 + i*(d + 1)", 4..13, "one side of `*` must be a constant"),
        ("d div i", 6..7, "the right side of `div` must be a positive constant"),
        ("d mod 0", 6..7, "the right side of `mod` must be a positive constant"),
        ("d div (1 - 2)", 6..13, "the right side of `div` must be a positive constant"),
        ("n + 1", 0..1, "`n` is not known"),
        ("2 * peak", 4..8, "`peak` has no value here"),
        ("d / 2", 2..3, "`/` has no meaning in a formula"),
        ("d × 2", 2..4, "`×` has no meaning in a formula"),
        ("d > 2", 0..5, "expected a number, but this is a condition"),
        ("1 + (d > 2)", 4..11, "expected a number, but this is a condition"),
        ("if(d, 1, 2)", 3..4, "expected a condition, but this is a number"),
        ("if(d > 1 and i, 1, 2)", 13..14, "expected a condition, but this is a number"),
        ("if d > 1", 3..4, "expected `(` after `if`, found `d`"),
        ("if(d > 1, 2)", 11..12, "expected `,` and what else `if` gives, found `)`"),
        ("(d", 2..2, "expected `)`, found the end"),
        ("9223372036854775808", 0..19, "the number does not fit 64 bits"),
        ("99999999999999999999", 0..20, "the number does not fit 64 bits"),
        ("- 9223372036854775809", 0..21, "the number does not fit 64 bits"),
        ("1 + 9223372036854775807*2*d", 4..25, "the number does not fit 64 bits"),
        (long.as_str(), 0..long.len(), "a formula has at most 2000 bytes"),
        (deep.as_str(), 64..65, "a formula is nested at most 64 deep"),
    ];
    for (text, span, message) in cases {
        let error = parse_formula(text, &[Variable::Device, Variable::Devices]).expect_err(text);
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!(error.span, span, "{text}: {error}");
    }
    let error = parse_condition("d + 1", &[Variable::Devices]).expect_err("a number");
    assert_eq!(error.to_string(), "expected a condition, but this is a number");
}

#[test]
fn promises_are_conditions_or_about_durations() {
    let everywhere = parse_promise("2*peak <= peak_1f1b + 4 or d < 3").expect("a promise");
    assert!(matches!(everywhere, Promise::Everywhere(_)));
    let text = "bubble = 0 when tW + 2*tI >= 2*tF and (tF = 0 or tF <= 3*(tI - tW))";
    let Ok(Promise::BubbleFree(free)) = parse_promise(text) else { panic!("{text}") };
    assert_eq!(free.to_string(), text);
    let first = [-2, 2, 1];
    assert_eq!(free.cones(), [vec![first, [1, 0, 0], [-1, 0, 0]], vec![first, [-1, 3, -3]]]);
    for (text, span, message) in [
        ("bubble = 0 when", 15..15, "expected a number, a variable"),
        ("bubble = 0 when tF", 16..18, "expected a condition"),
        ("bubble = 0 when tF > tI", 16..23, "durations are compared by"),
        ("bubble = 0 when tF >= 1", 16..23, "durations are compared by"),
        ("bubble = 0 when tF div 2 >= tI", 16..30, "durations are compared by"),
        ("bubble = 0 when 2000*tF >= tI", 16..29, "durations are compared by"),
        ("bubble = 0 when d >= 2", 16..17, "`d` has no value here"),
        ("bubble = 0 when tF = tI when tW = 0", 24..28, "expected an operator or the end"),
        ("bubble = 0 and i = 0 when tF = tI", 0..20, "a promise for all durations"),
        ("peak = 2 when tF = tI", 0..8, "a promise for all durations"),
        ("peak when tF = tI", 0..4, "expected a condition"),
        ("tF = tI", 0..2, "`tF` has no value here"),
        ("when", 0..4, "expected a number, a variable"),
    ] {
        let error = parse_promise(text).expect_err(text);
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!(error.span, span, "{text}: {error}");
    }
}

#[test]
fn malformed_family_files_are_located() {
    let good = "name = \"x\"\nplacement = \"v\"\ninterval = 6\ndomain = \"d >= 1\"\npromise = \"peak = 2\"\n\
        [durations]\nF = 1\nI = 1\nW = 1\n[[pass]]\nkind = \"F\"\nat = \"i\"\n[[pass]]\nkind = \"F\"\n\
        chunk = 1\nat = \"d\"\n[[pass]]\nkind = \"I\"\nat = \"2*d\"\n[[pass]]\nkind = \"B\"\nchunk = 1\nat = \"3*d\"\n";
    parse(good).expect("a family");
    let cases = [
        ("interval = 6", "interval = 0", "0", "`interval` must be from 1 to"),
        ("interval = 6", "interval = -6", "-6", "`interval` must not be negative"),
        ("interval = 6", "intervall = 6", "intervall", "unknown key `intervall`"),
        ("\"v\"", "\"u\"", "\"u\"", "`placement` must be one of linear, looped, v"),
        ("\"v\"", "\"looped\"", "", "missing key `chunks`"),
        ("\"v\"", "\"v\"\nchunks = 3", "3", "`chunks` is 3, but v placement has 2 on each device"),
        ("d >= 1", "i >= 1", "i", "`domain`: `i` has no value here"),
        ("peak = 2", "peak", "peak", "`promise`: expected a condition"),
        ("\"peak = 2\"", "[\"peak = 2\", \"d = 1 or x\"]", "x", "`promise[1]`: `x` is not known"),
        (
            "\"peak = 2\"",
            "[\"peak = 2\", \"peak=2\"]",
            "\"peak=2\"",
            "`promise[1]` is \"peak=2\", but that is promised already",
        ),
        ("at = \"2*d\"", "at = \"2*d*i\"", "2*d*i", "`pass[2].at`: one side of `*`"),
        ("at = \"2*d\"", "at = '''2*/'''", "/", "`pass[2].at`: `/` has no meaning"),
        ("at = \"2*d\"", "at = \"2*\\u0064*i\"", "\"2*\\u0064*i\"", "`pass[2].at`: one side of `*`"),
        ("at = \"2*d\"", "at = 2", "2", "`pass[2].at` must be a quoted string"),
        ("chunk = 1\nat = \"d\"", "chunk = 2\nat = \"d\"", "2", "`pass[1].chunk` must be from 0 to 1"),
        ("chunk = 1\nat = \"d\"", "at = \"d\"", "[[pass]]", "`pass[1]` is F of chunk 0, but so is pass[0]"),
        ("kind = \"I\"", "kind = \"X\"", "\"X\"", "`pass[2].kind` must be one of F, R, I, W, B"),
        ("kind = \"I\"", "kind = \"W\"", "", "`pass` is without a B or an I of chunk 0"),
        (
            "chunk = 1\nat = \"3*d\"",
            "at = \"3*d\"",
            "",
            "`pass` is with a B beside its parts I or W of chunk 0",
        ),
        ("W = 1\n", "W = 1.5\n", "1.5", "`durations.W` must be an integer"),
    ];
    for (from, to, marked, message) in cases {
        assert!(good.contains(from), "{from}");
        let text = good.replace(from, to);
        let error = parse(&text).expect_err(to);
        assert!(error.to_string().contains(message), "{to}: {error}");
        if !marked.is_empty() {
            assert_eq!(text.get(error.span()), Some(marked), "{to}: {error}");
        }
    }
}

fn any_variable() -> impl Strategy<Value = Variable> {
    prop::sample::select(Variable::ALL.to_vec())
}

fn any_comparison() -> impl Strategy<Value = Comparison> {
    prop::sample::select(Comparison::ALL.to_vec())
}

fn any_formula() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Formula::Integer),
        (-9..9_i64).prop_map(Formula::Integer),
        any_variable().prop_map(Formula::Variable),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        let compare = (inner.clone(), any_comparison(), inner.clone())
            .prop_map(|(left, comparison, right)| Condition::Compare(left, comparison, right));
        let condition = any_condition(compare);
        prop_oneof![
            two.clone().prop_map(|(a, b)| Formula::Sum(Box::new(a), Box::new(b))),
            two.prop_map(|(a, b)| Formula::Difference(Box::new(a), Box::new(b))),
            (any::<i64>(), inner.clone()).prop_map(|(n, a)| Formula::Times(n, Box::new(a))),
            (1..=i64::MAX, inner.clone()).prop_map(|(n, a)| Formula::Quotient(Box::new(a), n)),
            (1..9_i64, inner.clone()).prop_map(|(n, a)| Formula::Remainder(Box::new(a), n)),
            (condition, inner.clone(), inner).prop_map(|(c, a, b)| Formula::If(
                Box::new(c),
                Box::new(a),
                Box::new(b)
            )),
        ]
    })
}

fn any_condition(leaf: impl Strategy<Value = Condition> + 'static) -> impl Strategy<Value = Condition> {
    leaf.prop_recursive(2, 6, 2, |inner| {
        let two = (inner.clone(), inner);
        prop_oneof![
            two.clone().prop_map(|(a, b)| Condition::And(Box::new(a), Box::new(b))),
            two.prop_map(|(a, b)| Condition::Or(Box::new(a), Box::new(b))),
        ]
    })
}

/// A text that a family file may hold.
fn plain_text() -> impl Strategy<Value = String> {
    ".*".prop_map(|text: String| text.chars().filter(|&letter| !is_control(letter)).collect())
}

proptest! {
    #[test]
    fn reading_a_printed_formula_gives_the_same_tree(formula in any_formula()) {
        let text = formula.to_string();
        prop_assume!(text.len() <= MAX_LENGTH);
        prop_assert_eq!(parse_formula(&text, &Variable::ALL), Ok(formula));
    }

    #[test]
    fn reading_any_text_as_a_formula_does_not_panic(text in "[ 0-9id+*()<=>!,a-z-]{0,60}") {
        let _ = parse_formula(&text, &Variable::ALL);
    }

    #[test]
    fn reading_a_printed_family_gives_the_same_family(
        name in plain_text(),
        source in prop::option::of(plain_text()),
        placement in 0..3_u32,
        (interval, forward, backward_input, backward_weight) in (1..99_i64, 0..9_i64, 0..9_i64, 0..9_i64),
        at in prop::collection::vec(any_formula(), 8),
        fused: bool,
        compare in prop::collection::vec(any_comparison(), 0..3),
    ) {
        let layout = [Layout::Linear, Layout::V, Layout::Looped(4)][placement as usize];
        // Offsets know only i and d.
        let plain = |formula: &Formula| match parse_formula(&formula.to_string(), &[Variable::Device, Variable::Devices]) {
            Ok(formula) => formula,
            Err(_) => Formula::Variable(Variable::Device),
        };
        let kinds = if fused { vec![Kind::F, Kind::B] } else { vec![Kind::F, Kind::I] };
        let passes = (0..layout.chunks()).flat_map(|chunk| {
            kinds.iter().map(move |&kind| (kind, chunk))
        });
        prop_assume!(at.iter().all(|formula| formula.to_string().len() < MAX_LENGTH / 2));
        // Promises know no durations.
        let promised = |formula: &Formula| parse_formula(&formula.to_string(), &Variable::PROMISED).is_ok();
        prop_assume!(at.iter().take(compare.len()).all(promised));
        let Ok(Promise::BubbleFree(free)) = parse_promise("bubble = 0 when tW + 2*tI >= 2*tF and 0 <= -tF + tI or tW = 0")
        else { panic!("a promise") };
        let family = Family {
            name,
            source,
            layout,
            interval: Ticks(interval),
            domain: Condition::Compare(Formula::Variable(Variable::Devices), Comparison::Less, Formula::Integer(interval)),
            promises: compare
                .iter()
                .zip(&at)
                .map(|(&comparison, formula)| Condition::Compare(formula.clone(), comparison, Formula::Integer(1)))
                .unique_by(ToString::to_string)
                .collect(),
            bubble_free: if fused { vec![free.clone()] } else { Vec::new() },
            durations: Durations {
                forward: Ticks(forward),
                backward_input: Ticks(backward_input),
                backward_weight: Ticks(backward_weight),
            },
            passes: passes.zip(&at).map(|((kind, chunk), at)| Offset { kind, chunk, at: plain(at) }).collect(),
        };
        let text = print(&family);
        match parse(&text) {
            Ok(read) => prop_assert_eq!(read, family),
            Err(error) => prop_assert!(false, "{}: {}", error, text),
        }
    }
}
