//! Tables and plots of a run as one page of HTML that needs nothing else.

use crate::growth::Growth;
use crate::table::Table;
use std::fmt::Write;

const STYLE: &str = "body { font-family: sans-serif; max-width: 1400px; margin: 2em auto; padding: 0 1em; color: #222 } \
                     table { border-collapse: collapse; margin: 1em 0 } td, th { padding: 0.2em 0.8em; text-align: right } \
                     td:first-child, th:first-child { text-align: left; white-space: pre } tr:nth-child(odd) td { background: #f3f6fa } \
                     th { border-bottom: 2px solid #888 } .plots { display: flex; flex-wrap: wrap; gap: 1em } \
                     figure { margin: 0 } pre { white-space: pre-wrap }";

/// The page.
pub fn html(table: &Table, growth: Option<&Growth>) -> String {
    let mut body = format!("<h1>slipstick-bench table</h1>\n<h2>Timings (µs)</h2>\n{}", table_of(&table.lines()));
    let ratios = table.ratio_lines();
    if !ratios.is_empty() {
        body += &table_of(&ratios);
    }
    let throughput = table.throughput_lines();
    if !throughput.is_empty() {
        let _ = write!(body, "<h2>Throughput</h2>\n{}", table_of(&throughput));
    }
    let _ = writeln!(body, "<pre>{}</pre>", escaped(&table.notes()));
    if let Some(growth) = growth {
        body += "<h2>Growth</h2>\n<p>The power in a legend is the slope of a straight line through the upper half of the points.</p>\n";
        body += "<div class=\"plots\">\n";
        for (name, svg) in growth.pictures() {
            let _ = writeln!(body, "<figure id=\"{name}\">{svg}</figure>");
        }
        let _ = writeln!(body, "</div>\n<pre>{}</pre>", escaped(&growth.to_text()));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>slipstick-bench table</title><style>{STYLE}</style></head>\n\
         <body>\n{body}</body>\n</html>\n"
    )
}

/// A table whose first line is its head.
fn table_of(lines: &[Vec<String>]) -> String {
    let mut out = String::from("<table>\n");
    for (k, line) in lines.iter().enumerate() {
        let tag = if k == 0 { "th" } else { "td" };
        let cells: String = line.iter().map(|c| format!("<{tag}>{}</{tag}>", escaped(c))).collect();
        let _ = writeln!(out, "<tr>{cells}</tr>");
    }
    out + "</table>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_what_they_are_given() {
        let text = |s: &str| s.to_string();
        let lines = [vec![text(""), text("a<b")], vec![text("DoFs"), text("6 & 7")]];
        let table = table_of(&lines);
        assert!(table.contains("<th>a&lt;b</th>") && table.contains("<td>6 &amp; 7</td>"), "{table}");
    }
}
