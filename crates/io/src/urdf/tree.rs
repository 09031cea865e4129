//! Who hangs on whom: links and joints may stand in any order in the file.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::xml::Element;
use std::collections::{HashMap, HashSet};

/// Links and joints by name.
pub(super) struct Tree<'a> {
    pub root: Element<'a>,
    pub links: HashMap<&'a str, Element<'a>>,
    /// Joints whose parent a link is, in the order of the file.
    pub joints_of: HashMap<&'a str, Vec<Element<'a>>>,
}

impl<'a> Tree<'a> {
    pub fn read(robot: Element<'a>) -> Result<Tree<'a>, LoadError> {
        let (mut links, mut order) = (HashMap::new(), Vec::new());
        for link in robot.all("link") {
            let name = link.required("name")?.value;
            if links.insert(name, link).is_some() {
                let got = format!("a second '{name}'");
                let hint = "rename one of them, and the joints that mean it";
                return Err(link.structure("every link to have a name of its own", got).with_hint(hint));
            }
            order.push(name);
        }
        let (mut joints_of, mut parent_of) = (HashMap::<_, Vec<_>>::new(), HashMap::new());
        for joint in robot.all("joint") {
            let (parent, child) = (link_of(joint, "parent")?, link_of(joint, "child")?);
            for name in [parent, child] {
                let hint = "every parent and child of a joint must be a <link> of the file";
                links.get(name).ok_or_else(|| joint.unknown("link", name).with_hint(hint))?;
            }
            if let Some(other) = parent_of.insert(child, parent) {
                let got = format!("both '{other}' and '{parent}' for link '{child}'");
                let hint = "closed loops cannot be written in URDF";
                return Err(joint.structure("one parent per link", got).with_hint(hint));
            }
            joints_of.entry(parent).or_default().push(joint);
        }
        let roots: Vec<&str> = order.iter().filter(|n| !parent_of.contains_key(*n)).copied().collect();
        let root = match roots.as_slice() {
            [root] => links[root],
            [] if order.is_empty() => return Err(robot.missing("a <link>")),
            [] => {
                let got = "a cycle: every link is some joint's child";
                return Err(robot.structure("a root link", got).with_hint("URDF describes trees: cut the loop open"));
            }
            [a, b, ..] => {
                let got = format!("{} ('{a}', '{b}', …)", roots.len());
                return Err(robot.structure("one root link", got).with_hint("connect them with joints"));
            }
        };
        let tree = Tree { root, links, joints_of };
        tree.refuse_cycles(robot)?;
        Ok(tree)
    }

    /// Links that cannot be reached from the root hang on each other.
    fn refuse_cycles(&self, robot: Element) -> Result<(), LoadError> {
        let (mut reached, mut stack) = (HashSet::new(), vec![self.root.text("name").unwrap_or_default()]);
        while let Some(name) = stack.pop() {
            reached.insert(name);
            for joint in self.joints_of.get(name).into_iter().flatten() {
                stack.push(link_of(*joint, "child")?);
            }
        }
        let mut lost: Vec<&str> = self.links.keys().filter(|n| !reached.contains(*n)).copied().collect();
        lost.sort_unstable();
        match lost.first() {
            Some(name) => {
                let got = format!("link '{name}' in a cycle of joints");
                let hint = "URDF describes trees: cut the loop open";
                Err(robot.structure("all links to be below the root link", got).with_hint(hint))
            }
            None => Ok(()),
        }
    }
}

/// Name in `<parent link="…"/>` or `<child link="…"/>`.
pub(super) fn link_of<'a>(joint: Element<'a>, role: &'static str) -> Result<&'a str, LoadError> {
    let child = joint.child(role).ok_or_else(|| joint.missing(&format!("<{role}>")))?;
    Ok(child.required("link")?.value)
}
