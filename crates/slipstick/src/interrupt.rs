//! Long calls that end early when they are asked to: at Ctrl-C in Python, at the word of another thread in Rust.
//!
//! Between two steps (samples, columns, environments) whatever takes long in this crate looks whether it is to end. The
//! thread that called looks at the clock and asks every [`PERIOD`]; threads that help it read one flag. Without a
//! [`watch`] there is nothing to ask. A single step is not divided: its time is bounded by the iterations that
//! [`Options`](crate::Options) allow.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two questions.
pub const PERIOD: Duration = Duration::from_millis(20);

/// A call that ended early because it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted before its end")
    }
}

impl std::error::Error for Interrupted {}

/// Whether a call is to end.
type Question = Rc<dyn Fn() -> bool>;

/// Who asks on this thread. One for all calls below [`watch`]: no signature in between has to hand it on.
struct Watch {
    /// Whether the answer was yes, for all threads of the call.
    stop: Arc<AtomicBool>,
    /// `None` on threads that help: they only look at the flag.
    ask: Option<Question>,
    asked: Cell<Instant>,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Runs a call, which ends early once `ask` says so. Results of such a call say `Interrupted`; what was changed on the
/// way is told by each method.
///
/// ```
/// use slipstick::rollout::BatchError;
/// use slipstick::{Batch, Input, interrupt};
/// let mut batch = Batch::new(&slipstick::builtin("sphere")?, 2)?;
/// let (mut q, mut v) = (vec![0.0; 2 * 7], vec![0.0; 2 * 6]);
/// batch.reset(&[true; 2], &mut q, &mut v)?;
/// let steps = 100_000;
/// let (mut all_q, mut all_v) = (vec![0.0; 2 * 7 * (steps + 1)], vec![0.0; 2 * 6 * (steps + 1)]);
/// let out = [&mut all_q[..], &mut all_v[..]];
/// let done = interrupt::watch(|| true, || batch.rollout(steps, None, [&q, &v], &Input::default(), out));
/// assert_eq!(done, Err(BatchError::Interrupted));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn watch<T>(ask: impl Fn() -> bool + 'static, call: impl FnOnce() -> T) -> T {
    let stop = Arc::new(AtomicBool::new(false));
    under(Watch { stop, ask: Some(Rc::new(ask)), asked: Cell::new(Instant::now()) }, call)
}

/// Runs a call under a watch; the one before is back afterwards, also if the call panics.
fn under<T>(watch: Watch, call: impl FnOnce() -> T) -> T {
    struct Before(Option<Watch>);
    impl Drop for Before {
        fn drop(&mut self) {
            WATCH.replace(self.0.take());
        }
    }
    let _before = Before(WATCH.replace(Some(watch)));
    call()
}

/// The flag of the call, for threads that help.
pub(crate) fn flag() -> Option<Arc<AtomicBool>> {
    WATCH.with_borrow(|watch| watch.as_ref().map(|watch| watch.stop.clone()))
}

/// Runs the part of a call that falls to a thread that helps.
pub(crate) fn helping<T>(flag: Option<&Arc<AtomicBool>>, call: impl FnOnce() -> T) -> T {
    match flag {
        None => call(),
        Some(stop) => under(Watch { stop: stop.clone(), ask: None, asked: Cell::new(Instant::now()) }, call),
    }
}

/// Whether the call goes on. For loops whose turns take a microsecond or more.
pub fn check() -> Result<(), Interrupted> {
    // what is asked may be any code, also a call of this crate: nothing is borrowed meanwhile
    let due = WATCH.with_borrow(|watch| match watch {
        None => Ok(None),
        Some(watch) if watch.stop.load(Ordering::Relaxed) => Err(Interrupted),
        Some(watch) => Ok(watch.due()),
    })?;
    match due {
        Some((ask, stop)) if ask() => {
            stop.store(true, Ordering::Relaxed);
            Err(Interrupted)
        }
        _ => Ok(()),
    }
}

impl Watch {
    /// Whom to ask, if it is time to.
    fn due(&self) -> Option<(Question, Arc<AtomicBool>)> {
        let (ask, now) = (self.ask.as_ref()?, Instant::now());
        if now.duration_since(self.asked.get()) < PERIOD {
            return None;
        }
        self.asked.set(now);
        Some((ask.clone(), self.stop.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn a_call_is_asked_after_a_while_and_stays_interrupted() {
        assert_eq!(check(), Ok(()), "nobody watches");
        watch(
            || true,
            || {
                assert_eq!(check(), Ok(()), "too early");
                sleep(PERIOD);
                assert_eq!((check(), check()), (Err(Interrupted), Err(Interrupted)));
                let flag = flag();
                assert_eq!(helping(flag.as_ref(), check), Err(Interrupted));
            },
        );
        assert_eq!(check(), Ok(()), "it is over");
    }

    #[test]
    fn who_is_asked_may_call_again() {
        let again = || watch(|| true, || (sleep(PERIOD), check()).1.is_err());
        watch(again, || {
            sleep(PERIOD);
            assert_eq!(check(), Err(Interrupted));
        });
    }

    #[test]
    fn a_panic_ends_the_watch() {
        let panicked = std::panic::catch_unwind(|| watch(|| true, || panic!("on purpose")));
        sleep(PERIOD);
        assert!(panicked.is_err() && check().is_ok());
    }
}
