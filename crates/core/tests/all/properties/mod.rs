//! Properties that hold for every tree, checked over random ones with all kinds of joints.

mod derivatives;
mod identities;
mod motion;
pub mod random_tree;
