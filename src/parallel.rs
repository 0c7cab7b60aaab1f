//! Work divided among threads, with one and the same result for any number of them: pieces of work
//! that know nothing of each other, and results in the order of the pieces.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `work` makes of every piece, in the order of the pieces.
pub fn map<P: Sync, R: Send>(threads: NonZeroUsize, pieces: &[P], work: impl Fn(&P) -> R + Sync) -> Vec<R> {
    let workers = threads.get().min(pieces.len());
    if workers <= 1 {
        return pieces.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<R>>> = pieces.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((piece, place)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    pieces.get(at).zip(done.get(at))
                } {
                    let result = work(piece);
                    *place.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    let taken = |place: Mutex<Option<R>>| {
        place
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .expect("every piece is worked on")
    };
    done.into_iter().map(taken).collect()
}

/// What both make, one after the other if there is only one thread.
pub fn both<A: Send, B>(
    threads: NonZeroUsize,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    if threads == NonZeroUsize::MIN {
        return (one(), other());
    }
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces_however_many_threads_there_are() {
        let pieces: Vec<u64> = (0..100).collect();
        let expected: Vec<u64> = pieces.iter().map(|piece| piece * piece).collect();
        for threads in [1, 2, 3, 200] {
            let threads = NonZeroUsize::new(threads).expect("positive");
            assert_eq!(map(threads, &pieces, |piece| piece * piece), expected, "{threads}");
        }
        assert!(map(NonZeroUsize::MIN, &[0_u8; 0], |_| ()).is_empty());
    }

    #[test]
    fn both_are_made_with_any_number_of_threads() {
        for threads in [1, 2, 3] {
            let threads = NonZeroUsize::new(threads).expect("positive");
            assert_eq!(both(threads, || 1, || "two"), (1, "two"));
        }
    }
}
