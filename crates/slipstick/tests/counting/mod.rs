//! An allocator that counts what a thread asks of it.
#![allow(unsafe_code)] // a global allocator is an unsafe trait; this one only counts and passes on

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: all calls go to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        LIVE.with(|c| c.set(c.get() + layout.size() as isize));
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.with(|c| c.set(c.get() - layout.size() as isize));
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread during a call, and bytes that are left of them.
pub fn measured<T>(f: impl FnOnce() -> T) -> (T, usize, isize) {
    let (count, live) = (COUNT.with(Cell::get), LIVE.with(Cell::get));
    let result = f();
    (result, COUNT.with(Cell::get) - count, LIVE.with(Cell::get) - live)
}
