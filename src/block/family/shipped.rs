//! The families that come with the tool: the files of `models/blocks/`.

use super::{Family, parse};

/// Name and text of every shipped family file.
pub const SHIPPED: [(&str, &str); 13] = [
    ("1f1b", include_str!("../../../models/blocks/1f1b.toml")),
    ("eager-1f1b", include_str!("../../../models/blocks/eager-1f1b.toml")),
    ("zb-h1", include_str!("../../../models/blocks/zb-h1.toml")),
    ("zb-h2", include_str!("../../../models/blocks/zb-h2.toml")),
    ("linear-half", include_str!("../../../models/blocks/linear-half.toml")),
    ("1f1b-v", include_str!("../../../models/blocks/1f1b-v.toml")),
    ("interleaved-1f1b-2", include_str!("../../../models/blocks/interleaved-1f1b-2.toml")),
    ("interleaved-1f1b-3", include_str!("../../../models/blocks/interleaved-1f1b-3.toml")),
    ("interleaved-1f1b-4", include_str!("../../../models/blocks/interleaved-1f1b-4.toml")),
    ("v-min", include_str!("../../../models/blocks/v-min.toml")),
    ("v-min-long-input", include_str!("../../../models/blocks/v-min-long-input.toml")),
    ("v-half", include_str!("../../../models/blocks/v-half.toml")),
    ("v-zb", include_str!("../../../models/blocks/v-zb.toml")),
];

/// The shipped family of this name.
///
/// # Panics
/// Never: a test reads every shipped file.
#[must_use]
pub fn shipped(name: &str) -> Option<Family> {
    let (_, text) = SHIPPED.into_iter().find(|&(candidate, _)| candidate == name)?;
    Some(parse(text).expect("a test reads every shipped file"))
}
