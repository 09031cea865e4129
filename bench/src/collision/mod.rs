//! Collision detection: kinds of pairs compared with coal, whole scenes compared with MuJoCo.

pub(crate) mod kinds;
pub(crate) mod pairs;
pub(crate) mod scenes;

use crate::Collision;
use crate::report::write;
use serde_json::json;

pub fn run(arguments: &Collision) -> Result<(), String> {
    let kinds = kinds::run(arguments)?;
    let scenes = scenes::run(arguments)?;
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
