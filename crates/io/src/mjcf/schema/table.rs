//! The list as a table for the documentation.

use super::{Class, Group, ROOT, Spec};

/// What is read of MJCF, what makes no difference, and what is not supported: a table in Markdown, made of the list that
/// the reader itself goes by.
pub fn schema_table() -> String {
    let mut out = String::from(
        "| element | read | solver and softness: no difference here | pictures and records: no difference | \
         not supported: a warning |\n|---|---|---|---|---|\n",
    );
    let mut written: Vec<*const Spec> = Vec::new();
    let mut stack = vec![(&ROOT, String::new())];
    while let Some((spec, path)) = stack.pop() {
        if written.iter().any(|w| std::ptr::eq(*w, spec)) {
            continue;
        }
        written.push(spec);
        let path = if path.is_empty() { spec.name.to_string() } else { format!("{path}/{}", spec.name) };
        row(&mut out, spec, &path);
        // inner elements of bodies and classes are listed once, without the way to them
        let below = if matches!(spec.name, "mujoco" | "worldbody" | "default") { String::new() } else { path };
        stack.extend(spec.children.iter().rev().map(|c| (*c, below.clone())));
    }
    out
}

fn row(out: &mut String, spec: &Spec, path: &str) {
    let names = |wanted: &dyn Fn(Class) -> bool| {
        let groups = spec.attributes.iter().filter(|g| wanted(g.0));
        let words = groups.flat_map(|Group(_, names)| names.split_whitespace());
        words.map(|w| format!("`{w}`")).collect::<Vec<_>>().join(" ")
    };
    let mut effects: Vec<String> = Vec::new();
    for Group(class, words) in spec.attributes {
        match class {
            Class::Unsupported(effect) => effects.push(format!("`{}`: {effect}", words.replace(' ', "` `"))),
            Class::Unless(usual, effect) => effects.push(format!("`{words}` other than `{usual}`: {effect}")),
            _ => {}
        }
    }
    if let Class::Unsupported(effect) = spec.class {
        effects.push(format!("all of it: {effect}"));
    }
    let all = |class: &[Class]| if class.contains(&spec.class) { "all of it".to_string() } else { String::new() };
    let read = match (names(&|c| c == Class::Read), spec.class) {
        (list, Class::Read) if list.is_empty() => "yes".to_string(),
        (list, _) => list,
    };
    let softness = all(&[Class::Softness]) + &names(&|c| c == Class::Softness);
    let idle = all(&[Class::Picture, Class::Record]) + &names(&|c| matches!(c, Class::Picture | Class::Record));
    out.push_str(&format!("| {path} | {read} | {softness} | {idle} | {} |\n", effects.join("; ")));
}
