use std::fmt::Write as _;

use super::*;
use crate::job;

const TINY: &str = r#"
name = "tiny"
[transformer]
layers = 2
hidden = 4
heads = 2
ffn = 16
biases = true
learned_positions = true
vocabulary = 10
sequence = 3
[training]
weights = "2 B"
gradients = "4 B"
optimizer_state = "12 B"
activation = "2 B"
dropout = true
attention = "stored"
[[attained]]
tensor = 1
microbatch_size = 2
share = "50 %"
[machine]
devices = 2
peak = "1 GFLOP/s"
[choices]
global_batch = 4
"#;

fn cost(text: &str, layer: Layer) -> Cost {
    let model = parse(text).expect("dimensions");
    model.cost(layer, &model.attained[0]).expect("it fits")
}

/// By hand, with s = 3, b = 2, h = 4, a = 2, V = 10.
#[test]
fn a_tiny_gpt_costs_what_the_formulas_of_the_papers_say() {
    let (s, b, h, a, v) = (3, 2, 4, 2, 10);
    let block = cost(TINY, Layer::Block);
    // sbh(24h + 4s) = 24 * 108 operations at half a FLOP a nanosecond.
    assert_eq!(block.forward, 2 * s * b * h * (24 * h + 4 * s));
    assert_eq!(block.forward, 5184);
    assert_eq!(block.backward_input, 2 * s * b * h * (24 * h + 8 * s));
    assert_eq!(block.backward_weight, 2 * 24 * s * b * h * h);
    assert_eq!(block.operations, s * b * h * (72 * h + 12 * s));
    assert_eq!(block.activation, 34 * s * b * h + 5 * a * s * s * b);
    assert_eq!(block.activation, 996);
    assert_eq!(block.retained_for_weight, 32 * s * b * h);
    assert_eq!(block.checkpoint, Some(2 * s * b * h));
    assert_eq!(block.gradients, 4 * (12 * h * h + 13 * h));
    assert_eq!(block.weights, 6 * 244);
    assert_eq!(block.optimizer_state, 12 * 244);
    let head = cost(TINY, Layer::Head);
    assert_eq!(head.forward, 2 * 2 * s * b * h * v);
    assert_eq!(head.activation, 4 * s * b * h + 4 * s * b * v);
    assert_eq!(head.output, 0);
    let embedding = cost(TINY, Layer::Embedding);
    assert_eq!((embedding.forward, embedding.gradients), (0, 4 * (v + s) * h));
    let model = parse(TINY).expect("dimensions");
    assert_eq!(model.parameters(), 2 * 244 + 52 + 48);
}

#[test]
fn selective_recomputation_keeps_34_bytes_and_flash_the_sums_besides() {
    let of = |how: &str| cost(&TINY.replace("stored", how), Layer::Block);
    assert_eq!(of("recomputed").activation, 34 * 24);
    assert_eq!(of("flash").activation, 34 * 24 + 4 * 2 * 6);
    // F of attention is 4 s^2 b h = 288 operations.
    let work = |how: &str| of(how).backward_input - of(how).backward_weight;
    assert_eq!([work("stored"), work("flash"), work("recomputed")], [2 * 576, 2 * 720, 2 * 864]);
    assert_eq!(of("stored").operations, of("flash").operations);
}

/// By hand, with a gate, half the heads for keys, 4 experts, 2 per token, 1 shared.
#[test]
fn experts_cost_what_a_token_visits_and_hold_all() {
    let text = TINY
        .replace("biases = true\n", "gated = true\nkv_heads = 1\n")
        .replace("dropout = true", "dropout = false")
        .replace("stored", "recomputed")
        .replace("[training]", "[transformer.experts]\ncount = 4\nper_token = 2\nffn = 3\nshared = 1\ndense_layers = 1\n[training]");
    let model = parse(&text).expect("dimensions");
    assert_eq!(
        model.dimensions.layers(),
        [(1, Layer::Embedding), (1, Layer::Block), (1, Layer::Experts), (1, Layer::Head)]
    );
    let (dense, experts) = (cost(&text, Layer::Block), cost(&text, Layer::Experts));
    // Attention 4 * 4 * 2 + 2 * 4 * 2 = 48; a gated layer 3 * 4 * 16 = 192; norms 8.
    assert_eq!(dense.gradients, 4 * (48 + 192 + 8));
    assert_eq!(dense.backward_weight, 2 * 2 * 6 * (48 + 192));
    // Five experts of 36, and a router of 16; a token visits three.
    assert_eq!(experts.gradients, 4 * (48 + 180 + 16 + 8));
    assert_eq!(experts.backward_weight, 2 * 2 * 6 * (48 + 16 + 108));
    // 2h + 2ad + 2gd + 2h and 3f; or two inputs and outputs, and 3f of three experts, and four probabilities.
    assert_eq!(dense.activation, 6 * 2 * (8 + 8 + 4 + 8 + 48));
    assert_eq!(experts.activation, 6 * (2 * (8 + 8 + 4 + 8 + 16 + 27) + 16));
}

#[test]
fn the_job_says_what_the_costs_are() {
    let text = parse(TINY).expect("dimensions").job().expect("it fits");
    insta::assert_snapshot!("tiny", text);
    let job = job::parse(&text).expect("a job");
    let layer = &job.profiles[&(1, 2)].layers["block"];
    assert_eq!((layer.forward, layer.activation, layer.weights), (5184, 996, 6 * 244));
    assert!(job.is_estimate);
}

#[test]
fn mistakes_are_named_with_their_key() {
    let mut messages = String::new();
    for (from, to) in [
        ("hidden = 4\n", ""),
        ("hidden = 4", "hiden = 4"),
        ("hidden = 4", "hidden = 5"),
        ("heads = 2", "heads = 2\nkv_heads = 3"),
        ("ffn = 16", "ffn = 99999999"),
        ("2 B", "2 s"),
        ("\"4 B\"", "\"4.5 B\""),
        ("\"stored\"", "\"linear\""),
        ("50 %", "50"),
        ("50 %", "150 %"),
        ("50 %", "0.00001 %"),
        ("global_batch = 4", "global_batch = 4\ntensor = [1, 2]"),
        ("peak = \"1 GFLOP/s\"", ""),
        ("devices = 2", "devices = 2\nmemory = 1979-05-27"),
        ("[machine]", "[[attained]]\ntensor = 1\nmicrobatch_size = 2\nshare = \"40 %\"\n[machine]"),
    ] {
        let text = TINY.replacen(from, to, 1);
        assert_ne!(text, TINY, "{from}");
        let error = parse(&text).expect_err(to);
        let place = text[error.span.clone()].lines().next().unwrap_or("");
        _ = writeln!(messages, "{error}\n    at: {place}");
    }
    insta::assert_snapshot!("mistakes", messages);
}

proptest::proptest! {
    #[test]
    fn more_of_anything_never_makes_a_job_cheaper(
        layers in 1_u32..9, hidden in 1_u32..9, ffn in 1_u32..40, sequence in 1_u32..9, size in 1_u32..5, which in 0_usize..5,
    ) {
        let work = |[layers, hidden, ffn, sequence, size]: [u32; 5]| {
            let text = TINY
                .replace("layers = 2", &format!("layers = {layers}"))
                .replace("hidden = 4", &format!("hidden = {}", 2 * hidden))
                .replace("ffn = 16", &format!("ffn = {ffn}"))
                .replace("sequence = 3", &format!("sequence = {sequence}"))
                .replace("microbatch_size = 2", &format!("microbatch_size = {size}"));
            let job = job::parse(&parse(&text).expect("dimensions").job().expect("it fits")).expect("a job");
            let profile = job.profiles.values().next().expect("one").clone();
            let costs = job.layers.iter().map(|kind| profile.layers[kind].clone()).collect::<Vec<_>>();
            [
                costs.iter().map(|cost| cost.forward).sum::<i64>(),
                costs.iter().map(|cost| cost.backward_input + cost.backward_weight).sum(),
                costs.iter().map(|cost| cost.activation).sum(),
                costs.iter().map(|cost| cost.weights + cost.optimizer_state).sum(),
            ]
        };
        let less = [layers, hidden, ffn, sequence, size];
        let mut more = less;
        more[which] += 1;
        for (less, more) in work(less).into_iter().zip(work(more)) {
            proptest::prop_assert!(less <= more);
        }
    }
}
