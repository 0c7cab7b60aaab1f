//! The dynamic programme of the peer.

/// Sizes of consecutive parts, none of them empty, such that the greatest total of a part is least.
///
/// With `T(e, p)` the least greatest total of `p` parts of the first `e` layers,
///
/// ```text
/// T(0, 0) = 0,    T(e, p) = min over s from p-1 to e-1 of max(T(s, p-1), work of layers s to e-1)
/// ```
///
/// Of equally good `s` the least is taken, so that among equals the last part is the longest.
pub fn balanced(work: &[i64], parts: usize) -> Vec<usize> {
    let mut upto = vec![0];
    for w in work {
        upto.push(upto[upto.len() - 1] + w);
    }
    // Entry `[p][e]`: T(e, p), and where its last part begins; `None` where there are fewer layers than parts.
    let mut best: Vec<Vec<Option<(i64, usize)>>> = vec![vec![None; upto.len()]; parts + 1];
    best[0][0] = Some((0, 0));
    for p in 1..=parts {
        for e in p..upto.len() {
            best[p][e] = (p - 1..e)
                .filter_map(|s| best[p - 1][s].map(|(before, _)| (before.max(upto[e] - upto[s]), s)))
                .min();
        }
    }
    let mut sizes = Vec::new();
    let mut end = work.len();
    for p in (1..=parts).rev() {
        let (_, begin) = best[p][end].expect("there are at least as many layers as parts");
        sizes.push(end - begin);
        end = begin;
    }
    sizes.reverse();
    sizes
}
