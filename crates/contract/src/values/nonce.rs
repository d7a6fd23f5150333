//! Puts nonces into values.

use std::ops::Range;

use super::{Source, Value};
use crate::nonce::NONCE_BYTES;

/// The part of a text that a nonce replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchPoint {
    /// Index in [`Value::nonce_texts`].
    pub text: usize,
    /// Byte range in that text, all ASCII.
    pub range: Range<usize>,
}

impl Value {
    /// The texts that can hold a nonce: all except map keys and the email address.
    pub fn nonce_texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Text(text) => vec![text],
            Self::Record(record) => vec![
                &mut record.field1,
                &mut record.field4,
                &mut record.field7,
                &mut record.field9,
                &mut record.field18,
                &mut record.field102,
                &mut record.field103,
                &mut record.field129,
            ],
            Self::Dto(dto) => vec![&mut dto.prop1, &mut dto.prop2, &mut dto.prop3],
            Self::Tree(tree) => {
                let branches = [&mut tree.left, &mut tree.right].into_iter().flatten();
                let names = branches.flat_map(|branch| {
                    let values = branch.tags.iter_mut().map(|tag| &mut tag.value);
                    std::iter::once(&mut branch.name).chain(values)
                });
                std::iter::once(&mut tree.name).chain(names).collect()
            }
        }
    }

    /// Chooses where a nonce goes: the end of a GUID, or anywhere in another text. Replaces wide characters there with letters.
    pub fn add_patch_point(&mut self, source: &mut Source) -> PatchPoint {
        let guids = matches!(self, Self::Dto(_));
        let mut texts = self.nonce_texts();
        let text = source.below(texts.len() as u32) as usize;
        let Some(chosen) = texts.get_mut(text) else { return PatchPoint { text, range: 0..0 } };
        let last = chosen.len().saturating_sub(NONCE_BYTES);
        let at = if guids { last } else { source.below(last as u32 + 1) as usize };
        self.patch_at(text, at, source)
    }

    /// The same at the beginning of the first text, where client programs put the nonce.
    pub fn add_leading_patch_point(&mut self, source: &mut Source) -> PatchPoint {
        self.patch_at(0, 0, source)
    }

    /// Puts `mark` at the beginning of the last text.
    pub fn add_mark(&mut self, mark: [u8; NONCE_BYTES], source: &mut Source) {
        let last = self.nonce_texts().len().saturating_sub(1);
        let place = self.patch_at(last, 0, source);
        self.write_nonce(&place, &String::from_utf8_lossy(&mark));
    }

    fn patch_at(&mut self, text: usize, at: usize, source: &mut Source) -> PatchPoint {
        let mut texts = self.nonce_texts();
        let Some(chosen) = texts.get_mut(text) else { return PatchPoint { text, range: 0..0 } };
        let length = NONCE_BYTES.min(chosen.len());
        let range = at..at + length;
        let (start, end) = (chosen.floor_char_boundary(at), chosen.ceil_char_boundary(range.end));
        if !chosen[start..end].is_ascii() {
            let letters = source.letters(end - start);
            chosen.replace_range(start..end, &letters);
        }
        PatchPoint { text, range }
    }

    /// Replaces the keys of the map with those of another value.
    pub fn take_keys(&mut self, other: &Self) {
        if let (Self::Tree(tree), Self::Tree(other)) = (self, other) {
            let values = std::mem::take(&mut tree.counters).into_values();
            tree.counters = other.counters.keys().cloned().zip(values).collect();
        }
    }

    /// Writes a nonce at a patch point.
    pub fn write_nonce(&mut self, at: &PatchPoint, nonce: &str) {
        if let Some(text) = self.nonce_texts().into_iter().nth(at.text) {
            text.replace_range(at.range.clone(), nonce);
        }
    }
}
