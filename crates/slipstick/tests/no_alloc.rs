//! Finite differences allocate nothing once their memory is there. Needs an allocator of its own, so it is a binary.

use slipstick::{Controller, Data, Difference, Hold, Input, Simulator, StepDifferences, builtin, finite_differences};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;
static COUNT: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code)] // an allocator cannot be written without
// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn differences_of_standing_robots_allocate_nothing() {
    for name in ["cube", "quadruped", "humanoid", "atlas"] {
        let model = builtin(name).unwrap();
        let mut sim = Simulator::new(&model);
        let mut hold = Controller::Hold(Hold::new(&model, sim.state()).unwrap());
        let ctrl = sim.rollout(200, &mut hold).unwrap().ctrl;
        let ctrl = &ctrl[ctrl.len() - model.nu()..];
        let (mut data, mut out) = (Data::new(&model), StepDifferences::new(&model));
        for difference in [Difference::Central { step: 1e-6 }, Difference::Forward { step: 1e-6 }] {
            let mut run = || {
                let input = Input::default();
                finite_differences(&model, &mut data, sim.state(), Some(ctrl), &input, difference, &mut out).unwrap();
            };
            run(); // contacts get their memory
            let before = COUNT.load(Ordering::Relaxed);
            run();
            assert_eq!(COUNT.load(Ordering::Relaxed) - before, 0, "{name}, {difference:?}");
        }
    }
}
