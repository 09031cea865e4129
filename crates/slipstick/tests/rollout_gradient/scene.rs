//! Rollouts with contact, to be differentiated.

use slipstick::model::ParameterGroup;
use slipstick::rollout::{Memory, RolloutGradient, Sensitivities};
use slipstick::*;

pub const STEPS: usize = 100;

/// A rollout: a model solved tightly, where it begins and what acts.
#[derive(Clone)]
pub struct Scene {
    pub model: Model,
    pub x0: State,
    pub ctrl: Vec<f64>,
    pub tau: Vec<f64>,
    /// How far Jacobians and adjoint solves may differ over a rollout: they round differently in every step, the more
    /// the less the points of a patch differ from each other.
    pub rounding: f64,
}

impl Scene {
    fn new(name: &str, keyframe: &str) -> Scene {
        let model = builtin(name).unwrap();
        let mut options = model.options().clone();
        options.tolerance = 1e-13;
        let model = model.with_options(options).unwrap();
        let x0 = State::keyframe(&model, keyframe).unwrap();
        Scene { x0, ctrl: Vec::new(), tau: vec![0.0; STEPS * model.nv()], rounding: 1e-12, model }
    }

    /// A ball that slides until it rolls.
    pub fn sphere() -> Scene {
        let mut scene = Scene::new("sphere", "sliding");
        (0..STEPS).for_each(|t| scene.tau[6 * t + 1] = 0.3 * (t as f64 / 20.0).sin());
        scene
    }

    /// A cube that slides and turns on a face: four points, more than its motion tells apart. It begins a little
    /// tilted: where all points are equally deep, their order changes with every tilt.
    pub fn cube() -> Scene {
        let mut scene = Scene::new("cube", "home");
        scene.x0.v.copy_from_slice(&[1.0, 0.4, 0.0, 0.0, 0.0, 1.5]);
        scene.model.integrate(&scene.x0.q.clone(), &[0.0, 0.0, 0.0, 1e-5, 2e-5, 0.0], &mut scene.x0.q).unwrap();
        Scene { rounding: 1e-9, ..scene }
    }

    /// The scene where surfaces are as soft as the points need to share their load: differences of rollouts lose two
    /// digits less.
    pub fn soft_cube() -> Scene {
        let mut scene = Scene::cube();
        let mut options = scene.model.options().clone();
        options.patch_compliance = 0.0;
        scene.model = scene.model.with_options(options).unwrap();
        Scene { rounding: 1e-10, ..scene.changed(Place::Parameter(ParameterGroup::Compliance, 1), 1e-4) }
    }

    /// A cube in the air: rotations far from the identity.
    pub fn thrown() -> Scene {
        Scene::new("cube", "thrown")
    }

    /// A robot on four feet, moved by its position servos.
    pub fn quadruped() -> Scene {
        let mut scene = Scene::new("quadruped", "home");
        let home = scene.model.keyframe("home").unwrap().ctrl.clone();
        for t in 0..STEPS {
            scene.ctrl.extend(home.iter().enumerate().map(|(k, c)| c + 0.05 * (0.07 * t as f64 + k as f64).sin()));
        }
        scene
    }

    pub fn input(&self) -> Input<'_> {
        Input::tau(&self.tau).with_ctrl(&self.ctrl)
    }

    pub fn memory(&self, memory: Memory, groups: &[ParameterGroup]) -> RolloutGradient {
        RolloutGradient::new(&self.model, STEPS, memory).with_parameters(groups)
    }

    /// The rollout with one number changed by h.
    pub fn changed(&self, place: Place, h: f64) -> Scene {
        let mut s = self.clone();
        match place {
            Place::Q(j) => {
                let mut d = vec![0.0; self.model.nv()];
                d[j] = h;
                self.model.integrate(&self.x0.q, &d, &mut s.x0.q).unwrap();
            }
            Place::V(j) => s.x0.v[j] += h,
            Place::Tau(t, j) => s.tau[t * self.model.nv() + j] += h,
            Place::Ctrl(t, k) => s.ctrl[t * self.model.nu() + k] += h,
            Place::Parameter(group, k) => {
                let mut parameters = self.model.parameters().clone();
                parameters.group_mut(group)[k] += h;
                s.model = self.model.with_parameters(parameters).unwrap();
            }
        }
        s
    }

    /// The last state, as a change against a configuration, and the modes of the steps.
    pub fn end(&self, q: &[f64]) -> (Vec<f64>, Vec<u64>) {
        let mut memory = self.memory(Memory::Recompute, &[]);
        let rollout = memory.run(&self.x0, &self.input()).unwrap();
        let mut end = vec![0.0; self.model.nv()];
        self.model.difference(q, rollout.q(STEPS), &mut end).unwrap();
        end.extend_from_slice(rollout.v(STEPS));
        (end, rollout.mode_keys().to_vec())
    }
}

/// A number that a rollout is made from.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    Q(usize),
    V(usize),
    Tau(usize, usize),
    Ctrl(usize, usize),
    Parameter(ParameterGroup, usize),
}

impl Place {
    /// Steps of differences: small enough for the modes, large enough for rounding.
    pub fn steps(self) -> [f64; 3] {
        match self {
            Place::Q(_) => [1e-6, 1e-7, 1e-8],
            Place::V(_) | Place::Parameter(..) => [1e-4, 1e-5, 1e-6],
            Place::Tau(..) => [1e-2, 1e-3, 1e-4],
            Place::Ctrl(..) => [1e-4, 1e-5, 1e-6],
        }
    }

    /// Its column (2 nv numbers).
    pub fn column(self, s: &Sensitivities) -> Vec<f64> {
        let nv = s.initial().unwrap().cols() / 2;
        let (m, k) = match self {
            Place::Q(j) => (s.initial().unwrap(), j),
            Place::V(j) => (s.initial().unwrap(), nv + j),
            Place::Tau(t, j) => (s.tau(t).unwrap(), j),
            Place::Ctrl(t, k) => (s.ctrl(t).unwrap(), k),
            Place::Parameter(group, k) => (s.parameters(group).unwrap(), k),
        };
        (0..2 * nv).map(|i| m[(i, k)]).collect()
    }
}
