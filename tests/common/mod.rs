//! What the test binaries share: how much is tried. `tests/README.md` says when it is less.

use proptest::test_runner::Config;

/// Fewer cases than this say little about a law.
const FEWEST: u32 = 16;

/// Whether tests are to take long, for more that is tried: `BUBBLEPROOF_LONG` is set.
pub fn long() -> bool {
    std::env::var_os("BUBBLEPROOF_LONG").is_some()
}

/// How many random cases a law that takes long is tried on: `all`, or where tests are not to take long, a quarter
/// of them and at least 16. `PROPTEST_CASES` overrides both.
pub fn cases(all: u32) -> Config {
    let config = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() {
        config.cases
    } else if long() {
        all
    } else {
        all.min(FEWEST.max(all / 4))
    };
    Config { cases, ..config }
}
