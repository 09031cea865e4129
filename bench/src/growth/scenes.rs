//! Problems of any size, made with the builder.

use slipstick::error::BuildError;
use slipstick::model::{GeomSpec, JointKind, JointSpec, Keyframe, Shape};
use slipstick::spatial::{BodyInertia, Pose, Sym3, Vec3, vec3};
use slipstick::{Model, ModelBuilder};

const LINK: f64 = 0.1; // length of a link of a chain (m)
const HALF: f64 = 0.05; // half the side of a box, and the radius of a ball (m)
const MASS: f64 = 0.2; // of each (kg)
const APART: f64 = 0.3; // bodies of a pile (m)

/// A chain of so many hinges whose axes alternate, so that it moves in space. It hangs and swings; nothing touches.
pub fn chain(dofs: usize) -> Result<Model, BuildError> {
    let mut builder = ModelBuilder::new("chain");
    let mut parent = ModelBuilder::WORLD;
    let about_com = Sym3::diagonal(vec3(1.0, 1.0, 0.1) * (MASS * LINK * LINK / 12.0));
    for k in 0..dofs {
        let axis = if k % 2 == 0 { vec3(0.0, 1.0, 0.0) } else { vec3(1.0, 0.0, 0.0) };
        let mut hinge = JointSpec::new(format!("hinge {k}"), JointKind::Revolute { axis });
        hinge.damping = 1e-3;
        let below = if k == 0 { 0.0 } else { -LINK };
        let placement = Pose::translation(vec3(0.0, 0.0, below));
        let inertia = BodyInertia { mass: MASS, com: vec3(0.0, 0.0, -0.5 * LINK), about_com };
        parent = builder.add_link(parent, format!("link {k}"), placement, inertia, vec![hinge]);
    }
    let q = (0..dofs).map(|k| 0.1 * (k as f64).cos()).collect();
    builder.add_keyframe(Keyframe { name: "home".into(), q, v: vec![0.0; dofs], ..Keyframe::default() });
    builder.build()
}

/// A tower in which every box stands on four points and every ball on one, as many as give so many contacts.
pub fn stack(contacts: usize) -> Result<Model, BuildError> {
    bodies("stack", contacts, |k| vec3(0.0, 0.0, HALF * (2 * k + 1) as f64))
}

/// Bodies side by side on the floor: no two of them touch.
pub fn pile(contacts: usize) -> Result<Model, BuildError> {
    let row = (contacts as f64).sqrt().ceil() as usize;
    bodies("pile", contacts, |k| vec3(APART * (k % row) as f64, APART * (k / row) as f64, HALF))
}

/// Boxes, and balls for what is left over of four contacts, at their places on a floor.
fn bodies(name: &str, contacts: usize, place: impl Fn(usize) -> Vec3) -> Result<Model, BuildError> {
    let mut builder = ModelBuilder::new(name);
    builder.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    let boxes = contacts / 4;
    for k in 0..boxes + contacts % 4 {
        let (shape, factor) = match k < boxes {
            true => (Shape::Box { half_size: vec3(HALF, HALF, HALF) }, 2.0 / 3.0),
            false => (Shape::Sphere { radius: HALF }, 2.0 / 5.0),
        };
        let about_com = Sym3::diagonal(vec3(1.0, 1.0, 1.0) * (factor * MASS * HALF * HALF));
        let inertia = BodyInertia { mass: MASS, com: Vec3::ZERO, about_com };
        let free = JointSpec::new(format!("free {k}"), JointKind::Free);
        let pose = Pose::translation(place(k));
        let link = builder.add_link(ModelBuilder::WORLD, format!("body {k}"), pose, inertia, vec![free]);
        builder.add_geom(link, GeomSpec::new(format!("shape {k}"), shape));
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::{Data, Input, State};

    #[test]
    fn a_chain_has_so_many_dofs() {
        assert_eq!([2, 7].map(|n| chain(n).unwrap().nv()), [2, 7]);
    }

    #[test]
    fn stacks_and_piles_have_so_many_contacts() {
        for n in [1, 3, 4, 6, 12] {
            for model in [stack(n).unwrap(), pile(n).unwrap()] {
                let (mut data, x) = (Data::new(&model), State::neutral(&model));
                let mut next = x.clone();
                let step = slipstick::step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
                assert_eq!(step.report().contacts, n, "{}", model.name());
            }
        }
    }
}
