//! The program as users run it: all tests in one binary, which links once.

mod cli;
mod common;
mod grad_check;
mod interrupt;
mod killed;
mod manual;
mod pages;
mod pipes;
mod settings;
mod solve;
mod view;
mod written_files;
