//! Ctrl-C in calls that take long and do not hold the interpreter's lock.
//!
//! Python's handlers of signals run in its main thread, when somebody asks for them. Between two steps the library asks
//! every 20 ms ([`slipstick::interrupt`]). What a handler raises, a KeyboardInterrupt as a rule, is what the call raises.

use crate::errors::Failure;
use pyo3::prelude::*;
use slipstick::interrupt;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

/// Memory for recursion in a thread of its own: as much as the main thread usually has [bytes].
const STACK: usize = 8 << 20;

/// Runs a call without the interpreter's lock; the exception of a handler ends it.
pub fn interruptible<T: Send, E: Into<Failure>>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, Failure> {
    py.detach(|| {
        let raised = Rc::new(RefCell::new(None));
        let (seen, handles) = (raised.clone(), Cell::new(true));
        // other threads do not take the lock again and again: no handler runs in them
        let ask = move || {
            handles.get()
                && Python::attach(|py| {
                    // to ask for the thread runs Python, which may call a handler of signals itself
                    let asked = is_main_thread(py).and_then(|main| {
                        handles.set(main);
                        py.check_signals()
                    });
                    let ends = asked.is_err();
                    seen.replace(asked.err());
                    ends
                })
        };
        let done = interrupt::watch(ask, call);
        match raised.take() {
            Some(exception) => Err(exception.into()),
            None => done.map_err(E::into),
        }
    })
}

/// Runs a call that cannot be asked to end in a thread of its own: at Ctrl-C it is left to itself, and its result is
/// dropped when it comes to its end.
pub fn abandonable<T: Send + 'static, E: Into<Failure> + Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Failure> {
    let (send, receive) = channel();
    let thread = thread::Builder::new().name("slipstick-load".into()).stack_size(STACK);
    let thread = thread.spawn(move || drop(send.send(call()))).map_err(PyErr::from)?;
    interruptible(py, move || {
        loop {
            match receive.recv_timeout(interrupt::PERIOD) {
                Ok(done) => return done.map_err(E::into),
                Err(RecvTimeoutError::Timeout) => interrupt::check()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // it sent nothing: it panicked, which is for pyo3 to turn into an exception
        match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(Failure::from(interrupt::Interrupted)),
        }
    })
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    Ok(threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?))
}
