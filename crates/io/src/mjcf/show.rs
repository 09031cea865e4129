//! Geoms as they are shown: meshes with all their triangles, everything else as it touches.

use super::geom::GeomRead;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{FrameId, GeomId, VisualShape, VisualSpec};

/// Shows a geom that the model does not have.
pub(super) fn alone(builder: &mut ModelBuilder, link: FrameId, name: &str, geom: &GeomRead) {
    let mesh = geom.picture.clone().map(VisualShape::Mesh);
    if let Some(shape) = mesh.or(geom.shape.map(VisualShape::Shape)).filter(|_| !geom.discarded) {
        builder.add_visual(link, spec(name, geom, shape));
    }
}

/// Shows what became the geoms `parts`: those, unless their mesh is known and no terrain.
pub(super) fn geoms(
    builder: &mut ModelBuilder,
    link: FrameId,
    name: &str,
    geom: &GeomRead,
    parts: &[GeomId],
    terrain: bool,
) {
    match geom.picture.clone().filter(|_| !terrain) {
        Some(mesh) => {
            parts.iter().for_each(|id| builder.paint(*id, geom.look.clone()));
            builder.add_visual(link, spec(name, geom, VisualShape::Mesh(mesh)));
        }
        None => parts.iter().for_each(|id| builder.show_geom(*id, geom.look.clone(), geom.group)),
    }
}

fn spec(name: &str, geom: &GeomRead, shape: VisualShape) -> VisualSpec {
    VisualSpec { name: name.into(), pose: geom.pose, shape, look: geom.look.clone(), group: geom.group }
}
