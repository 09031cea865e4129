//! The pages for users. Their Rust blocks are doctests of this crate; the items exist for nothing else.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/guide/rust.md")]
struct Rust;

#[doc = include_str!("../../../docs/guide/batch_and_rollouts.md")]
struct BatchAndRollouts;

#[doc = include_str!("../../../docs/guide/python.md")]
struct Python;

#[doc = include_str!("../../../docs/guide/gradients.md")]
struct Gradients;

#[doc = include_str!("../../../docs/guide/contact.md")]
struct Contact;

#[doc = include_str!("../../../docs/guide/cli.md")]
struct CommandLine;

#[doc = include_str!("../../../docs/guide/mujoco_users.md")]
struct MujocoUsers;
