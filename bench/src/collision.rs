//! Where shapes touch: per kind of pair beside coal, whole scenes beside MuJoCo.

use crate::report::write;
use crate::{Collision, collision_kinds, collision_scenes};
use serde_json::json;

pub fn run(arguments: &Collision) -> Result<(), String> {
    let kinds = collision_kinds::run(arguments)?;
    let scenes = collision_scenes::run(arguments)?;
    if kinds.figures.is_empty() && scenes.scenes.is_empty() {
        return Err(format!("no kind of pair and no scene has '{}' in its name", arguments.only));
    }
    kinds.print();
    scenes.print();
    if let (Some(file), Some(_)) = (&arguments.plot, &kinds.coal) {
        write(file, &slipstick_plot::scatter("coal, nanoseconds", "slipstick, nanoseconds", &kinds.series()))?;
    }
    if let Some(file) = &arguments.json {
        let figures = json!({ "format": "slipstick-bench-collision", "version": 1,
            "slipstick": env!("CARGO_PKG_VERSION"), "kinds": kinds.to_json(), "scenes": scenes.to_json() });
        write(file, &format!("{figures:#}\n"))?;
    }
    kinds.check()
}
