//! What the test binaries share.

use proptest::test_runner::Config;

/// Fewer cases than this say little about a law.
const FEWEST: u32 = 16;

/// On how many random cases a law is tried that takes long: on `long`, where `BUBBLEPROOF_LONG` is set, else on
/// a quarter of them, but on no fewer than 16. `PROPTEST_CASES` goes before both.
pub fn cases(long: u32) -> Config {
    let config = Config::default();
    let asked = |variable| std::env::var_os(variable).is_some();
    let cases = if asked("PROPTEST_CASES") {
        config.cases
    } else if asked("BUBBLEPROOF_LONG") {
        long
    } else {
        long.min(FEWEST.max(long / 4))
    };
    Config { cases, ..config }
}
