//! From the symbol of a primitive to its diffuse color or picture.

use super::super::painted::Paint;
use super::Local;
use roxmltree::Node;
use std::collections::HashMap;
use std::path::Path;

type Ids<'a, 'i> = HashMap<&'a str, Node<'a, 'i>>;

/// The paint that a symbol means where its geometry is placed; `None` where the file says nothing.
pub(super) fn paint<'a, 'i>(
    symbol: Option<&str>,
    instance: Option<Node<'a, 'i>>,
    ids: &Ids<'a, 'i>,
    folder: &Path,
) -> Option<Paint> {
    let symbol = symbol?;
    let bound = instance.and_then(|i| i.child_of("bind_material")).and_then(|b| b.child_of("technique_common"));
    let bound = bound.and_then(|t| t.all_of("instance_material").find(|m| m.attribute("symbol") == Some(symbol)));
    // without a binding a symbol is the name of a material itself
    let material = bound.and_then(|b| find(b.attribute("target")?, ids)).or_else(|| find(symbol, ids))?;
    let effect = find(material.child_of("instance_effect")?.attribute("url")?, ids)?;
    let profile = effect.child_of("profile_COMMON")?;
    let shading = profile
        .child_of("technique")?
        .children()
        .find(|n| ["phong", "lambert", "blinn", "constant"].iter().any(|kind| n.has_tag_name_of(kind)))?;
    let diffuse = shading.child_of("diffuse")?;
    let picture = diffuse.child_of("texture").and_then(|t| t.attribute("texture"));
    let picture = picture.and_then(|sampler| file(sampler, profile, ids)).map(|file| folder.join(file));
    let color = diffuse.child_of("color").and_then(|c| c.numbers().ok()).filter(|c| c.len() >= 3);
    let rgba = color.map_or([1.0; 4], |c| [c[0], c[1], c[2], 1.0]);
    Some(Paint { rgba, picture })
}

fn find<'a, 'i>(address: &str, ids: &Ids<'a, 'i>) -> Option<Node<'a, 'i>> {
    ids.get(address.strip_prefix('#').unwrap_or(address)).copied()
}

/// The file behind a sampler: sampler, surface and image lead to it, or the image is named at once.
fn file(sampler: &str, profile: Node, ids: &Ids) -> Option<String> {
    let parameter = |sid: &str| profile.all_of("newparam").find(|p| p.attribute("sid") == Some(sid));
    let surface = parameter(sampler).and_then(|p| p.child_of("sampler2D")).and_then(|s| s.child_of("source"));
    let surface = surface.and_then(|s| s.text()).and_then(|sid| parameter(sid.trim()));
    let named = surface.and_then(|p| p.child_of("surface")).and_then(|s| s.child_of("init_from"));
    let image = find(named.and_then(|n| n.text()).unwrap_or(sampler).trim(), ids)?;
    let from = image.child_of("init_from")?;
    let text = from.text().or_else(|| from.child_of("ref").and_then(|r| r.text()))?;
    Some(text.trim().trim_start_matches("file://").replace('\\', "/").replace("%20", " "))
}
