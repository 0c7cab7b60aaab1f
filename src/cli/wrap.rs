//! Sentences in lines that fit a window.

/// The most columns of a line of sentences.
pub const COLUMNS: usize = 110;

/// What holds words together that belong on one line, while lines are broken.
const GLUE: char = '\u{a0}';

/// Sentences in lines of [`COLUMNS`] at most, as [`wrapped_to`] breaks them.
pub fn wrapped(text: &str, indentation: usize) -> String {
    wrapped_to(text, indentation, COLUMNS)
}

/// Sentences in lines of limited length. The first is preceded by something as wide as the indentation of the others. No line is broken
/// between a sign of a chain of passes and the pass that it is about, nor in front of a per cent sign.
pub fn wrapped_to(text: &str, indentation: usize, columns: usize) -> String {
    let mut glued = text.replace(" %", &format!("{GLUE}%"));
    for sign in ["> ", "| ", "# "] {
        glued = glued.replace(sign, &sign.replace(' ', &GLUE.to_string()));
    }
    let mut wrapped = String::with_capacity(text.len());
    let mut column = indentation;
    for word in glued.split(' ') {
        let width = word.chars().count();
        if column > indentation && column + 1 + width > columns {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indentation));
            column = indentation;
        } else if column > indentation {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += width;
    }
    wrapped.replace(GLUE, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_are_indented() {
        let text = ["word"; 30].join(" ");
        let shown = wrapped(&text, 16);
        let mut lines = shown.lines();
        assert!(lines.next().is_some_and(|first| first.starts_with("word") && first.len() <= COLUMNS - 16));
        assert!(lines.all(|line| line.starts_with("                word") && line.len() <= COLUMNS));
        assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), text);
    }

    #[test]
    fn signs_stay_with_what_they_are_about() {
        for before in 90..COLUMNS {
            let shown = wrapped(&format!("{} > 3F0 | 2F1 # 4F1 12.50 % above", "x".repeat(before)), 0);
            assert!(
                shown.lines().all(|line| !line.ends_with(['>', '|', '#']) && !line.starts_with('%')),
                "{shown}"
            );
        }
    }

    #[test]
    fn a_word_that_is_too_long_stays_whole() {
        let long = "x".repeat(2 * COLUMNS);
        assert_eq!(wrapped(&format!("a {long} b"), 0), format!("a\n{long}\nb"));
    }
}
