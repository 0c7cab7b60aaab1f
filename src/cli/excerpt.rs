//! The text of a file, for error reports that show the place.
//!
//! Schedules may come as one line of a hundred megabytes. If a line does not fit a screen, only
//! the neighbourhood of the place is shown.

use std::ops::Range;

use super::file_name::FileName;
use crate::text::is_control;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// A file with its name.
#[derive(Debug)]
pub struct Excerpt {
    name: FileName,
    text: String,
}

impl Excerpt {
    /// The most bytes of whole lines that are shown around a place.
    const SHOWN: usize = 1_000;
    /// How many bytes of a line too long to show are shown on either side of a place.
    const BESIDE: usize = 40;

    /// The text of the file of this name.
    ///
    /// Every control character in it becomes a visible one with as many bytes, so that places stay what they are.
    pub fn new(name: FileName, text: &str) -> Self {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text.chars().peekable();
        while let Some(letter) = rest.next() {
            let ends_line = letter == '\n' || (letter == '\r' && rest.peek() == Some(&'\n'));
            shown.push(match letter.len_utf8() {
                _ if ends_line || letter == '\t' || !is_control(letter) => letter,
                1 => '?',
                2 => '\u{bf}',
                _ => '\u{fffd}',
            });
        }
        Self { name, text: shown }
    }

    /// The name of the file.
    pub const fn name(&self) -> &FileName {
        &self.name
    }

    /// The line and the column of a byte, both from 0.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..self.boundary(at)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count(), before[line_start..].chars().count())
    }

    /// The part of a span that lies in the text, and ends on its first line where it is too long.
    pub fn clamp(&self, span: &Range<usize>) -> Range<usize> {
        let (start, end) = (self.boundary(span.start), self.boundary(span.end));
        let end = end.max(start);
        if end - start <= Self::SHOWN {
            return start..end;
        }
        let line_end = self.text[start..end].find('\n').map_or(end, |newline| start + newline);
        start..line_end.min(self.boundary(start + Self::BESIDE))
    }

    /// The last start of a character at or before a byte.
    fn boundary(&self, at: usize) -> usize {
        let at = at.min(self.text.len());
        (0..=at).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0)
    }

    /// The line of a span, cut to what lies beside it.
    fn neighbourhood(&self, span: &SourceSpan) -> Range<usize> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = self.text[end..].find('\n').map_or(self.text.len(), |newline| end + newline);
        // A carriage return without its line feed would make miette count the line as an earlier one.
        let line_end = if self.text[end..line_end].ends_with('\r') { line_end - 1 } else { line_end };
        line_start.max(self.boundary(start.saturating_sub(Self::BESIDE)))
            ..line_end.min(self.boundary(end + Self::BESIDE))
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let whole = self.text.read_span(span, lines_before, lines_after)?;
        let contents = if whole.data().len() <= Self::SHOWN {
            MietteSpanContents::new_named(
                self.name.to_string(),
                whole.data(),
                *whole.span(),
                whole.line(),
                whole.column(),
                whole.line_count(),
            )
        } else {
            let shown = self.neighbourhood(span);
            let (line, column) = self.place(shown.start);
            let data = &self.text.as_bytes()[shown.clone()];
            MietteSpanContents::new_named(self.name.to_string(), data, shown.into(), line, column, 1)
        };
        Ok(Box::new(contents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_not_bytes() {
        let excerpt = Excerpt::new(FileName::called("file"), "é\nßx");
        for (at, place) in [(0, (0, 0)), (1, (0, 0)), (2, (0, 1)), (3, (1, 0)), (5, (1, 1)), (99, (1, 2))] {
            assert_eq!(excerpt.place(at), place, "byte {at}");
        }
    }

    #[test]
    fn a_line_too_long_to_show_is_cut_around_the_place() {
        let text = format!("first\n{}here{}\nlast", "é".repeat(5_000), "ü".repeat(5_000));
        let start = text.find("here").expect("it is there");
        let excerpt = Excerpt::new(FileName::called("file"), &text);
        let contents = excerpt.read_span(&(start..start + 4).into(), 1, 1).expect("a span of the text");
        let shown = std::str::from_utf8(contents.data()).expect("cut between characters");
        assert_eq!(shown, format!("{}here{}", "é".repeat(20), "ü".repeat(20)));
        assert_eq!((contents.line(), contents.column()), (1, 4_980));
    }

    #[test]
    fn what_is_shown_of_a_long_line_ends_before_its_line_end() {
        for end in ["\n", "\r\n"] {
            let text = format!("here{}{end}next", "-".repeat(2_000));
            let excerpt = Excerpt::new(FileName::called("file"), &text);
            let contents = excerpt.read_span(&(0..2_004).into(), 1, 1).expect("a span of the text");
            assert_eq!(contents.data(), &text.as_bytes()[..2_004], "{end:?}");
        }
    }

    #[test]
    fn a_span_outside_the_text_is_moved_into_it() {
        let excerpt = Excerpt::new(FileName::called("file"), "abc");
        assert_eq!(excerpt.clamp(&(2..9)), 2..3);
        assert_eq!(excerpt.clamp(&(7..9)), 3..3);
    }
}
