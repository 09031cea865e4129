//! `slipstick contacts`: which geoms of a robot touch, where and how deep.

use crate::output::{Failure, say};
use crate::run;
use crate::source::{self, Source};
use serde_json::{Value, json};
use slipstick::Model;
use slipstick::collision::{self, Contact, ContactSet};
use slipstick::dynamics::Workspace;
use slipstick::model::{BodyId, GeomId};
use slipstick::spatial::{Pose, Vec3};

/// Arguments of `slipstick contacts`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick contacts quadruped --keyframe home\n         \
                        slipstick contacts robot.urdf --ground --contact-distance 0.05 --json\n\n\
                        Normals point from the first geom to the second; a negative distance is an overlap.")]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Keyframe to use; default: home, else the neutral pose.
    #[arg(long)]
    keyframe: Option<String>,
    /// List pairs nearer than this (m); default: the model's.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = run::zero_or_more)]
    contact_distance: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn main(arguments: &Arguments) -> Result<(), Failure> {
    let mut model = source::load(&arguments.source)?;
    if let Some(distance) = arguments.contact_distance {
        let mut options = model.options().clone();
        options.contact_distance = distance;
        model = model.with_options(options).map_err(|e| e.to_string())?;
    }
    let start = run::start(&model, arguments.keyframe.as_deref()).map_err(Failure::Use)?;
    let set = detect(&model, &start.q)?;
    if arguments.json {
        say!("{:#}", to_json(&model, set.contacts()));
    } else {
        print(&model, set.contacts());
    }
    Ok(())
}

fn detect(model: &Model, q: &[f64]) -> Result<ContactSet, String> {
    let mut work = Workspace::new(model);
    work.kinematics(model, q).map_err(|e| e.to_string())?;
    let poses = (0..model.n_bodies()).map(|i| work.body_pose(BodyId(i))).collect::<Result<Vec<Pose>, _>>();
    let mut set = ContactSet::new(model);
    collision::detect(model, &poses.map_err(|e| e.to_string())?, &mut set).map_err(|e| e.to_string())?;
    Ok(set)
}

/// The name of a geom, or its number if it has none.
fn name(model: &Model, geom: GeomId) -> String {
    match model.geoms()[geom.0].name.as_str() {
        "" => format!("#{}", geom.0),
        name => name.to_string(),
    }
}

fn body(model: &Model, geom: GeomId) -> &str {
    &model.bodies()[model.geoms()[geom.0].body.0].name
}

fn print(model: &Model, contacts: &[Contact]) {
    let pairs = contacts.chunk_by(|a, b| a.pair == b.pair).count();
    let (all, limit) = (model.pairs().len(), model.options().contact_distance);
    say!("{}: {} points in {pairs} of {all} pairs nearer than {limit} m", model.name(), contacts.len());
    let numbers = |x: Vec3, digits: usize| {
        let [x, y, z] = x.to_array().map(|x| x + 0.0); // no minus before a zero
        format!("{x:>9.digits$} {y:>9.digits$} {z:>9.digits$}")
    };
    for patch in contacts.chunk_by(|a, b| a.pair == b.pair) {
        let [a, b] = patch[0].geoms;
        say!("{} ({}) – {} ({})", name(model, a), body(model, a), name(model, b), body(model, b));
        say!("  {:>12}   {:<29}   normal", "distance (m)", "point (m)");
        for c in patch {
            say!("  {:>12.6}   {}   {}", c.distance + 0.0, numbers(c.point, 5), numbers(c.normal(), 5));
        }
    }
}

fn to_json(model: &Model, contacts: &[Contact]) -> Value {
    let rows = contacts.iter().map(|c| {
        json!({
            "pair": c.pair, "geoms": c.geoms.map(|g| &model.geoms()[g.0].name), "geom_numbers": c.geoms.map(|g| g.0),
            "bodies": c.geoms.map(|g| body(model, g)), "point": c.point.to_array(), "normal": c.normal().to_array(),
            "distance": c.distance,
            // text: readers that keep numbers as f64 would lose digits
            "feature": format!("{:016x}", c.feature),
        })
    });
    json!({
        "format": "slipstick-contacts", "version": 1, "model": model.name(),
        "contact_distance": model.options().contact_distance, "pairs": model.pairs().len(),
        "contacts": rows.collect::<Vec<_>>(),
    })
}
