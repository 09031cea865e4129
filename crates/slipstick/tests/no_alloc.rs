//! Finite differences allocate nothing once their memory is there. Needs an allocator of its own, so it is a binary.

mod counting;

use counting::measured;
use slipstick::check::{Difference, StepDifferences, finite_differences};
use slipstick::control::{Controller, Hold};
use slipstick::{Data, Input, Simulator, builtin};

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
                let input = Input::ctrl(ctrl);
                finite_differences(&model, &mut data, sim.state(), &input, difference, &mut out).unwrap();
            };
            run(); // contacts get their memory
            let ((), count, _) = measured(&mut run);
            assert_eq!(count, 0, "{name}, {difference:?}");
        }
    }
}
