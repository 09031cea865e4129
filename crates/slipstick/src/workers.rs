//! A worker pool. Idle threads take the next group of neighbors; results do not depend on which thread takes which
//! group. Without the feature `threads` the calling thread does all the work.

#[cfg(feature = "threads")]
use crate::interrupt;
#[cfg(feature = "threads")]
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
#[cfg(not(feature = "threads"))]
use std::convert::Infallible as ThreadPoolBuildError;
use std::num::NonZero;
#[cfg(feature = "threads")]
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};
use std::thread::available_parallelism;
#[cfg(feature = "threads")]
use std::thread::{self, Thread};

/// Groups per thread: enough that a group of robots on the ground does not leave the other threads waiting for long.
#[cfg(feature = "threads")]
const GROUPS: usize = 8;

/// Splittable work: a list of tasks from which the first ones can be taken.
pub(crate) trait Splittable: Sized + Send {
    /// How many there are.
    fn count(&self) -> usize;
    /// The first ones, at most `n`; `None` if all are taken.
    fn take(&mut self, n: usize) -> Option<Self>;
}

impl<T: Send> Splittable for &mut [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn take(&mut self, n: usize) -> Option<Self> {
        let n = n.min(self.len());
        let (taken, left) = std::mem::take(self).split_at_mut(n);
        *self = left;
        (n > 0).then_some(taken)
    }
}

/// More threads than any machine has cores: each takes memory before it has any work.
const MOST_THREADS: usize = 1024;

/// The calling thread and its helpers.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    threads: usize,
    /// Created when it is first needed; `None` for one thread.
    #[cfg(feature = "threads")]
    helpers: Option<ThreadPool>,
}

/// Another pool of the same size.
impl Clone for WorkerPool {
    fn clone(&self) -> WorkerPool {
        WorkerPool::new(self.threads)
    }
}

impl WorkerPool {
    /// Zero threads: as many as there are cores. No more than [`MOST_THREADS`].
    pub fn new(threads: usize) -> WorkerPool {
        let threads = match threads {
            _ if cfg!(not(feature = "threads")) => 1,
            0 => available_parallelism().map_or(1, NonZero::get),
            n => n.min(MOST_THREADS),
        };
        WorkerPool {
            threads,
            #[cfg(feature = "threads")]
            helpers: None,
        }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `go` with parts of the work until all is done. Fails before it begins, if threads cannot be started.
    pub fn run<W: Splittable>(&mut self, mut work: W, go: impl Fn(W) + Sync) -> Result<(), ThreadPoolBuildError> {
        match self.threads.min(work.count()) {
            #[cfg(feature = "threads")]
            threads @ 2.. => self.distribute(threads, work, go),
            _ => {
                work.take(usize::MAX).into_iter().for_each(go);
                Ok(())
            }
        }
    }

    #[cfg(feature = "threads")]
    fn distribute<W: Splittable>(
        &mut self,
        threads: usize,
        work: W,
        go: impl Fn(W) + Sync,
    ) -> Result<(), ThreadPoolBuildError> {
        let group = work.count().div_ceil(threads * GROUPS);
        let rest = Mutex::new(work);
        // a thread that panics has taken its part: the remaining work is intact
        let next = || rest.lock().unwrap_or_else(PoisonError::into_inner).take(group);
        let help = || {
            while let Some(part) = next() {
                go(part);
            }
        };
        let (flag, busy, caller) = (interrupt::flag(), AtomicUsize::new(threads - 1), thread::current());
        self.helpers(threads - 1)?.in_place_scope(|scope| {
            (1..threads).for_each(|_| {
                scope.spawn(|_| {
                    let _busy = Busy { count: &busy, caller: &caller };
                    interrupt::helping(flag.as_ref(), help);
                });
            });
            help();
            // the last groups of others may take long: until then somebody has to ask whether they are to end
            while flag.is_some() && busy.load(Ordering::Acquire) > 0 {
                let _ = interrupt::check(); // those who work read the answer in the flag
                thread::park_timeout(interrupt::PERIOD);
            }
        });
        Ok(())
    }

    /// Threads in addition to the calling one: no more than ever had work to do.
    #[cfg(feature = "threads")]
    fn helpers(&mut self, wanted: usize) -> Result<&ThreadPool, ThreadPoolBuildError> {
        if let Some(known) = self.helpers.take_if(|known| known.current_num_threads() >= wanted) {
            return Ok(self.helpers.insert(known));
        }
        let builder = ThreadPoolBuilder::new().num_threads(wanted);
        Ok(self.helpers.insert(builder.thread_name(|k| format!("slipstick-{k}")).build()?))
    }
}

/// A helper at work; the caller is woken when it ends, also by a panic.
#[cfg(feature = "threads")]
struct Busy<'a> {
    count: &'a AtomicUsize,
    caller: &'a Thread,
}

#[cfg(feature = "threads")]
impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}
