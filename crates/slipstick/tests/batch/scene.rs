//! Robots that fall on the floor, every one from another state and under other controls.

use slipstick::model::ParameterGroup;
use slipstick::random::Rng;
use slipstick::*;

/// A row for every environment.
#[derive(Clone)]
pub struct Scene {
    /// One model per environment.
    pub models: Vec<Model>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub draw: Rng,
}

impl Scene {
    /// Robots that reach the floor within some ten steps. Masses and friction differ, if that is wanted.
    pub fn falling(name: &str, n: usize, differing: bool) -> Scene {
        let model = builtin(name).unwrap();
        let x = Simulator::new(&model).state().clone();
        let mut scene = Scene { models: Vec::new(), q: Vec::new(), v: Vec::new(), draw: Rng(7) };
        for i in 0..n {
            let turn: Vec<f64> = (0..model.nv()).map(|_| 0.1 * scene.number()).collect();
            let mut q = x.q.clone();
            model.integrate(&x.q, &turn, &mut q).unwrap();
            q[2] += 0.02;
            scene.q.extend(q);
            let fall = |j: usize| if j == 2 { -2.0 } else { 0.0 };
            (0..model.nv()).for_each(|j| {
                let v = fall(j) + 0.3 * scene.number();
                scene.v.push(v);
            });
            scene.models.push(if differing { changed(&model, i) } else { model.clone() });
        }
        scene
    }

    pub fn n(&self) -> usize {
        self.models.len()
    }

    /// Rows of controls and of forces.
    pub fn input(&mut self) -> (Vec<f64>, Vec<f64>) {
        let (model, n) = (self.models[0].clone(), self.n());
        let home = model.keyframe("home").unwrap().ctrl.clone();
        let ctrl = (0..n * model.nu()).map(|k| home[k % model.nu()] + 0.2 * self.number()).collect();
        (ctrl, self.numbers(n * model.nv()))
    }

    pub fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    /// From [−1, 1).
    fn number(&mut self) -> f64 {
        self.draw.sign()
    }

    pub fn batch(&self, threads: usize) -> Batch {
        Batch::with_models(&self.models).unwrap().threads(threads)
    }

    /// A simulator for every environment, in its state.
    pub fn simulators(&self) -> Vec<Simulator> {
        let rows = self.q.chunks_exact(self.models[0].nq()).zip(self.v.chunks_exact(self.models[0].nv()));
        let sim = |(model, (q, v)): (&Model, (&[f64], &[f64]))| {
            let (mut sim, mut x) = (Simulator::new(model), State::neutral(model));
            (x.q, x.v) = (q.to_vec(), v.to_vec());
            sim.set_state(x).unwrap();
            sim
        };
        self.models.iter().zip(rows).map(sim).collect()
    }
}

/// The robot with other friction and another mass of its trunk.
fn changed(model: &Model, i: usize) -> Model {
    let mut parameters = model.parameters().clone();
    let friction = parameters.group_mut(ParameterGroup::Friction);
    friction.iter_mut().for_each(|mu| *mu *= 1.0 - 0.1 * (i % 5) as f64);
    parameters.group_mut(ParameterGroup::Armature).iter_mut().for_each(|a| *a += 1e-3 * (i % 7) as f64);
    model.with_parameters(parameters).unwrap()
}

/// Row `i` of `n`.
pub fn row(x: &[f64], n: usize, i: usize) -> &[f64] {
    let width = x.len() / n;
    &x[i * width..(i + 1) * width]
}

pub fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
