//! Colors of geoms: `rgba`, `<material>` and `<texture>`. They are for pictures: what is wrong with them is a warning there.

use super::compiler::Compiler;
use super::defaults::{ClassId, Defaults, Properties};
use super::folder::Folders;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::xml::Element;
use slipstick_core::model::{GRAY, Look, Material, Pattern, Texture, TextureSource};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Attributes that name the files of a cube's sides.
const SIDES: [&str; 6] = ["fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"];

/// The materials of a file.
#[derive(Debug, Default)]
pub(super) struct Looks<'a> {
    materials: HashMap<&'a str, Arc<Material>>,
    /// What cannot be shown.
    pub warnings: Vec<String>,
}

impl<'a> Looks<'a> {
    pub fn read(root: Element<'a>, defaults: &Defaults<'a>, compiler: &Compiler) -> Result<Looks<'a>, LoadError> {
        let (mut looks, mut textures) = (Looks::default(), HashMap::new());
        let folders = Folders::of_textures(root.file(), compiler);
        for element in root.all("asset").flat_map(|a| a.all("texture")) {
            let p = defaults.complete(element, &["texture"], ClassId::MAIN)?;
            match texture(&p, &folders) {
                Ok(Some(texture)) => drop(textures.insert(texture.name.clone(), Arc::new(texture))),
                Ok(None) => {}
                Err(error) => looks.warnings.push(error.to_string()),
            }
        }
        for element in root.all("asset").flat_map(|a| a.all("material")) {
            let p = defaults.complete(element, &["material"], ClassId::MAIN)?;
            let Some(name) = element.text("name") else { continue };
            // opacity decides what rays pass through: a wrong color is an error, as in a geom
            let rgba = p.overlaid("rgba", [1.0; 4])?;
            let read = material(&p, name, rgba, &textures, &mut looks.warnings);
            let plain = || Material { name: name.into(), rgba, ..Material::default() };
            let read = read.unwrap_or_else(|error| {
                looks.warnings.push(error.to_string());
                plain()
            });
            looks.materials.insert(name, Arc::new(read));
        }
        Ok(looks)
    }

    /// The color of a geom. A material that is not there is for pictures only.
    pub fn of(&mut self, p: &Properties) -> Result<Look, LoadError> {
        let rgba = p.attribute("rgba").map(|_| p.overlaid("rgba", GRAY)).transpose()?;
        let named = p.attribute("material").filter(|a| !a.value.is_empty());
        let material = named.and_then(|a| {
            let found = self.materials.get(a.value).cloned();
            if found.is_none() {
                self.warnings.push(a.element.unknown("material", a.value).to_string());
            }
            found
        });
        Ok(Look { rgba, material })
    }

    /// Whether a material has no color.
    pub fn is_transparent(&self, material: &str) -> bool {
        self.materials.get(material).is_some_and(|m| m.rgba[3] == 0.0)
    }
}

fn material(
    p: &Properties,
    name: &str,
    rgba: [f64; 4],
    textures: &HashMap<String, Arc<Texture>>,
    warnings: &mut Vec<String>,
) -> Result<Material, LoadError> {
    let element = p.element();
    let layer = element.all("layer").find(|l| matches!(l.text("role"), Some("rgb" | "rgba")));
    let wanted = layer.and_then(|l| l.attribute("texture")).or_else(|| p.attribute("texture"));
    let wanted = wanted.filter(|a| !a.value.is_empty());
    let texture = wanted.and_then(|a| {
        let found = textures.get(a.value).cloned();
        if found.is_none() {
            warnings.push(element.unknown("texture", a.value).to_string());
        }
        found
    });
    Ok(Material {
        name: name.into(),
        rgba,
        texture,
        repeat: p.overlaid("texrepeat", [1.0; 2])?,
        uniform: p.flag("texuniform", false)?,
        specular: p.float_or("specular", 0.5)?,
        shininess: p.float_or("shininess", 0.5)?,
        emission: p.float_or("emission", 0.0)?,
    })
}

/// A texture; `None` for one of the sky and one that is written out as numbers.
fn texture(p: &Properties, folders: &Folders) -> Result<Option<Texture>, LoadError> {
    let kinds = [("2d", Some(false)), ("cube", Some(true)), ("skybox", None)];
    let Some(cube) = p.one_of("type", &kinds, Some(true))? else { return Ok(None) };
    let file = ["file"].iter().chain(&SIDES).find_map(|name| p.attribute(name));
    let patterns = [
        ("none", None),
        ("flat", Some(Pattern::Flat)),
        ("checker", Some(Pattern::Checker)),
        ("gradient", Some(Pattern::Gradient)),
    ];
    let source = match (file, p.one_of("builtin", &patterns, None)?) {
        (Some(file), _) => TextureSource::File(folders.path(file)),
        (None, Some(pattern)) => TextureSource::Pattern {
            pattern,
            first: p.overlaid("rgb1", [0.8; 3])?,
            second: p.overlaid("rgb2", [0.5; 3])?,
        },
        (None, None) => return Ok(None),
    };
    let stem = |file: &str| Path::new(file).file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let name = p.element().text("name").map(String::from).or_else(|| file.map(|f| stem(f.value)));
    Ok(Some(Texture { name: name.unwrap_or_default(), cube, source }))
}
