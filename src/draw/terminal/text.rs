//! Text around the timeline, wrapped so that no line is too wide.

/// Something that goes on one line if it fits.
pub(super) struct Piece {
    text: String,
    width: usize,
}

impl Piece {
    /// A text of ours: every character takes one column.
    pub(super) fn own(text: &str) -> Self {
        Self { text: text.to_owned(), width: text.chars().count() }
    }

    /// A text with escapes, and how many columns it takes.
    pub(super) fn sized(text: String, width: usize) -> Self {
        Self { text, width }
    }

    /// A text that comes from a file. Control characters, which could move the cursor, are replaced;
    /// how wide characters beyond ASCII are is for the terminal to say, so they count as two columns.
    pub(super) fn foreign(text: &str) -> Self {
        let text: String =
            text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
        let width = text.chars().map(width_of).sum();
        Self { text, width }
    }
}

fn width_of(letter: char) -> usize {
    if letter.is_ascii() { 1 } else { 2 }
}

/// Lines of pieces. A piece wider than a line is broken at its spaces, and where that does not help,
/// anywhere.
pub(super) fn wrap(pieces: impl IntoIterator<Item = Piece>, between: &str, width: usize) -> Vec<String> {
    let mut lines = vec![(String::new(), 0)];
    let mut add = |piece: Piece, between: &str| {
        let (line, used) = lines.last_mut().expect("there is always a line");
        if *used > 0 && *used + between.len() + piece.width > width {
            lines.push((piece.text, piece.width));
            return;
        }
        if *used > 0 {
            line.push_str(between);
            *used += between.len();
        }
        line.push_str(&piece.text);
        *used += piece.width;
    };
    for piece in pieces {
        if piece.width <= width {
            add(piece, between);
            continue;
        }
        for word in piece.text.split(' ') {
            let mut part = String::new();
            let mut used = 0;
            for letter in word.chars() {
                if used + width_of(letter) > width {
                    add(Piece { text: std::mem::take(&mut part), width: used }, " ");
                    used = 0;
                }
                part.push(letter);
                used += width_of(letter);
            }
            add(Piece { text: part, width: used }, " ");
        }
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_too_wide_and_no_character_is_lost() {
        let long = "x".repeat(95);
        let pieces = ["one two", "three", &long, "four 四四四四四四四四 five", "six\u{1b}[2J"];
        for width in [10, 13, 40, 200] {
            let lines = wrap(pieces.map(Piece::foreign), " ", width);
            for line in &lines {
                assert!(line.chars().map(width_of).sum::<usize>() <= width, "{width}: {line}");
            }
            let kept: String = lines.concat().split(' ').collect();
            let whole: String = pieces.concat().replace(' ', "").replace('\u{1b}', "\u{fffd}");
            assert_eq!(kept, whole);
        }
    }
}
