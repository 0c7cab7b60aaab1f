//! What the test binaries share: how much is tried. `tests/README.md` says when it is less.

use std::panic::Location;

use proptest::test_runner::Config;

/// Fewer cases than this say little about a law.
const FEWEST: u32 = 16;

/// Whether the tests of the file that asks are to take long, for more that is tried. `BUBBLEPROOF_LONG` is `k/n` for the k-th of n
/// parts of all files, counted from zero, or anything else for all of them.
#[track_caller]
pub fn long() -> bool {
    takes_long(std::env::var("BUBBLEPROOF_LONG").ok().as_deref())
}

/// The same for this value of `BUBBLEPROOF_LONG`, if it has one.
#[track_caller]
pub fn takes_long(asked: Option<&str>) -> bool {
    // Outside of the closure, which would be the caller itself.
    let file = Location::caller().file();
    asked.is_some_and(|asked| is_asked(asked, file))
}

/// Whether all tests are to take long, whatever the file: for what takes minutes.
pub fn all_take_long() -> bool {
    std::env::var("BUBBLEPROOF_LONG").is_ok_and(|asked| part(&asked).is_none())
}

/// Whether `BUBBLEPROOF_LONG` with this value asks for what takes long in a file.
pub fn is_asked(asked: &str, file: &str) -> bool {
    // FNV-1a: the same on every machine and with every compiler.
    let mixed = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let hash = file.bytes().fold(2_166_136_261, mixed);
    part(asked).is_none_or(|(part, of)| hash % of == part % of)
}

/// The part of all files, and of how many parts, for which `BUBBLEPROOF_LONG` with this value asks; nothing where that is all.
fn part(asked: &str) -> Option<(u32, u32)> {
    let (part, of) = asked.split_once('/')?;
    Some((part.parse().ok()?, of.parse().ok()?)).filter(|&(_, of)| of > 0)
}

/// How many random cases a law that takes long is tried on: `all`, or where tests are not to take long, a quarter
/// of them and at least 16. `PROPTEST_CASES` overrides both.
#[track_caller]
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

#[test]
fn every_file_takes_long_in_one_part_or_where_all_do() {
    for file in ["tests/library/paper.rs", "tests/library/cuts.rs", "tests/files/communication/laws.rs"] {
        let parts = (0..4).filter(|part| is_asked(&format!("{part}/4"), file)).count();
        assert_eq!(parts, 1, "{file}");
        assert!(is_asked("1", file) && is_asked("", file) && is_asked("1/0", file));
    }
    assert_eq!(["1", "", "1/0", "2/4", "7/4"].map(part), [None, None, None, Some((2, 4)), Some((7, 4))]);
}
