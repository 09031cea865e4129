//! What a model looks like, as bytes. Files of meshes and pictures are named, not held.

use super::super::{
    Look, Material, MeshFile, MeshSource, Pattern, Texture, TextureSource, Visual, VisualShape, Visuals,
};
use crate::bytes::{Bytes, Reader, enum_bytes, struct_bytes};
use std::path::PathBuf;
use std::sync::Arc;

struct_bytes! {
    Visual { name, body, link, pose, shape, look, group }
    MeshFile { path, format, scale, reference }
    Look { rgba, material }
    Material { name, rgba, texture, repeat, uniform, specular, shininess, emission }
    Texture { name, cube, source }
}

enum_bytes! {
    VisualShape { 0 Geom(geom), 1 Shape(shape), 2 Mesh(mesh) }
    MeshSource { 0 File(file), 1 Triangles { vertices, triangles } }
    TextureSource { 0 File(path), 1 Pattern { pattern, first, second } }
    Pattern { 0 Flat, 1 Checker, 2 Gradient }
}

impl<T: Bytes> Bytes for Arc<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(input: &mut Reader) -> Option<Arc<T>> {
        Some(Arc::new(T::take(input)?))
    }
}

/// As text: what is no text in a path is lost, and with it the picture.
impl Bytes for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        self.to_string_lossy().into_owned().put(out);
    }

    fn take(input: &mut Reader) -> Option<PathBuf> {
        Some(String::take(input)?.into())
    }
}

impl Bytes for Visuals {
    fn put(&self, out: &mut Vec<u8>) {
        let Visuals { shapes, geoms, warnings } = self;
        shapes.put(out);
        geoms.put(out);
        warnings.put(out);
    }

    fn take(input: &mut Reader) -> Option<Visuals> {
        let (mut shapes, geoms): (Vec<Visual>, Vec<Look>) = (Bytes::take(input)?, Bytes::take(input)?);
        share_meshes(&mut shapes);
        Some(Visuals { shapes, geoms, warnings: Bytes::take(input)? })
    }
}

/// Equal meshes are one again: whoever draws them reads each once.
fn share_meshes(shapes: &mut [Visual]) {
    let mut known: Vec<Arc<MeshSource>> = Vec::new();
    for shape in shapes {
        let VisualShape::Mesh(mesh) = &mut shape.shape else { continue };
        match known.iter().find(|other| *other == mesh) {
            Some(other) => *mesh = other.clone(),
            None => known.push(mesh.clone()),
        }
    }
}
